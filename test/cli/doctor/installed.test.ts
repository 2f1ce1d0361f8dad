import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../../src/cli/program.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { emptyDirectory } from '../../support/instance/command.ts'

async function* noInput() {}

test('doctor examines the directory of the package where its configuration is refused', async () => {
  const root = temporaryDir()
  try {
    const dataDirectory = emptyDirectory(join(root, 'installed-data'))
    const configFile = join(root, 'wellhead.toml')
    writeFileSync(configFile, '[sms]\ntwilio_sid = "AC1"\n')
    const lines: string[] = []
    const code = await run(['doctor', '--offline'], {
      env: {},
      directory: root,
      installed: { dataDirectory, configFile },
      stdin: noInput(),
      terminal: undefined,
      out: line => void lines.push(line),
      err: line => void lines.push(line),
      write: text => void lines.push(text),
      onStop: () => undefined,
      exit: status => process.exit(status),
    })
    expect(code).toBe(1)
    expect(lines.join('\n')).toContain('unknown key sms.twilio_sid')
    expect(lines.join('\n')).toContain(dataDirectory)
    expect(lines.join('\n')).not.toContain('wellhead-data')
  } finally {
    remove(root)
  }
})
