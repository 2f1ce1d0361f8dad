import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { programOf } from '../../src/cli/all-commands.ts'
import { exitCodeMeanings, exitCodes } from '../../src/cli/exit-codes.ts'
import { manualPage } from '../../src/cli/manual/man.ts'
import { commandTable } from '../../src/cli/manual/table.ts'
import { pages, wholeText } from '../support/docs.ts'
import { remove, temporaryDir } from '../support/instance/binary.ts'
import { command, emptyDirectory } from '../support/instance/command.ts'

const page = (path: string) => readFileSync(resolve(import.meta.dir, '../../docs', path), 'utf8')

describe('the exit codes', () => {
  test('are one table, with a meaning for each code that commands end with', () => {
    expect(exitCodeMeanings.map(([code]) => code)).toEqual(Object.values(exitCodes))
  })
  test('are documented with the words of the table, and the pages about imports link to it', () => {
    const commands = pages.find(({ name }) => name === 'commands')!
    for (const [code, meaning] of exitCodeMeanings)
      expect(wholeText(commands)).toContain(`| ${code} | ${meaning} |\n`)
    expect(page('reference/commands.md')).toContain('\n## Exit codes\n')
    for (const path of ['how-to/own-prices.md', 'how-to/feeds.md', 'how-to/cron.md'])
      expect(page(path)).toContain('reference/commands.md#exit-codes)')
  })
  test('are in the help of the program and in its manual, with its files and variables', async () => {
    const { out } = await command('--help')
    const env = { env: {}, directory: '/', out() {}, err() {}, write() {}, onStop() {} }
    const program = programOf(
      {
        ...env,
        stdin: new ReadableStream<Uint8Array>(),
        terminal: undefined,
        exit: code => process.exit(code),
      },
      { set() {} },
    )
    const manual = manualPage(
      { name: 'wellhead', description: 'Prices', version: '1.2.3' },
      commandTable(program),
    ).replaceAll('\\-', '-')
    for (const [code, meaning] of exitCodeMeanings) {
      expect(out).toMatch(new RegExp(`^ +${code} +`, 'm'))
      expect(out).toContain(meaning)
      expect(manual).toContain(`\\fB${code}\\fR\n${meaning}`)
    }
    for (const part of [
      '.SH EXIT STATUS',
      '.SH FILES',
      '.SH ENVIRONMENT',
      'WELLHEAD_DATA_DIR',
      '/etc/wellhead/wellhead.toml',
    ])
      expect(manual).toContain(part)
  })
})

test('an import of which a value is held for review ends with 2, also as JSON', async () => {
  const dir = emptyDirectory(temporaryDir())
  const file = join(dir, 'wti.csv')
  const write = (rows: readonly (readonly [day: number, price: number])[]) => {
    const lines = rows.map(([day, price]) => {
      const at = new Date(Date.UTC(2026, 0, day)).toISOString()
      return `WTI_USD,${at},${price}`
    })
    writeFileSync(file, `code,observed_at,price\n${lines.join('\n')}\n`)
  }
  const days = Array.from({ length: 100 }, (_, i) => i + 1)
  write(days.map(day => [day, 70 + (day % 7) / 10]))
  expect((await command('import', file, '--data', dir)).code).toBe(0)
  write([[101, 780]])
  const held = await command('import', file, '--data', dir, '--json')
  expect({ code: held.code, out: JSON.parse(held.out) }).toEqual({
    code: 2,
    out: expect.objectContaining({ exit_code: 2, held: 1, rejected: 0 }),
  })
  write([[101, 70.2]])
  expect((await command('import', file, '--data', dir)).code).toBe(0)
  remove(dir)
})
