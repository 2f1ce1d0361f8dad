import { afterAll, describe, expect, test } from 'bun:test'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { valueBounds } from '../../../../src/topics/catalogue/math/terms.ts'
import {
  type ExportFormat,
  exportText,
  formatOf,
  writeText,
} from '../../../../src/topics/prices/files/export.ts'
import { importPrices, type PointWriter } from '../../../../src/topics/prices/files/import.ts'
import type { ExportedRow } from '../../../../src/topics/prices/store/export.ts'
import { runs } from '../../../support/full.ts'
import { noInput } from '../../../support/instance/memory-writer.ts'
import { catalogue, codeOf, series } from '../../../support/topics/shipped-codes.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-export-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const now = Date.UTC(2026, 10, 21)

const inOrder = (a: ExportedRow, b: ExportedRow) =>
  a.code === b.code ? a.observedAt - b.observedAt : a.code < b.code ? -1 : 1

function* pagesOf(rows: readonly ExportedRow[], size: number): Generator<ExportedRow[]> {
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size)
}

async function textOf(
  rows: readonly ExportedRow[],
  format: ExportFormat,
  size = 3,
): Promise<string> {
  let text = ''
  for await (const part of exportText(pagesOf(rows, size), format)) text += part
  return text
}

const sample: ExportedRow[] = [
  { code: 'BRENT_CRUDE_USD', observedAt: Date.UTC(2024, 2, 28), value: 87.48, currency: 'USD' },
  {
    code: 'BRENT_CRUDE_USD',
    observedAt: Date.UTC(2024, 2, 28, 14, 30, 0, 250),
    value: 0.1 + 0.2,
    currency: 'USD',
  },
  { code: 'US_JET_STORAGE', observedAt: Date.UTC(2024, 2, 29), value: 43, currency: null },
]

test('an export is written in one way', async () => {
  expect(await textOf(sample, 'csv')).toBe(
    'code,observed_at,price,currency\nBRENT_CRUDE_USD,2024-03-28T00:00:00Z,87.48,USD\n' +
      'BRENT_CRUDE_USD,2024-03-28T14:30:00.250Z,0.30000000000000004,USD\nUS_JET_STORAGE,2024-03-29T00:00:00Z,43,\n',
  )
  expect(await textOf(sample.slice(1), 'ndjson')).toBe(
    '{"code":"BRENT_CRUDE_USD","observed_at":"2024-03-28T14:30:00.250Z","price":0.30000000000000004,"currency":"USD"}\n' +
      '{"code":"US_JET_STORAGE","observed_at":"2024-03-29T00:00:00Z","price":43,"currency":null}\n',
  )
  expect(await textOf([], 'csv')).toBe('code,observed_at,price,currency\n')
})

test('the file name determines the export format', () => {
  const cases = {
    'a.csv': 'csv',
    'a.csv.gz': 'csv',
    'a.ndjson': 'ndjson',
    'A.NDJSON.GZ': 'ndjson',
    'a.jsonl': 'ndjson',
    '-': 'csv',
  }
  for (const [path, format] of Object.entries(cases))
    expect(formatOf(path)).toBe(format as ExportFormat)
})

describe('law', () => {
  /** Exports what it was given, as a database would: sorted, each point once. */
  function copy(): PointWriter & { rows(): ExportedRow[] } {
    const kept = new Map<string, ExportedRow>()
    return {
      batchMax: 7,
      write(points) {
        for (const { seriesId, observedAt, value } of points) {
          const code = codeOf(seriesId)
          kept.set(`${code} ${observedAt}`, {
            code,
            observedAt,
            value,
            currency: catalogue.find(code)!.currency,
          })
        }
        return { inserted: points.length, revised: 0, unchanged: 0 }
      },
      rows: () => [...kept.values()].sort(inOrder),
    }
  }

  const row = fc.constantFrom(...series).chain(chosen => {
    const { min, max } = valueBounds(chosen.category, chosen.level)
    const value = fc.oneof(
      fc.double({ min, max, noNaN: true }).map(x => x + 0),
      fc.integer({ min: Math.ceil(min), max: Math.floor(max) }),
      fc.constantFrom(0, 5e-324, 1e-7, max),
    )
    const observedAt = fc.oneof(
      fc.integer({ min: Date.UTC(1900, 0, 1), max: now }),
      fc.integer({ min: -25_000, max: 20_000 }).map(n => n * 86_400_000),
    )
    return fc.record({
      code: fc.constant(chosen.code),
      observedAt,
      value,
      currency: fc.constant(chosen.currency),
    })
  })
  const data = fc
    .uniqueArray(row, {
      maxLength: 40,
      selector: observation => `${observation.code} ${observation.observedAt}`,
    })
    .map(rows => rows.sort(inOrder))

  // The same text may be packed in other pieces.
  const plain = (bytes: Buffer) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes)
  test.each(['x.csv', 'x.ndjson', 'x.csv.gz'])(
    'exporting, importing into an empty instance and exporting again produces the same unpacked bytes: %s',
    async name => {
      const path = join(folder, name)
      await fc.assert(
        fc.asyncProperty(data, fc.integer({ min: 1, max: 9 }), async (rows, size) => {
          fc.pre(rows.length > 0 || formatOf(name) === 'csv')
          await writeText(path, exportText(pagesOf(rows, size), formatOf(name)))
          const first = readFileSync(path)
          const store = copy()
          const report = await importPrices({
            files: [path],
            catalogue,
            now,
            writer: store,
            stdin: noInput(),
          })
          expect(report).toMatchObject({ inserted: rows.length, rejected: 0, blank: 0 })
          await writeText(path, exportText(pagesOf(store.rows(), 4), formatOf(name)))
          expect(plain(readFileSync(path)).equals(plain(first))).toBe(true)
        }),
        { numRuns: runs(40) },
      )
    },
  )
})

describe('a file', () => {
  test('whose name ends in .gz is packed', async () => {
    const path = join(folder, 'packed.csv.gz')
    await writeText(path, exportText(pagesOf(sample, 1), 'csv'))
    expect(gunzipSync(readFileSync(path)).toString()).toBe(await textOf(sample, 'csv'))
  })

  test('an export to a pipe goes through it, and no file takes its place', async () => {
    const path = join(folder, 'pipe')
    expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0)
    const reader = Bun.spawn(['cat', path], { stdout: 'pipe' })
    try {
      await writeText(path, exportText(pagesOf(sample, 1), 'csv'))
      expect(lstatSync(path).isFIFO()).toBe(true)
      expect(await new Response(reader.stdout).text()).toBe(await textOf(sample, 'csv'))
    } finally {
      reader.kill()
    }
  })

  test('an export that cannot be completed leaves the existing file unchanged', async () => {
    const own = mkdtempSync(join(folder, 'own-'))
    const path = join(own, 'a.csv')
    writeFileSync(path, 'before')
    const breaking = (function* () {
      yield sample
      throw new Error('the database is gone')
    })()
    await expect(writeText(path, exportText(breaking, 'csv'))).rejects.toThrow(
      'the database is gone',
    )
    expect([readFileSync(path, 'utf8'), readdirSync(own)]).toEqual(['before', ['a.csv']])
  })

  test('is never written out of order, or with a point twice', async () => {
    const wrong = [
      [sample[2]!, sample[0]!],
      [sample[1]!, sample[0]!],
      [sample[0]!, sample[0]!],
    ]
    for (const rows of wrong)
      await expect(textOf(rows, 'csv')).rejects.toThrow(
        'rows must be in the order of code and time',
      )
    // Across pages, too.
    await expect(textOf(wrong[1]!, 'csv', 1)).rejects.toThrow('in the order')
  })
})

test('an export of any length is streamed and reads each page only after the previous page is consumed', async () => {
  let asked = 0
  function* endless(): Generator<ExportedRow[]> {
    for (;;) {
      asked += 1
      yield [{ code: 'WTI_USD', observedAt: asked * 1000, value: asked, currency: 'USD' }]
    }
  }
  const text = exportText(endless(), 'csv')
  for (let i = 0; i < 4; i += 1) await text.next()
  expect(asked).toBe(3)
})
