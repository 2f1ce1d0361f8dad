import { afterAll, describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Progress } from '../../../../src/feeds/files/import.ts'
import { mappingOf } from '../../../../src/feeds/files/mapping.ts'
import { isoInstant } from '../../../../src/lib/time/instant.ts'
import { priceFields } from '../../../../src/topics/prices/files/columns.ts'
import {
  importPrices,
  type PointWriter,
  type PriceImport,
} from '../../../../src/topics/prices/files/import.ts'
import { runs } from '../../../support/full.ts'
import { memory, noInput } from '../../../support/instance/memory-writer.ts'
import { needs } from '../../../support/needs.ts'
import { realDataFolder } from '../../../support/requirements.ts'
import { catalogue } from '../../../support/topics/shipped-codes.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-import-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const now = Date.UTC(2026, 10, 21)
let names = 0
function file(content: string | Uint8Array, name = 'prices.csv'): string {
  names += 1
  const path = join(folder, `${names}-${name}`)
  writeFileSync(path, content)
  return path
}

const run = (path: string | string[], writer: PointWriter, more: Partial<PriceImport> = {}) =>
  importPrices({ files: [path].flat(), writer, catalogue, now, stdin: noInput(), ...more })

const counts = (report: Awaited<ReturnType<typeof run>>) => {
  const { read, inserted, revised, unchanged, superseded, blank, rejected } = report
  expect(inserted + revised + unchanged + superseded + blank + rejected).toBe(read)
  return { read, inserted, revised, unchanged, superseded, blank, rejected }
}
const none = {
  read: 0,
  inserted: 0,
  revised: 0,
  unchanged: 0,
  superseded: 0,
  blank: 0,
  rejected: 0,
}

const day = (n: number) => isoInstant(Date.UTC(2024, 0, 1) + n * 86_400_000)
const rowsOf = (n: number, value = (i: number) => 50 + (i % 40) / 4) =>
  Array.from({ length: n }, (_, i) => `WTI_USD,${day(-i)},${value(i)}`)
const head = 'code,observed_at,price\n'

describe('an import', () => {
  test('puts every row in, in batches no larger than the writer takes', async () => {
    const store = memory(100)
    const path = file(head + rowsOf(1050).join('\n'))
    expect(counts(await run(path, store))).toEqual({ ...none, read: 1050, inserted: 1050 })
    expect(store.batches).toEqual([...Array(10).fill(100), 50])
    expect(store.values.get('WTI_USD 2024-01-01T00:00:00.000Z')).toBe(50)
    expect(store.values.size).toBe(1050)
  })

  test('reimporting the same file changes nothing, and importing a corrected file revises only the corrections', async () => {
    const store = memory()
    const path = file(head + rowsOf(500).join('\n'))
    await run(path, store)
    expect(counts(await run(path, store))).toEqual({ ...none, read: 500, unchanged: 500 })
    writeFileSync(path, head + rowsOf(500, i => (i === 7 ? 99 : 50 + (i % 40) / 4)).join('\n'))
    expect(counts(await run(path, store))).toEqual({
      ...none,
      read: 500,
      unchanged: 499,
      revised: 1,
    })
  })

  test('gives the same from a packed file, over chunk borders, as from a plain one', async () => {
    const text = head + rowsOf(30_000).join('\r\n')
    const [plain, packed] = [memory(1000), memory(1000)]
    await run(file(text), plain)
    await run(file(gzipSync(text), 'misnamed.txt'), packed)
    expect(plain.values.size).toBe(30_000)
    expect([...packed.values]).toEqual([...plain.values])
  })

  test('takes values in quotes, and NDJSON', async () => {
    const store = memory()
    await run(file(`"code";"observed_at";"price"\n"WTI_USD";"2024-03-28";"83.17"\n`), store)
    await run(file(`{"code":"BRENT","date":"2024-03-28","value":".5"}\n`), store)
    expect(Object.fromEntries(store.values)).toEqual({
      'WTI_USD 2024-03-28T00:00:00.000Z': 83.17,
      'BRENT_CRUDE_USD 2024-03-28T00:00:00.000Z': 0.5,
    })
  })

  test('of a wide file counts values, not lines', async () => {
    const store = memory()
    const path = file(
      'Date,USD,JPY,CYP,\n2026-04-13,1.1684,186.75,N/A,\n2026-04-10,1.1711,x,N/A,\n2026-04-0,1,2,3,\n',
    )
    const report = await run(path, store, {
      mapping: mappingOf('observed_at=Date,EUR_USD=USD,EUR_JPY=JPY,EUR_CHF=CYP', priceFields),
    })
    expect(counts(report)).toEqual({ ...none, read: 9, inserted: 3, blank: 2, rejected: 4 })
    expect(readFileSync(`${path}.rejected`, 'utf8').split('\n').slice(0, 2)).toEqual([
      'line,reason,Date,USD,JPY,CYP,',
      expect.stringMatching(
        /^3,"EUR_JPY: price x is not a plain number: .*",2026-04-10,1.1711,x,N\/A,$/,
      ),
    ])
    // The time is wrong once, not once for each of the values that lose it.
    expect(report.files[0]!.samples[1]!.reason).toMatch(
      /^observed_at 2026-04-0 is not a time: [^:]*:30:00Z, or a day, such as 2024-03-28$/,
    )
  })

  test('from standard input leaves nothing behind', async () => {
    const spool = mkdtempSync(join(folder, 'spool-'))
    const store = memory()
    const stdin = (async function* () {
      yield Buffer.from(gzipSync(head + rowsOf(300).join('\n')))
    })()
    expect((await run('-', store, { stdin, spoolDirectory: spool })).inserted).toBe(300)
    expect(readdirSync(spool)).toEqual([])
  })

  test('of several files adds up', async () => {
    const store = memory()
    const report = await run(
      [file(head + rowsOf(10).join('\n')), file(head + rowsOf(15).join('\n'))],
      store,
    )
    expect(report.files.map(file => [file.inserted, file.unchanged])).toEqual([
      [10, 0],
      [5, 10],
    ])
    expect(counts(report)).toEqual({ ...none, read: 25, inserted: 15, unchanged: 10 })
  })

  test('an import reports its progress first for checking and then for importing', async () => {
    const progress: Progress[] = []
    const path = file(head + rowsOf(20_000).join('\n'))
    await run(path, memory(1000), { progress: step => progress.push(step) })
    expect(progress.map(progress => progress.stage)).toEqual(
      [...new Set(progress.map(progress => progress.stage))].flatMap(stage =>
        progress.filter(progress => progress.stage === stage).map(() => stage),
      ),
    )
    expect(progress.at(-1)).toEqual({
      file: path,
      stage: 'importing',
      bytes: readFileSync(path).length,
      sizeBytes: readFileSync(path).length,
      read: 20_000,
    })
    expect(progress[0]!.stage).toBe('checking')
  })
})

test('a file is read from the disk once, also where it is compared before it is written', async () => {
  const bytesRead = () => Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))![1])
  const at = (i: number) => isoInstant(((i * 7919) % 100_000) * 3_600_000)
  const rows = Array.from({ length: 100_000 }, (_, i) => `WTI_USD,${at(i)},70.123\n`)
  const path = file(head + rows.join(''))
  const { size } = statSync(path)
  let compared = 0
  const writer: PointWriter = {
    ...memory(10_000),
    compare(points) {
      compared += points.length
      return { inserted: points.length, revised: 0, unchanged: 0 }
    },
  }
  const before = bytesRead()
  const report = await run(path, writer, { refuse: () => {} })
  expect({ inserted: report.inserted, compared }).toEqual({ inserted: 100_000, compared: 100_000 })
  // Its beginning is checked to find out what it is.
  expect(bytesRead() - before).toBeLessThan(1.3 * size)
})

describe('rejected lines', () => {
  const mixed = `${head}WTI_USD,2024-03-28,83.17\nWTI_UDS,2024-03-28,83.17\n\nWTI_USD,2024-03-29T10:00:00,"8,3"\nBRENT,2024-03-28,.\n"BRENT",2024-03-29,87.48\nWTI_USD,2024-04-01,"83\n`

  test('rejected lines are skipped individually and written with line and reason to a file next to the input', async () => {
    const store = memory()
    const path = file(mixed)
    expect(counts(await run(path, store))).toEqual({
      ...none,
      read: 6,
      inserted: 2,
      blank: 1,
      rejected: 3,
    })
    expect(readFileSync(`${path}.rejected`, 'utf8').split('\n')).toEqual([
      'line,reason,code,observed_at,price',
      '3,"code WTI_UDS is not in the catalogue: did you mean WTI_USD?",WTI_UDS,2024-03-28,83.17',
      '5,"observed_at 2024-03-29T10:00:00 has no zone: write 2024-03-29T10:00:00Z if it is UTC, otherwise end it with the offset, such as 2024-03-29T10:00:00+01:00",WTI_USD,2024-03-29T10:00:00,"8,3"',
      '8,"the row has a quote that is not closed, or text after a closing quote: write a quote inside a field twice",WTI_USD,2024-04-01,"83',
      '',
    ])
    expect([...store.values.keys()]).toEqual([
      'WTI_USD 2024-03-28T00:00:00.000Z',
      'BRENT_CRUDE_USD 2024-03-29T00:00:00.000Z',
    ])
  })

  test('can be corrected in that file, and it imported as it is', async () => {
    const path = file('Date;USD\n2024-03-28;83,17\n2024-03-29;84.1\n')
    const store = memory()
    await run(path, store, { series: 'WTI_USD' })
    const rejected = `${path}.rejected`
    writeFileSync(rejected, readFileSync(rejected, 'utf8').replace(';83,17', ';83.17'))
    expect(counts(await run(rejected, store, { series: 'WTI_USD' }))).toEqual({
      ...none,
      read: 1,
      inserted: 1,
    })
    expect(store.values.size).toBe(2)
  })

  test('of a file without names get names', async () => {
    const path = file('WTI_USD,2024-03-28,83.17\nWTI_USD,2024-03-29,x\n')
    await run(path, memory())
    expect(readFileSync(`${path}.rejected`, 'utf8')).toStartWith(
      'line,reason,code,observed_at,price\n2,"price x is',
    )
  })

  test('of NDJSON keep their members', async () => {
    const path = file(
      '{"code":"WTI_USD","date":"2024-03-28","price":1}\n{ "code":"X_Y_Z","date":"2024-03-28","price":1}\n{}\n{oops\n',
      'p.ndjson',
    )
    const report = await run(path, memory())
    expect(report.rejected).toBe(3)
    const lines = readFileSync(`${path}.rejected`, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines[0]).toMatchObject({ line: 2, code: 'X_Y_Z', date: '2024-03-28', price: 1 })
    expect(lines[1]).toEqual({ line: 3, reason: expect.stringContaining('code is missing') })
    expect(lines[2]).toMatchObject({ line: 4, row: '{oops' })
  })

  test('of an earlier import are forgotten when nothing is rejected any more', async () => {
    const path = file(mixed)
    await run(path, memory())
    writeFileSync(path, head + rowsOf(3).join('\n'))
    const report = await run(path, memory())
    expect(existsSync(`${path}.rejected`)).toBe(false)
    expect(report.files[0]!.rejectedPath).toBeUndefined()
  })

  test('that cannot be written do not keep the rest out', async () => {
    const store = memory()
    const report = await run(file(mixed), store, {
      rejectedPath: () => join(folder, 'no', 'such', 'folder'),
    })
    expect(report).toMatchObject({ inserted: 2, rejected: 3 })
    expect(report.files[0]!.rejectedFault).toContain('ENOENT')
    expect(report.files[0]!.samples.map(sample => sample.line)).toEqual([3, 5, 8])
  })

  test('are not written over a file that is to be read', async () => {
    const path = file(mixed)
    const clash = `${path}.rejected`
    writeFileSync(clash, mixed)
    await expect(run([path, clash], memory())).rejects.toThrow(
      `${clash} is where the rejected lines of ${path} go`,
    )
    expect(readFileSync(clash, 'utf8')).toBe(mixed)
  })
})

describe('points that a file has more than once', () => {
  test('the last one is written, and only that, wherever the batches end', async () => {
    for (const batchMax of [1, 2, 3, 7, 1000]) {
      const store = memory(batchMax)
      const path = file(
        `${head}WTI_USD,2024-01-02,1\nWTI_USD,2024-01-01,5\nWTI_USD,2024-01-02,2\nBRENT,2024-01-02,9\nWTI,2024-01-02,3\nWTI_USD,2024-01-01,5\n`,
      )
      const first = { ...none, read: 6, inserted: 3, superseded: 2, unchanged: 1 }
      const report = await run(path, store)
      expect(counts(report)).toEqual(first)
      expect(report.files[0]!.supersededLines.map(({ line }) => line)).toEqual([2, 4])
      expect(store.values.get('WTI_USD 2024-01-02T00:00:00.000Z')).toBe(3)
      expect(counts(await run(path, store))).toEqual({ ...first, inserted: 0, unchanged: 4 })
    }
  })

  test('the last value of a repeated point is stored with one write per point, and reimporting changes nothing', async () => {
    const row = fc.tuple(
      fc.constantFrom('WTI_USD', 'BRENT', 'EUR_USD'),
      fc.integer({ min: 0, max: 12 }),
      fc.integer({ min: 1, max: 4 }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        async (data, batchMax) => {
          const values = new Map<string, number>()
          const lines = data.map(([code, n, value]) => {
            values.set(`${catalogue.find(code)!.code} ${new Date(day(n)).toISOString()}`, value)
            return `${code},${day(n)},${value}\n`
          })
          const path = join(folder, 'law.csv')
          writeFileSync(path, head + lines.join(''))
          const store = memory(batchMax)
          const report = await run(path, store)
          expect(Object.fromEntries(store.values)).toEqual(Object.fromEntries(values))
          expect(counts(report)).toMatchObject({ inserted: values.size, revised: 0 })
          expect(counts(await run(path, store))).toMatchObject({
            inserted: 0,
            revised: 0,
            superseded: report.superseded,
          })
        },
      ),
      { numRuns: runs(100) },
    )
  })

  test('a large file in no order, with chance collisions, loses and repeats nothing', async () => {
    const at = (i: number) => isoInstant(Date.UTC(2000, 0, 1) + ((i * 7919) % 60_000) * 3_600_000)
    const lines = Array.from(
      { length: 90_000 },
      (_, i) => `WTI_USD,${at(i)},${i < 30_000 ? 10 : 20}`,
    )
    const store = memory(10_000)
    expect(counts(await run(file(head + lines.join('\n')), store))).toEqual({
      ...none,
      read: 90_000,
      inserted: 60_000,
      superseded: 30_000,
    })
    expect(store.batches.reduce((sum, n) => sum + n, 0)).toBe(60_000)
    expect([...store.values.values()].every(value => value === 20)).toBe(true)
  })
})

describe('nothing is written', () => {
  test('in a dry run, though everything is checked', async () => {
    const store = memory()
    const path = file(`${head}${rowsOf(20).join('\n')}\nNOPE,2024-01-01,1\n`)
    const report = await run(path, store, { dryRun: true })
    expect(report).toMatchObject({ read: 21, points: 20, inserted: 0, rejected: 1 })
    expect(report.files[0]!.samples).toMatchObject([
      { line: 22, reason: expect.stringContaining('code NOPE') },
    ])
    expect({ batches: store.batches, existsSync: existsSync(`${path}.rejected`) }).toEqual({
      batches: [],
      existsSync: false,
    })
  })

  test('when one of the files is missing, damaged at its end or has no such columns', async () => {
    const good = file(head + rowsOf(10).join('\n'))
    const packed = gzipSync(head + rowsOf(5000).join('\n'))
    const bad = [
      join(folder, 'none.csv'),
      file(packed.subarray(0, packed.length - 20)),
      file('a,b\n1,2\n'),
    ]
    for (const path of bad) {
      const store = memory()
      await expect(run([good, path], store)).rejects.toThrow(path)
      expect(store.batches).toEqual([])
    }
  })
})

test('rows written before a write failure are preserved, and importing again completes the file', async () => {
  const store = memory(10)
  const path = file(head + rowsOf(95).join('\n'))
  let calls = 0
  const failing: PointWriter = {
    batchMax: 10,
    write(points) {
      calls += 1
      if (calls === 4) throw new Error('the disk is full')
      return store.write(points)
    },
  }
  await expect(run(path, failing)).rejects.toThrow('the disk is full')
  expect(store.values.size).toBe(30)
  expect(counts(await run(path, store))).toEqual({ ...none, read: 95, unchanged: 30, inserted: 65 })
})

const data = realDataFolder

needs('../shared/data').describe('public figures', () => {
  const into = (name: string) => ({
    rejectedPath: () => join(folder, `${name.replaceAll('/', '-')}.rejected`),
  })
  const cases: [string, Partial<PriceImport>, Partial<typeof none>, string, number][] = [
    [
      'oil-prices/wti-daily.csv',
      { series: 'WTI_USD' },
      { read: 10_226, inserted: 10_226 },
      'WTI_USD 2020-04-20',
      -36.98,
    ],
    [
      'oil-prices/brent-daily.csv',
      { series: 'BRENT_CRUDE_USD' },
      { read: 9958, inserted: 9958 },
      'BRENT_CRUDE_USD 1987-05-20',
      18.63,
    ],
    [
      'natural-gas/daily.csv',
      { series: 'NATURAL_GAS_USD' },
      { read: 7437, inserted: 7436, blank: 1 },
      'NATURAL_GAS_USD 2026-08-18',
      2.82,
    ],
    [
      'eia-spot-products/DCOILWTICO.csv',
      { series: 'WTI_USD' },
      { read: 1305, rejected: 0 },
      'WTI_USD 2020-01-02',
      61.17,
    ],
    [
      'eia-spot-products/DHOILNYH_1986-2018.csv',
      { series: 'HEATING_OIL_USD' },
      { read: 8306, rejected: 0 },
      'HEATING_OIL_USD 2018-04-02',
      1.941,
    ],
    [
      'eia-spot-products/DPROPANEMBTX.csv',
      { series: 'PROPANE_USD' },
      { read: 1305, rejected: 0 },
      'PROPANE_USD 2020-01-02',
      0.441,
    ],
    [
      'ecb-fx/eurofxref-hist.csv',
      { mapping: mappingOf('observed_at=Date,EUR_USD=USD,EUR_GBP=GBP', priceFields) },
      { read: 13_966, inserted: 13_966 },
      'EUR_USD 1999-01-04',
      1.1789,
    ],
  ]
  test.each(cases)(
    '%s goes in as it was published',
    async (name, options, expected, point, value) => {
      const store = memory(5000)
      const path = join(data, name)
      expect(counts(await run(path, store, { ...options, ...into(name) }))).toMatchObject(expected)
      expect(store.values.get(`${point}T00:00:00.000Z`)).toBe(value)
      expect(counts(await run(path, store, { ...options, ...into(name) }))).toMatchObject({
        inserted: 0,
        revised: 0,
      })
    },
  )

  test('every number of the file is the number in the store', async () => {
    const store = memory(5000)
    await run(join(data, 'oil-prices/wti-daily.csv'), store, {
      series: 'WTI_USD',
      ...into('every'),
    })
    const published = readFileSync(join(data, 'oil-prices/wti-daily.csv'), 'utf8')
      .trim()
      .split(/\r?\n/)
      .slice(1)
    for (const line of published) {
      const [on, price] = line.split(',')
      expect(store.values.get(`WTI_USD ${on}T00:00:00.000Z`)).toBe(Number(price))
    }
    expect(published.length).toBe(store.values.size)
  })
})
