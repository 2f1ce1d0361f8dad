import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type DatasetOptions, runDatasetImport } from '../../../src/cli/data/dataset.ts'
import type { Operator } from '../../../src/cli/operator.ts'
import { run } from '../../../src/cli/program.ts'
import { createApp } from '../../../src/instance/app/app.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { openTestInstance, startAt, type TestInstance } from '../../support/instance/instance.ts'
import { noInput } from '../../support/instance/memory-writer.ts'
import { needs } from '../../support/needs.ts'
import { realRows } from '../../support/real-data.ts'
import { realDataFolder } from '../../support/requirements.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-dataset-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let names = 0
function file(content: string | Uint8Array, ending = 'csv'): string {
  names += 1
  const path = join(folder, `${names}.${ending}`)
  writeFileSync(path, content)
  return path
}

/** A command over an instance, as it runs in the data directory: through the operator's interface. */
function openDatasetFiles(now = startAt) {
  const own = openTestInstance({}, now)
  const local = new WeakSet<Request>()
  const app = createApp(own.services, { local })
  let calls = 0
  const operator: Operator = {
    instance: undefined,
    async call(method, path, body) {
      calls += 1
      const request = new Request(`http://localhost${path}`, {
        method,
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      })
      local.add(request)
      const response = await app.handle(request)
      return { status: response.status, body: await response.json() }
    },
    fetch: () => Promise.reject(new Error('nothing is streamed')),
    close() {},
  }
  const run = async (files: string[], options: Partial<DatasetOptions> = {}) => {
    const out: string[] = []
    const err: string[] = []
    const code = await runDatasetImport(
      files,
      { dataset: 'futures-settlements', ...options },
      {
        operator,
        clock: createManualClock(now),
        terminal: undefined,
        stdin: noInput(),
        out: line => out.push(line),
        err: line => err.push(line),
      },
    )
    return { code, out: out.join('\n'), err: err.join('\n') }
  }
  return { own, run, calls: () => calls }
}

const good = file('contract,traded_on,close,settlement\nCL.2,2026-11-19,71.95,\n')
const closes = ({ services }: TestInstance) =>
  services.futures.quotes('WTI_FUTURES').map(({ day }) => [day.month, day.tradedOn, day.close])
const header = 'contract,traded_on,close,settlement'

describe('runDatasetImport', () => {
  test('judges rows before later ones take their place, and refused rows take the place of none', async () => {
    const { own, run } = openDatasetFiles()
    const path = file(
      [
        header,
        'CL.2,2026-11-19,many,',
        'CL.2,2026-11-19,71.90,',
        'CL.2,2026-11-19,71.95,',
        'CL.3,2026-11-19,71.60,',
        'CL.3,2026-11-19,71.66,',
        'CL.3,2026-11-19,none,',
        'CL.3,2026-11-19,none,',
        '',
      ].join('\n'),
    )
    for (const dryRun of [true, false]) {
      const { out } = await run([path], { dryRun })
      expect(out).toContain('read 7')
      expect(out).toContain('superseded 2')
      expect(out).toContain('rejected 3')
    }
    expect(closes(own)).toEqual([
      ['2027-01', '2026-11-19', 71.95],
      ['2027-02', '2026-11-19', 71.66],
    ])
    const rejected = readFileSync(`${path}.rejected`, 'utf8').trimEnd().split('\n')
    expect(rejected.slice(1).map(line => line.split(',')[0])).toEqual(['2', '7', '8'])
    const again = await run([path])
    expect(again.out).toContain('inserted 0, revised 0')
  })

  test('rejects every line of capacities that does not go in, those that are repeated too', async () => {
    const { run } = openDatasetFiles()
    const path = file(
      'code,capacity,effective_on\nCUSHING_STORAGE_USD,none,2026-01-01\nCUSHING_STORAGE_USD,-5,2026-01-01\n',
    )
    const { code } = await run([path], { dataset: 'storage-capacities' })
    const rejected = readFileSync(`${path}.rejected`, 'utf8').trimEnd().split('\n')
    expect({ code, length: rejected.length }).toEqual({ code: 2, length: 3 })
  })

  test('goes in, and nothing happens when it comes again', async () => {
    const { own, run } = openDatasetFiles()
    const path = file(`${header}\nCL.2,2026-11-19,71.95,71.87\nCL.3,2026-11-19,71.66,\n`)
    expect(await run([path])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining(
        'read 2, inserted 2, revised 0, unchanged 0, blank 0, rejected 0',
      ),
    })
    expect(await run([path])).toMatchObject({
      code: 0,
      out: expect.stringContaining('inserted 0, revised 0, unchanged 2'),
    })
    expect(closes(own)).toEqual([
      ['2027-01', '2026-11-19', 71.95],
      ['2027-02', '2026-11-19', 71.66],
    ])
    expect(existsSync(`${path}.rejected`)).toBe(false)
  })

  test('keeps its wrong lines apart, with their numbers and reasons, in a file that can be corrected and imported', async () => {
    const { own, run } = openDatasetFiles()
    const path = file(
      `${header}\nCL.2,2026-11-19,71.95,71.87\nCL.3,2026-11-14,71.66,\nCL.4,"2026-11-19",x,\n"CL.5,2026-11-19,1,\n`,
    )
    const { code, out, err } = await run([path])
    expect({ code, length: closes(own).length }).toEqual({ code: 2, length: 1 })
    expect(out).toContain('read 4, inserted 1, revised 0, unchanged 0, blank 0, rejected 3')
    expect(err).toContain(`${path}:3: traded_on 2026-11-14 is on a weekend`)
    const rejected = readFileSync(`${path}.rejected`, 'utf8')
    expect(rejected.split('\n')[0]).toBe(`line,reason,${header}`)
    expect(rejected).toContain('\n4,"close x is not a number')
    const corrected = file(
      rejected
        .replaceAll('2026-11-14', '2026-11-13')
        .replace(',x,', ',71.4,')
        .replace('"CL.5', 'CL.5'),
    )
    expect(await run([corrected])).toMatchObject({
      code: 0,
      out: expect.stringContaining('inserted 3'),
    })
    expect(closes(own).length).toBe(4)
  })

  test('is only checked in a dry run', async () => {
    const { own, run } = openDatasetFiles()
    const path = file(`${header}\nCL.2,2026-11-19,71.95,\nCL.3,2026-11-19,x,\n`)
    const { code, out } = await run([path], { dryRun: true })
    expect({ code, closes: closes(own), existsSync: existsSync(`${path}.rejected`) }).toEqual({
      code: 2,
      closes: [],
      existsSync: false,
    })
    expect(out).toContain('would be written 1')
  })

  test('a dataset file that contradicts itself stores its last value on every import', async () => {
    const { own, run } = openDatasetFiles()
    const path = file(
      `${header}\nCL.2,2026-11-19,70,\nCL.3,2026-11-19,5,\nCL.2,2026-11-19,71.95,\nCL.3,2026-11-19,5,\n`,
    )
    expect((await run([path])).out).toContain(
      'read 4, inserted 2, revised 0, unchanged 1, superseded 1',
    )
    expect((await run([path])).out).toContain('inserted 0, revised 0, unchanged 3, superseded 1')
    expect(closes(own)).toEqual([
      ['2027-01', '2026-11-19', 71.95],
      ['2027-02', '2026-11-19', 5],
    ])
  })

  test('may have other names, another separator, gzip or JSON lines', async () => {
    const forms: [string, Partial<DatasetOptions>][] = [
      [file('Contract;Traded On;Last;more\nCL.2;2026-11-19;71.95;x\n'), { map: 'close=Last' }],
      [file(gzipSync(`${header}\r\nCL.2,2026-11-19,71.95,\r\n`), 'csv.gz'), {}],
      [
        file(
          '{"contract":"CL.2","traded_on":"2026-11-19","close":71.95}\n{"contract":"CL.2","traded_on":"2026-11-18","close":null,"settlement":7}\n',
          'ndjson',
        ),
        {},
      ],
    ]
    for (const [path, options] of forms) {
      const { own, run } = openDatasetFiles()
      expect(await run([path], options)).toMatchObject({ code: 0, err: '' })
      expect(closes(own)).toEqual([['2027-01', '2026-11-19', 71.95]])
    }
  })

  test('with a column for each contract has a row for each of its cells, blanks left out', async () => {
    const { own, run } = openDatasetFiles()
    const path = file('day,c1,c2,c3\n2026-11-19,71,72,73\n2026-11-18,74,,w\n2026-11-17,75,six,77\n')
    const { code, out, err } = await run([path], {
      map: 'traded_on=day,WTI_FUTURES.1=c1,WTI_FUTURES.2=c2,CL.3=c3',
    })
    expect({ code, out }).toMatchObject({
      code: 2,
      out: expect.stringContaining(
        'read 9, inserted 6, revised 0, unchanged 0, blank 2, rejected 1',
      ),
    })
    expect(err).toContain(`${path}:4: close six is not a number`)
    expect(closes(own)).toEqual([
      ['2026-12', '2026-11-19', 71],
      ['2027-01', '2026-11-19', 72],
      ['2027-02', '2026-11-19', 73],
    ])
    expect(readFileSync(`${path}.rejected`, 'utf8')).toBe(
      `line,reason,day,c1,c2,c3\n4,"${/close six[^\n]*/.exec(err)![0]}",2026-11-17,75,six,77\n`,
    )
  })

  test('of thousands of rows goes in by batches, each of them whole', async () => {
    const { own, run, calls } = openDatasetFiles()
    const rows = Array.from({ length: 2_500 }, (_, i) => {
      const at = new Date(Date.UTC(2026, 10, 16) + i * 60_000 * 2)
      return `GASOIL_FUTURES.1,${at.toISOString()},${600 + (i % 50)},${i}`
    })
    const path = file(
      `contract,traded_at,price,volume\n${rows.join('\n')}\nGASOIL_FUTURES.1,2026-11-19T12:00:01Z,x,1\n`,
    )
    expect(await run([path], { dataset: 'futures-ticks' })).toMatchObject({
      code: 2,
      out: expect.stringContaining(
        'read 2501, inserted 2500, revised 0, unchanged 0, blank 0, rejected 1',
      ),
    })
    // The list of datasets, the beginning of the batch, its rows, those without the wrong one, its end.
    expect(calls()).toBe(1 + 1 + 3 + 1 + 1)
    const { ticks } = own.services.futures.intraday('GASOIL_FUTURES', '2026-12', '2026-11-17')!
    expect(ticks.length).toBe(288)
  })
})

describe('nothing is written when a file cannot be read as asked', () => {
  const cases: [string, string[], Partial<DatasetOptions>, RegExp][] = [
    [
      'an unknown dataset',
      [good],
      { dataset: 'futures' },
      /Unknown dataset "futures"\. Use one of futures-settlements/,
    ],
    ['a file that is not there', [good, join(folder, 'none.csv')], {}, /does not exist/],
    [
      'a column that is missing',
      [good, file('contract,close\nCL.1,2\n')],
      {},
      /no column traded_on .*--map traded_on=COLUMN.*contract, close/,
    ],
    [
      'a mapping to no column',
      [good],
      { map: 'close=Last' },
      /--map close=Last: Last is not a column/,
    ],
    [
      'a contract of a wide file in addition to its own column',
      [good],
      { map: 'CL.1=close,close=settlement' },
      /leave out close=/,
    ],
    ['an empty file', [good, file('')], {}, /is empty/],
    [
      'a JSON document that is cut off',
      [good, file('[{}', 'json')],
      {},
      /must be valid JSON to its end/,
    ],
    [
      'a wide file of a dataset that has none',
      [good],
      { dataset: 'futures-ticks', map: 'CL.1=close' },
      /CL.1 is not a column of futures-ticks/,
    ],
  ]
  for (const [name, files, options, reason] of cases) {
    test(name, async () => {
      const { own, run } = openDatasetFiles()
      const { code, err, out } = await run(files, options)
      expect({ code, out, closes: closes(own) }).toEqual({ code: 1, out: '', closes: [] })
      expect(err).toMatch(reason)
    })
  }
})

describe('import --dataset on the command line', () => {
  const wellhead = async (...argv: string[]) => {
    const out: string[] = []
    const err: string[] = []
    const code = await run([...argv, '--data', join(folder, 'data'), '--create'], {
      env: {},
      directory: folder,
      stdin: noInput(),
      terminal: undefined,
      out: line => out.push(line),
      err: line => err.push(line),
      write: text => void out.push(text),
      onStop: () => {},
      exit: code => {
        throw new Error(`exit ${code}`)
      },
    })
    return { code, out: out.join('\n'), err: err.join('\n') }
  }

  test('imports a dataset into a directory that no server runs in', async () => {
    const path = file('date,c1\n2020-04-16,19.87\n2020-04-17,18.27\n')
    const first = await wellhead(
      'import',
      '--dataset',
      'futures-settlements',
      '--map',
      'traded_on=date,WTI_FUTURES.1=c1',
      path,
    )
    expect({ code: first.code, err: first.err, out: first.out }).toEqual({
      code: 0,
      err: '',
      out: expect.stringContaining('read 2, inserted 2'),
    })
    const again = await wellhead(
      'import',
      '--dataset',
      'futures-settlements',
      '--map',
      'traded_on=date,WTI_FUTURES.1=c1',
      path,
    )
    expect(again.out).toContain('inserted 0, revised 0, unchanged 2')
  })

  test('a dataset import refuses options that apply only to prices', async () => {
    const { code, err } = await wellhead(
      'import',
      '--dataset',
      'futures-ticks',
      '--series',
      'WTI_USD',
      good,
    )
    expect({ code, err }).toEqual({
      code: 1,
      err: '--series is for prices: leave it out with --dataset',
    })
  })
})

needs('../shared/data').describe('the public contracts 1 to 4 of WTI from 2010 to 2020', () => {
  const source = 'eia-nymex-futures/wti_c1_c4_daily_2010_2020.csv'
  const rows = realRows(source)
  const path = join(realDataFolder, source)
  const map =
    'traded_on=date,WTI_FUTURES.1=wti_fut_1,WTI_FUTURES.2=wti_fut_2,WTI_FUTURES.3=wti_fut_3,WTI_FUTURES.4=wti_fut_4'
  // The command writes rejected lines next to its input, which must not change: so a copy of it is
  // imported.
  const copied = needs('../shared/data').isMet ? file(readFileSync(path)) : ''

  test('go in by one command and come out as they are in the file', async () => {
    const { own, run } = openDatasetFiles(Date.parse('2020-10-31T12:00:00Z'))
    expect(await run([copied], { map })).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining(`read ${rows.length * 4}, inserted ${rows.length * 4},`),
    })
    const key = own.key()
    const ask = async (query: string) => {
      const response = await own.get(`/v1/futures/exch-wti/${query}`, key)
      return (await response.json()) as {
        prices: Record<string, unknown>[]
        contracts: Record<string, unknown>[]
        count: number
        curve_type: string
      }
    }

    const april = await ask('historical?from=2020-04-20&to=2020-04-22&contracts=4')
    const inFile = rows.filter(([date]) => date! >= '2020-04-20' && date! <= '2020-04-22').reverse()
    expect(april.prices.map(row => row.close)).toEqual(
      inFile.flatMap(row => row.slice(1, 5).map(Number)),
    )
    expect(april.prices.map(row => row.contract_month)).toEqual([
      '2020-06',
      '2020-07',
      '2020-08',
      '2020-09',
      '2020-05',
      '2020-06',
      '2020-07',
      '2020-08',
      '2020-05',
      '2020-06',
      '2020-07',
      '2020-08',
    ])
    expect(april.prices.every(row => row.settlement === null)).toBe(true)
    expect(
      april.prices.find(row => row.date === '2020-04-20' && row.contract_month === '2020-05')
        ?.close,
    ).toBe(-37.63)

    const continuous = await ask('continuous?months=60')
    const since = rows.filter(([date]) => date! >= '2015-10-31').reverse()
    expect(continuous.prices.map(row => [row.date, row.price])).toEqual(
      since.map(([date, first]) => [date, Number(first)]),
    )
    expect(continuous.prices.filter(row => row.rolled).length).toBe(60)

    const curve = await ask('curve?date=2020-04-19')
    const [, ...friday] = rows.find(([date]) => date === '2020-04-17')!
    expect({
      curve_type: curve.curve_type,
      contracts: curve.contracts.map(contract => contract.price),
    }).toEqual({ curve_type: 'contango', contracts: friday.slice(0, 4).map(Number) })
    expect(own.services.futures.closes('WTI_FUTURES', 4, '2010-01-01', '2020-12-31').length).toBe(
      rows.length,
    )
  }, 30_000)
})
