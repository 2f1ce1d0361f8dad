import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProgramEnvironment } from '../../../src/cli/environment.ts'
import { run } from '../../../src/cli/program.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

/** Runs a command line in an empty directory; `text` is what went to standard output as it is. */
async function ran(...argv: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'wellhead-test-'))
  const written: string[] = []
  const faults: string[] = []
  const env: ProgramEnvironment = {
    env: {},
    directory,
    out: line => void written.push(`${line}\n`),
    err: line => void faults.push(line),
    write: text => void written.push(text),
    stdin: new ReadableStream() as never,
    terminal: undefined,
    onStop: () => {},
    exit: code => {
      throw new Error(`exit ${code}`)
    },
  }
  try {
    const code = await run(
      argv.map(word => word.replace('{dir}', directory)),
      env,
    )
    const files = readdirSync(directory)
    const file = join(directory, 'api.json')
    return {
      code,
      text: written.join(''),
      faults,
      files,
      file: existsSync(file) ? readFileSync(file, 'utf8') : undefined,
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const answered = async (flags: Record<string, string> = {}) =>
  (await openTestInstance(flags).get('/openapi.json')).text()

test('openapi prints the bytes that a server answers, and makes no data directory', async () => {
  const { code, text, files, faults } = await ran('openapi')
  expect(text).toBe(await answered())
  expect(JSON.parse(text)).toMatchObject({ openapi: '3.0.3', info: { title: 'Wellhead' } })
  expect({ code, files, faults }).toEqual({ code: 0, files: [], faults: [] })
})

test('openapi --out writes the OpenAPI document to the file and replaces its content', async () => {
  const { code, text, files, file } = await ran('openapi', '--out', '{dir}/api.json')
  expect({ code, text, files }).toEqual({ code: 0, text: '', files: ['api.json'] })
  expect(file).toBe(await answered())
  const lost = await ran('openapi', '--out', '{dir}/nowhere/api.json')
  expect({ code: lost.code, length: lost.faults.length }).toEqual({ code: 1, length: 1 })
})

test("the names of the configuration are in it, and the providers' credentials are not asked for", async () => {
  const directory = mkdtempSync(join(tmpdir(), 'wellhead-test-'))
  try {
    const file = join(directory, 'brand.toml')
    await Bun.write(
      file,
      '[brand]\nservice_name = "Pipeline"\nheader_prefix = "X-Pipe-"\nexchange_words = ["venue"]\n[mail]\nprovider = "resend"\n[billing]\nprovider = "stripe"\n',
    )
    const { code, text } = await ran('openapi', '--config', file)
    expect(code).toBe(0)
    const flags = {
      'brand.service_name': 'Pipeline',
      'brand.header_prefix': 'X-Pipe-',
      'brand.exchange_words': 'venue',
    }
    expect(text).toBe(await answered(flags))
    expect(text).not.toMatch(/X-Service-|Wellhead serves/)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test('a configuration that is refused is named, and nothing is printed', async () => {
  const { code, text, faults } = await ran('openapi', '--config', '{dir}/missing.toml')
  expect({ code, text }).toEqual({ code: 1, text: '' })
  expect(faults.join('\n')).toContain('missing.toml')
})
