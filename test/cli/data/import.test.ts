import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { type ImportOptions, runImport } from '../../../src/cli/data/import.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { isoInstant } from '../../../src/lib/time/instant.ts'
import type { PointWriter as AnyWriter } from '../../../src/topics/prices/files/import.ts'
import { memory, noInput } from '../../support/instance/memory-writer.ts'
import { catalogue } from '../../support/topics/shipped-codes.ts'

/** These writers compare nothing. */
type PointWriter = Omit<AnyWriter, 'compare'>

const folder = mkdtempSync(join(tmpdir(), 'wellhead-cli-import-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let names = 0
function file(content: string): string {
  names += 1
  const path = join(folder, `${names}.csv`)
  writeFileSync(path, content)
  return path
}

async function run(
  files: string[],
  options: ImportOptions = {},
  writer: PointWriter = memory(),
  terminal?: NodeJS.WritableStream,
) {
  const out: string[] = []
  const err: string[] = []
  const clock = createManualClock(Date.UTC(2026, 10, 21))
  const timed: PointWriter = {
    batchMax: writer.batchMax,
    write(points) {
      clock.advance(2000)
      return writer.write(points)
    },
  }
  const code = await runImport(files, options, {
    clock,
    catalogue,
    writer: timed,
    terminal,
    stdin: noInput(),
    out: line => out.push(line),
    err: line => err.push(line),
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

const good =
  'code,observed_at,price\nWTI_USD,2024-03-28,83.17\nBRENT,2024-03-28,87.48\nBRENT,2024-03-29,.\n'
const mixed = `${good}WTI_UDS,2024-03-28,1\n`

describe('runImport: exit code', () => {
  test('0 when everything went in, with the counts on standard output', async () => {
    const path = file(good)
    const { code, out, err } = await run([path])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(
      `${path}: read 3, inserted 2, revised 0, unchanged 0, blank 1, rejected 0\n2.00 s, 2 rows/s`,
    )
  })

  test('2 when rows were rejected, with the first reasons and where the rest is', async () => {
    const path = file(mixed)
    const { code, out, err } = await run([path])
    expect(code).toBe(2)
    expect(out).toContain('inserted 2, revised 0, unchanged 0, blank 1, rejected 1')
    expect(err).toBe(
      `${path}:5: code WTI_UDS is not in the catalogue: did you mean WTI_USD?\n${path}: 1 rejected, with their reasons in ${path}.rejected; correct that file and import it`,
    )
  })

  const refused: [string, string[], ImportOptions, string][] = [
    ['no file', [], {}, 'import: name at least one file, or - for standard input'],
    ['a missing file', [join(folder, 'none.csv')], {}, 'none.csv does not exist'],
    [
      'a mapping that is none',
      [file(good)],
      { map: 'price' },
      'import: --map price is not FIELD=COLUMN',
    ],
    [
      'a column that is not there',
      [file(good)],
      { map: 'price=Close' },
      'Close is not a column of the file. The columns are: code, observed_at, price.',
    ],
    [
      'a series that is none',
      [file(good)],
      { series: 'WTI_UDS' },
      'import: --series must be a code of the catalogue; got "WTI_UDS". Did you mean WTI_USD?',
    ],
  ]
  test.each(refused)('1 for %s, and nothing is written', async (_, files, options, message) => {
    const store = memory()
    const { code, out, err } = await run(files, options, store)
    expect({ code, out, batches: store.batches }).toEqual({ code: 1, out: '', batches: [] })
    expect(err).toContain(message)
  })

  test('an interrupted import exits with 1 and reports how many points were written', async () => {
    const store = memory(1)
    let calls = 0
    const failing: PointWriter = {
      batchMax: 1,
      write(points) {
        calls += 1
        if (calls === 2) throw new Error('the server is gone')
        return store.write(points)
      },
    }
    const { code, err } = await run([file(good)], {}, failing)
    expect(code).toBe(1)
    expect(err).toBe(
      'import: the server is gone\nimport: at least 1 points were written before that; import the same files again to complete the rest',
    )
  })
})

test('an import dry run reports what would be written and writes nothing', async () => {
  const store = memory()
  const path = file(mixed)
  const { code, out, err } = await run([path], { dryRun: true }, store)
  expect({ code, batches: store.batches, existsSync: existsSync(`${path}.rejected`) }).toEqual({
    code: 2,
    batches: [],
    existsSync: false,
  })
  expect(out).toContain('read 4, would be written 2, blank 1, rejected 1')
  expect(out).toEndWith('dry run: nothing was written')
  expect(err).toBe(`${path}:5: code WTI_UDS is not in the catalogue: did you mean WTI_USD?`)
})

test('a scale is a number above 0, as it was written', async () => {
  const path = file('date,value\n2004-04-09,11677\n')
  const store = memory()
  expect(await run([path], { series: 'CUSHING_STORAGE', scale: '0.001' }, store)).toMatchObject({
    code: 0,
    err: '',
  })
  expect([...store.values.values()]).toEqual([11.677])
  for (const scale of ['0', '', 'x', '-1']) {
    const { code, err } = await run([path], { series: 'CUSHING_STORAGE', scale }, store)
    expect({ code, err }, scale).toEqual({
      code: 1,
      err: expect.stringContaining('--scale must be a number above 0, such as 0.001; got '),
    })
  }
})

test('an import of several files reports each file and the total', async () => {
  const { out, err } = await run(
    [
      file('date,price\n2024-03-28,5\n2024-03-29,.\n'),
      file('date,price\n2024-03-28,1\n2024-03-28,2\n'),
    ],
    {
      series: 'WTI_USD',
    },
  )
  expect(out.split('\n').slice(1, 3)).toEqual([
    expect.stringMatching(
      /: read 2, inserted 0, revised 1, unchanged 0, superseded 1, blank 0, rejected 0$/,
    ),
    'total: read 4, inserted 1, revised 1, unchanged 0, superseded 1, blank 1, rejected 0',
  ])
  expect(err).toEndWith('a later line has a different value for the same time and replaces line 2')
})

test('an import of European numbers and days names the options that read them', async () => {
  const rows = 'WTI_USD;2026-11-17;70,10\nWTI_USD;18.11.2026;70.90\n'
  const { err } = await run([file(`code;observed_at;price\n${rows}`)])
  expect(err).toContain(': if the comma is the decimal mark, add --decimal-comma\n')
  expect(err).toEndWith(
    ': if the days have one other format, name it, such as --date-format DD.MM.YYYY',
  )
})

test('an import of European times names their format and zone', async () => {
  const { err } = await run([file('code;observed_at;price\nWTI_USD;18.11.2026 06:00;70.90\n')])
  expect(err).toEndWith(
    ': if the times have one other format, name it with their zone, such as --date-format "DD.MM.YYYY HH:mm" --zone Europe/Berlin',
  )
})

test('a row with a European day and number names both options at once', async () => {
  const { err } = await run([file('code;observed_at;price\nWTI_USD;18.11.2026;70,90\n')])
  expect(err).toContain('add --decimal-comma\n')
  expect(err).toContain('such as --date-format DD.MM.YYYY')
})

test('an import that rejects rows for other reasons names no options', async () => {
  const rows = 'WTI_USD,2026-13-01,70\nWTI_USD,2026-11-17,"1,234.5"\n'
  const { err } = await run([file(`code,observed_at,price\n${rows}`)])
  expect(err).not.toContain('--')
})

test('an import lists all lines that later lines of the file replace', async () => {
  const rows = 'WTI_USD,2024-03-28,1\nWTI_USD,2024-03-28,2\nWTI_USD,2024-03-28,3\n'
  const { err } = await run([file(`code,observed_at,price\n${rows}`)])
  expect(err).toEndWith('and replaces lines 2, 3')
})

describe('runImport: progress', () => {
  const long = `code,observed_at,price\n${Array.from({ length: 60_000 }, (_, i) => `WTI_USD,${isoInstant(i * 3_600_000)},70`).join('\n')}\n`

  test('without a terminal is a line every five seconds', async () => {
    const path = file(long)
    const { err } = await run([path], {}, memory(5000))
    const lines = err.split('\n')
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) expect(line).toMatch(/^importing .*\.csv: \d+%, \d+ rows$/)
  })

  test('on a terminal is a bar that is gone at the end, and Ctrl-C still ends the process', async () => {
    let drawn = ''
    const write = (chunk: Buffer, _: string, done: () => void) => {
      drawn += chunk.toString()
      done()
    }
    const terminal = Object.assign(new Writable({ write }), { isTTY: true, columns: 120 })
    const before = process.listenerCount('SIGINT')
    let during = 0
    const store = memory(10_000)
    const watching: PointWriter = {
      batchMax: store.batchMax,
      write(points) {
        during = Math.max(during, process.listenerCount('SIGINT'))
        return store.write(points)
      },
    }
    const { code, err } = await run([file(long)], {}, watching, terminal)
    expect({ code, err, during }).toEqual({ code: 0, err: '', during: before })
    expect(drawn).toContain('checking')
    expect(drawn).toContain('importing')
    expect(drawn).toContain('%')
  })
})
