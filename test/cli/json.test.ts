import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Command } from 'commander'
import { programOf } from '../../src/cli/all-commands.ts'
import type { ProgramEnvironment } from '../../src/cli/environment.ts'
import { exitCodeMeanings } from '../../src/cli/exit-codes.ts'
import { remove, temporaryDir } from '../support/instance/binary.ts'
import { command, emptyDirectory } from '../support/instance/command.ts'

/** Commands that print no data, or data in its own format. */
const without: Readonly<Record<string, string>> = {
  serve: 'a server',
  dev: 'a server',
  mcp: 'a server: it speaks JSON-RPC',
  healthcheck: 'prints the JSON of /health',
  openapi: 'prints JSON',
  export: 'prints CSV or NDJSON',
  chart: 'draws; history prints the same prices as JSON',
  promote: 'prints its progress',
  login: 'prints a confirmation',
  'servers use': 'prints a confirmation',
  'servers remove': 'prints a confirmation',
  completion: 'prints a script for a shell',
  manual: 'prints a page for man',
}

function commandsOf(parent: Command, path: readonly string[] = []): [string, Command][] {
  return parent.commands.flatMap(child => {
    const name = [...path, child.name()]
    const isGroup = child.commands.length > 0
    const runs = !isGroup || child.name() === 'backup'
    return [
      ...(runs ? [[name.join(' '), child] as [string, Command]] : []),
      ...commandsOf(child, name),
    ]
  })
}

const env = { out() {}, err() {}, env: {}, cwd: '/' } as unknown as ProgramEnvironment
const commands = commandsOf(programOf(env, new Map() as never))

describe('the table of commands', () => {
  test.each(commands)('%s prints JSON on request, or has no data to print', (name, each) => {
    const takesJson = each.options.some(option => option.long === '--json')
    expect({ name, takesJson }).toEqual({ name, takesJson: !(name in without) })
  })

  test('every command that prints no JSON exists', () => {
    const names = commands.map(([name]) => name)
    expect(Object.keys(without).filter(name => !names.includes(name))).toEqual([])
  })

  test('the help gives every exit code a distinct meaning', () => {
    expect(exitCodeMeanings.map(([code]) => code)).toEqual([0, 1, 2, 3, 75])
    expect(new Set(exitCodeMeanings.map(([, meaning]) => meaning)).size).toBe(5)
  })
})

describe('JSON of commands about databases', () => {
  const root = temporaryDir()
  afterAll(() => remove(root))
  const data = emptyDirectory(join(root, 'data'))
  const file = join(root, 'backup.db')
  const json = async (...words: string[]) => {
    const { code, out } = await command(...words, '--data', data, '--json')
    expect(code).toBe(0)
    return JSON.parse(out) as Record<string, unknown>
  }

  test('verify, backup, migrate and restore print what they did', async () => {
    expect(await json('verify')).toEqual({
      path: join(data, 'wellhead.db'),
      valid: true,
      faults: [],
    })
    expect(await json('backup', file)).toEqual({ file, checksum: `${file}.sha256`, valid: true })
    const tried = await json('migrate')
    expect(tried.from).toBe(tried.to as number)
    expect(await json('restore', file)).toMatchObject({
      path: join(data, 'wellhead.db'),
      source: file,
    })
  })

  test('a range of days is quarantined and lifted', async () => {
    const added = await json('quarantine', 'add', 'WTI_USD', '2026-11-02', '--reason', 'test')
    expect(added).toMatchObject({ code: 'WTI_USD', from: '2026-11-02', to: '2026-11-02' })
    expect(await json('quarantine', 'remove', String(added.id))).toEqual(added)
  })

  test('a test e-mail that was not sent is reported as JSON', async () => {
    const { code, out } = await command('mail', 'test', 'a@example.com', '--data', data, '--json')
    expect({ code, accepted: JSON.parse(out).accepted }).toEqual({ code: 1, accepted: false })
  })
})
