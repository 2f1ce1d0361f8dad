import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { strToU8, zipSync } from 'fflate'
import type { SchemaElement } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { type ImportOptions, runImport } from '../../../src/cli/data/import.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { memory, noInput } from '../../support/instance/memory-writer.ts'
import { needs } from '../../support/needs.ts'
import { inOwnTemporaryDirectory } from '../../support/own-temporary-directory.ts'
import { workbookOf } from '../../support/publishers/workbook.ts'
import { realDataFolder } from '../../support/requirements.ts'
import { catalogue } from '../../support/topics/shipped-codes.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-forms-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const recording = (name: string) => resolve(realDataFolder, 'recordings', name)

let names = 0
function file(content: string | Uint8Array, ending = 'csv'): string {
  names += 1
  const path = join(folder, `${names}.${ending}`)
  writeFileSync(path, content)
  return path
}

interface Told {
  code: number
  out: string
  err: string
  /** `CODE day` or `CODE instant`, and the value. */
  values: Record<string, number>
}

/** Imports files as the command does, with everything it wrote. */
async function imported(files: string | string[], options: ImportOptions = {}): Promise<Told> {
  const store = memory(1000)
  const out: string[] = []
  const err: string[] = []
  const code = await runImport([files].flat(), options, {
    clock: createManualClock(Date.UTC(2026, 10, 21)),
    catalogue,
    writer: store,
    terminal: undefined,
    stdin: noInput(),
    out: line => out.push(line),
    err: line => err.push(line),
  })
  const values = [...store.values].map(
    ([key, value]) => [key.replace('T00:00:00.000Z', ''), value] as const,
  )
  return { code, out: out.join('\n'), err: err.join('\n'), values: Object.fromEntries(values) }
}

const pinkSheet = workbookOf({
  About: [['World Bank Commodity Price Data']],
  'Monthly Prices': [
    ['World Bank Commodity Price Data (The Pink Sheet)'],
    ['monthly prices in nominal US dollars'],
    [],
    ['Updated on June 02, 2026'],
    [undefined, 'Coal, Australian', 'Coal, South African **', 'Zinc'],
    [undefined, '($/mt)', '($/mt)', '($/mt)'],
    ['2026M04', 134.2, 94.05, 3010],
    ['2026M05', 136.86, 95.56, '…'],
  ],
})

describe('a workbook', () => {
  const options: ImportOptions = {
    sheet: 'Monthly Prices',
    headerRow: '5',
    map: ['COAL_AUSTRALIA_USD=Coal, Australian', 'COAL_SOUTH_AFRICA_USD=Coal, South African'],
  }

  test('gives the columns that are mapped, names with commas and without the stars of footnotes', async () => {
    const path = file(pinkSheet, 'xlsx')
    const map = [...(options.map as string[]), 'observed_at=1']
    expect((await imported(path, { ...options, map })).err).toContain('1 is not a column')
    const named = workbookOf({
      S: [
        ['Month', 'Coal, Australian'],
        ['2026M05', 136.86],
      ],
    })
    expect(
      (await imported(file(named, 'xlsx'), { map: ['COAL_AUSTRALIA_USD=Coal, Australian'] }))
        .values,
    ).toEqual({ 'COAL_AUSTRALIA_USD 2026-05-01': 136.86 })
  })

  test('whose first column has no name has the periods there', async () => {
    expect(await imported(file(pinkSheet, 'xlsx'), options)).toMatchObject({
      code: 0,
      err: '',
      values: {
        'COAL_AUSTRALIA_USD 2026-04-01': 134.2,
        'COAL_SOUTH_AFRICA_USD 2026-04-01': 94.05,
        'COAL_AUSTRALIA_USD 2026-05-01': 136.86,
        'COAL_SOUTH_AFRICA_USD 2026-05-01': 95.56,
      },
    })
  })

  test('a workbook import lists the sheets when the requested one is missing or has unknown columns', async () => {
    const path = file(pinkSheet, 'xlsx')
    expect(await imported(path, { ...options, sheet: 'Annual Prices' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('has the sheets About, Monthly Prices'),
    })
    expect((await imported(path)).err).toContain(
      'There are also the sheets Monthly Prices: --sheet',
    )
  })

  test('a workbook import reports rejected rows by their row number in the sheet', async () => {
    const book = workbookOf({
      S: [['title'], ['date', 'price'], ['2026-05-01', 70], [], ['2026-05-02', 'n.a.!']],
    })
    const { code, err } = await imported(file(book, 'xlsx'), { series: 'WTI_USD', headerRow: '2' })
    expect({ code, first: err.split('\n')[0] }).toEqual({
      code: 2,
      first: expect.stringMatching(/\.xlsx:5: price n\.a\.! is not a plain number/),
    })
  })

  test('with cells that are shown as days, or with day numbers, has days', async () => {
    const book = workbookOf({
      S: [
        ['date', 'price'],
        [46030, 72.65],
        [46031.5, 73],
      ],
    })
    const asSerial = await imported(file(book, 'xlsx'), {
      series: 'WTI_USD',
      dateFormat: 'serial',
      zone: 'UTC',
    })
    expect(asSerial.values).toEqual({
      'WTI_USD 2026-01-08': 72.65,
      'WTI_USD 2026-01-09T12:00:00.000Z': 73,
    })
    const shown = withDayStyle(book)
    expect(
      (await imported(file(shown, 'xlsx'), { series: 'WTI_USD', zone: 'UTC' })).values,
    ).toEqual(asSerial.values)
  })
})

/** The same workbook, its numbers in column A in a style of days. */
function withDayStyle(book: Uint8Array): Uint8Array {
  const { unzipSync } = require('fflate') as typeof import('fflate')
  const files = unzipSync(book)
  const sheet = 'xl/worksheets/sheet1.xml'
  const text = Buffer.from(files[sheet]!).toString()
  files[sheet] = strToU8(text.replaceAll(/<c (r="A\d+")><v>/g, '<c $1 s="1"><v>'))
  files['xl/styles.xml'] = strToU8(
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts><numFmt numFmtId="164" formatCode="[$-409]d\\-mmm\\-yy;@"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>',
  )
  return zipSync(files)
}

describe('JSON', () => {
  const rows = [
    { period: '2026-08-17', series: 'RWTC', value: '85.10', units: '$/BBL' },
    { period: '2026-08-18', series: 'RWTC', value: '.833', units: '$/BBL' },
    { period: '2026-08-19', series: 'RWTC', value: null, units: '$/BBL' },
  ]
  const answer = (frequency: string) => ({
    response: { total: '3', frequency, data: rows },
    request: {
      command: '/v2/petroleum/pri/spt/data/',
      params: { data: ['value'], sort: [{ column: 'period' }] },
    },
  })

  test('a JSON import reads records from the configured path on one line or many', async () => {
    const body = { a: { rows: [{ x: 1 }] }, b: rows, note: [1, 2] }
    for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
      const { code, values, out } = await imported(file(text, 'json'), {
        records: 'b',
        series: 'WTI_USD',
      })
      expect({ code, values }).toEqual({
        code: 0,
        values: { 'WTI_USD 2026-08-17': 85.1, 'WTI_USD 2026-08-18': 0.833 },
      })
      expect(out).toContain('read 3, inserted 2, revised 0, unchanged 0, blank 1, rejected 0')
    }
  })

  test('a JSON import lists the candidate lists when the record path is ambiguous or missing', async () => {
    const path = file(JSON.stringify({ a: [{ x: 1 }], b: { c: [{ y: 1 }] } }), 'json')
    expect((await imported(path, { series: 'WTI_USD' })).err).toContain('; there are a, b.c')
    expect((await imported(path, { series: 'WTI_USD', records: 'd' })).err).toContain(
      '--records d: there is nothing there',
    )
  })

  test('is a list, also packed, and members of members are named by their path', async () => {
    const list = [{ at: '2026-08-17T10:00:00Z', quote: { last: 71.5, unit: 'usd' } }]
    const path = file(gzipSync(JSON.stringify(list)), 'json.gz')
    const map = 'observed_at=at,price=quote.last'
    expect((await imported(path, { series: 'WTI_USD', map })).values).toEqual({
      'WTI_USD 2026-08-17T10:00:00.000Z': 71.5,
    })
  })

  test('of the EIA needs no mapping: its series are known, and its thousand barrels are millions here', async () => {
    expect((await imported(file(JSON.stringify(answer('daily')), 'json'))).values).toEqual({
      'WTI_USD 2026-08-17': 85.1,
      'WTI_USD 2026-08-18': 0.833,
    })
    const stocks = {
      response: {
        frequency: 'weekly',
        data: [{ period: '2026-08-14', series: 'W_EPC0_SAX_YCUOK_MBBL', value: '11677' }],
      },
    }
    expect((await imported(file(JSON.stringify(stocks), 'json'))).values).toEqual({
      'CUSHING_STORAGE 2026-08-14': 11.677,
    })
  })

  test('an EIA file of weekly means is refused for a daily series unless the series is named explicitly', async () => {
    const path = file(JSON.stringify(answer('weekly')), 'json')
    expect(await imported(path)).toMatchObject({
      code: 1,
      values: {},
      err: expect.stringContaining(
        'has weekly values of RWTC, and WTI_USD is its value of a day: if they belong there all the same, say --series WTI_USD',
      ),
    })
    expect((await imported(path, { series: 'WTI_USD' })).code).toBe(0)
  })

  test('a JSON file that holds an error response of its publisher is reported as such', async () => {
    const refusal = { error: { code: 'API_KEY_MISSING', message: 'No api_key was supplied.' } }
    expect((await imported(file(JSON.stringify(refusal), 'json'))).err).toContain(
      'is the refusal of a publisher and has no data: No api_key was supplied.',
    )
  })
})

describe('tables of agencies', () => {
  test('a download of FRED is known by the names of its columns', async () => {
    const text = 'observation_date,DCOILWTICO,DHHNGSP\n2026-08-17,85.10,2.9\n2026-08-18,,.\n'
    const { code, values } = await imported(file(text))
    expect({ code, values }).toEqual({
      code: 0,
      values: {
        'WTI_USD 2026-08-17': 85.1,
        'NATURAL_GAS_USD 2026-08-17': 2.9,
        'GAS_HENRY_HUB_SPOT_USD 2026-08-17': 2.9,
      },
    })
  })

  test('rates of the ECB are direct ones and crosses of one day', async () => {
    const day = 'Date, USD, JPY, GBP, NOK, \n13 April 2026, 1.1684, 186.75, 0.87058, 11.0980, \n'
    const archive = zipSync({ 'eurofxref.csv': strToU8(day) })
    for (const path of [file(day), file(archive, 'zip')]) {
      const { code, values } = await imported(path)
      expect(code).toBe(0)
      expect(values['EUR_USD 2026-04-13']).toBe(1.1684)
      expect(values['GBP_USD 2026-04-13']).toBeCloseTo(1.1684 / 0.87058, 9)
      expect(values['USD_NOK 2026-04-13']).toBeCloseTo(11.098 / 1.1684, 9)
    }
    const map = 'observed_at=Date,EUR_USD=USD'
    expect((await imported(file(day), { map })).values).toEqual({ 'EUR_USD 2026-04-13': 1.1684 })
  })

  test('a table of the weekly petroleum report has its weeks as rows', async () => {
    const table =
      'STUB_1,5/17/24,5/10/24,Difference,5/19/23,Percent Change\nCrude Oil,"1,827.649",824.831,2.818,813.122,1.8\nCushing,36.325,35.012,1.3,39.4,-7.8\n'
    expect((await imported(file(table))).values).toEqual({
      'CUSHING_STORAGE 2024-05-17': 36.325,
      'CUSHING_STORAGE 2024-05-10': 35.012,
      'CUSHING_STORAGE 2023-05-19': 39.4,
    })
    const map = 'US_CRUDE_STORAGE=Crude Oil'
    expect((await imported(file(table), { map })).values['US_CRUDE_STORAGE 2024-05-17']).toBe(
      1827.649,
    )
  })

  test('a title above the names of the columns is passed over', async () => {
    const text =
      'A title\nhttps://example.org, and more\n"not closed\nDate,Price\n2026-08-17,85.1\nx,1\n'
    const { values, err } = await imported(file(text), { series: 'WTI_USD', headerRow: '4' })
    expect(values).toEqual({ 'WTI_USD 2026-08-17': 85.1 })
    expect(err).toContain('.csv:6: observed_at x is not a time')
  })
})

describe('Parquet', () => {
  test('a Parquet import reads days, timestamps, large integers and missing values', async () => {
    const buffer = parquetWriteBuffer({
      columnData: [
        { name: 'code', data: ['WTI_USD', 'BRENT_CRUDE_USD', 'WTI_USD'], type: 'STRING' },
        {
          name: 'date',
          data: [
            new Date('2026-08-17T00:00:00Z'),
            new Date('2026-08-17T10:30:00Z'),
            new Date('2026-08-18T00:00:00Z'),
          ],
          type: 'TIMESTAMP',
        },
        { name: 'price', data: [85.1, 88.2, null], type: 'DOUBLE', nullable: true },
        { name: 'volume', data: [1n, 2n, 3n], type: 'INT64' },
      ],
    })
    expect(await imported(file(new Uint8Array(buffer), 'parquet'))).toMatchObject({
      code: 0,
      values: {
        'WTI_USD 2026-08-17': 85.1,
        'BRENT_CRUDE_USD 2026-08-17T10:30:00.000Z': 88.2,
      },
    })
  })

  test('a Parquet import reads dates, and times in milliseconds, microseconds and nanoseconds', async () => {
    const units = [
      ['MILLIS', 1n],
      ['MICROS', 1_000n],
      ['NANOS', 1_000_000n],
    ] as const
    const written = (
      element: Partial<SchemaElement>,
      data: (number | bigint)[],
      prices: number[],
    ) =>
      new Uint8Array(
        parquetWriteBuffer({
          schema: [
            { name: 'root', num_children: 3 },
            { name: 'code', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
            { name: 'date', type: 'INT64', ...element },
            { name: 'price', type: 'DOUBLE' },
          ],
          columnData: [
            { name: 'code', data: data.map(() => 'WTI_USD') },
            { name: 'date', data },
            { name: 'price', data: prices },
          ],
        }),
      )
    const day = Date.parse('2026-08-17') / 86_400_000
    const dates = written({ type: 'INT32', converted_type: 'DATE' }, [day, day + 1], [85.1, 86.2])
    expect(await imported(file(dates, 'parquet'))).toMatchObject({
      code: 0,
      values: { 'WTI_USD 2026-08-17': 85.1, 'WTI_USD 2026-08-18': 86.2 },
    })
    const at = BigInt(Date.parse('2026-08-17T10:30:00Z'))
    for (const [unit, perMs] of units) {
      const logical_type = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit } as const
      const times = written({ logical_type }, [at * perMs], [87.3])
      const { code, values } = await imported(file(times, 'parquet'))
      expect({ code, values }, unit).toEqual({
        code: 0,
        values: { 'WTI_USD 2026-08-17T10:30:00.000Z': 87.3 },
      })
    }
  })

  test('that is cut off is named', async () => {
    const { code, err } = await imported(file('PAR1 and no more', 'parquet'))
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('is not Parquet that can be read'),
    })
  })
})

describe('spellings', () => {
  const day = '2026-03-04'
  test.each([
    ['DD/MM/YYYY', '04/03/2026', day],
    ['%d.%m.%Y', '4.3.2026', day],
    ['D MMM YYYY', '4 Mar 2026', day],
    ['MMMM D, YYYY', '"March 4, 2026"', day],
    ['YYYYMMDD', '20260304', day],
    ['MM/YYYY', '03/2026', '2026-03-01'],
    ['[Q]Q YYYY', 'Q1 2026', '2026-01-01'],
    ['DD.MM.YY HH:mm', '04.03.26 16:00', '2026-03-04T15:00:00.000Z'],
  ])('a day as %s', async (dateFormat, written, at) => {
    const { values, err } = await imported(file(`day,price\n${written},1\n`), {
      series: 'WTI_USD',
      dateFormat,
      zone: 'Europe/Oslo',
    })
    expect({ err, values }).toEqual({ err: '', values: { [`WTI_USD ${at}`]: 1 } })
  })

  test('a date that is invalid or in another format than configured is rejected with that format', async () => {
    const { code, err } = await imported(file('day,price\n2026-03-04,1\n31/02/2026,1\n'), {
      series: 'WTI_USD',
      dateFormat: 'DD/MM/YYYY',
    })
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('observed_at 2026-03-04 is not written as DD/MM/YYYY'),
    })
    expect(err).toContain('observed_at 31/02/2026 is not written as DD/MM/YYYY')
  })

  test('a month, a quarter and a day in words need no option', async () => {
    const text = 'day,price\n1997-01,1\n2026M05,2\n2026-Q3,3\n13 April 2026,4\n'
    expect((await imported(file(text), { series: 'WTI_USD' })).values).toEqual({
      'WTI_USD 1997-01-01': 1,
      'WTI_USD 2026-05-01': 2,
      'WTI_USD 2026-07-01': 3,
      'WTI_USD 2026-04-13': 4,
    })
  })

  test('a day alone is at the time of its market, in summer and in winter', async () => {
    const text = 'day,price\n2026-01-15,1\n2026-07-15,2\n2026-07-16T10:00:00Z,3\n'
    const options = { series: 'WTI_USD', time: '16:00', zone: 'America/New_York' }
    expect((await imported(file(text), options)).values).toEqual({
      'WTI_USD 2026-01-15T21:00:00.000Z': 1,
      'WTI_USD 2026-07-15T20:00:00.000Z': 2,
      'WTI_USD 2026-07-16T10:00:00.000Z': 3,
    })
  })

  test('an hour that the clocks repeat or skip is rejected with the way to write it', async () => {
    const text =
      'day;price\n25.10.2026 01:30;1\n25.10.2026 02:30;2\n25.10.2026 02:30;3\n25.10.2026 03:30;4\n29.03.2026 02:30;5\n29.03.2026 03:30;6\n'
    const options = { series: 'WTI_USD', dateFormat: 'DD.MM.YYYY HH:mm', zone: 'Europe/Berlin' }
    const { code, values, err } = await imported(file(text), options)
    expect({ code, values }).toEqual({
      code: 2,
      values: {
        'WTI_USD 2026-10-24T23:30:00.000Z': 1,
        'WTI_USD 2026-10-25T02:30:00.000Z': 4,
        'WTI_USD 2026-03-29T01:30:00.000Z': 6,
      },
    })
    expect(err).toContain(
      'observed_at 2026-10-25T02:30:00 occurs twice in Europe/Berlin: write 2026-10-25T00:30:00Z or 2026-10-25T01:30:00Z',
    )
    expect(err).toContain(
      'observed_at 2026-03-29T02:30:00 does not occur in Europe/Berlin, where the clocks skip it: they change at 2026-03-29T01:00:00Z',
    )
    const corrected = file('day;price\n2026-10-25T00:30:00Z;2\n2026-10-25T02:30:00+01:00;3\n')
    expect((await imported(corrected, options)).values).toEqual({
      'WTI_USD 2026-10-25T00:30:00.000Z': 2,
      'WTI_USD 2026-10-25T01:30:00.000Z': 3,
    })
  })

  test('a decimal comma is accepted only when configured and then replaces the decimal point', async () => {
    const text =
      'day;price\n2026-03-04;1.234,56\n2026-03-05;-36,98\n2026-03-06;83.17\n2026-03-09;7\n'
    const { code, values, err } = await imported(file(text), {
      series: 'BRENT_CRUDE_USD',
      decimalComma: true,
    })
    expect({ code, values }).toEqual({
      code: 2,
      values: {
        'BRENT_CRUDE_USD 2026-03-04': 1234.56,
        'BRENT_CRUDE_USD 2026-03-05': -36.98,
        'BRENT_CRUDE_USD 2026-03-09': 7,
      },
    })
    expect(err).toContain('price 83.17 is not a number with a decimal comma')
  })

  test.each([
    [{ dateFormat: 'MM/DD' }, '--date-format MM/DD is not one'],
    [{ time: '25:00' }, '--time must be a time of day, such as 16:00; got "25:00".'],
    [
      { time: '16:00', zone: 'EST' },
      '--zone must be the name of a time zone, such as America/New_York; got "EST".',
    ],
    [{ headerRow: '0' }, '--header-row 0 is not the number of a row'],
    [{ sheet: 'x' }, '--sheet is for workbooks'],
  ])('%j is refused before anything is read', async (options, message) => {
    const { code, err, values } = await imported(file('day,price\n2026-03-04,1\n'), {
      series: 'WTI_USD',
      ...options,
    })
    expect({ code, values }).toEqual({ code: 1, values: {} })
    expect(err).toContain(message)
  })
})

describe('the result', () => {
  test('of a file with the names of its columns and no row is exit code 2 with a sentence', async () => {
    const csv = await imported(file('code,observed_at,price\n'))
    expect({ code: csv.code, err: csv.err }).toEqual({
      code: 2,
      err: expect.stringContaining('has a header but no rows'),
    })
    const sheet = await imported(file(workbookOf({ S: [['date', 'price']] }), 'xlsx'), {
      series: 'WTI_USD',
    })
    expect({ code: sheet.code, err: sheet.err }).toEqual({
      code: 2,
      err: expect.stringContaining('has a header but no rows'),
    })
    const answer = await imported(file('{"response":{"data":[]}}', 'json'))
    expect({ code: answer.code, err: answer.err }).toEqual({
      code: 1,
      err: expect.stringContaining('has not one row: its list response.data is empty'),
    })
  })

  test('the JSON import result has the counts and rejections of each file and the exit code', async () => {
    const path = file('code,observed_at,price\nWTI_USD,2026-03-04,1\nWTI_UDS,2026-03-04,1\n')
    const { code, out } = await imported(path, { json: true })
    const result = JSON.parse(out)
    expect(result).toMatchObject({
      exit_code: 2,
      dry_run: false,
      read: 2,
      inserted: 1,
      rejected: 1,
      files: [
        {
          file: path,
          rejected_path: `${path}.rejected`,
          rejections: [
            { line: 3, reason: expect.stringContaining('WTI_UDS is not in the catalogue') },
          ],
        },
      ],
    })
    expect(code).toBe(2)
    const refused = await imported(join(folder, 'none.csv'), { json: true })
    expect(JSON.parse(refused.out)).toMatchObject({
      exit_code: 1,
      error: { message: expect.stringContaining('none.csv does not exist') },
    })
  })

  test('an import leaves no temporary file behind', async () => {
    await inOwnTemporaryDirectory(async () => {
      const before = readdirSync(tmpdir()).filter(name => name.startsWith('wellhead-import-'))
      await imported(file(pinkSheet, 'xlsx'))
      await imported(file('[{"x":1}]', 'json'), { series: 'WTI_USD' })
      const after = readdirSync(tmpdir()).filter(name => name.startsWith('wellhead-import-'))
      expect(after.filter(name => !before.includes(name))).toEqual([])
    })
  })
})

needs('../shared/data').describe('files as agencies sent them', () => {
  test('the XML of a day of rates', async () => {
    const { code, values } = await imported(recording('ecb_eurofxref_daily_2024-06-26.xml'))
    expect(code).toBe(0)
    expect(values['EUR_USD 2024-06-26']).toBe(1.0689)
    expect(values['EUR_GBP 2024-06-26']).toBe(0.84453)
  })

  test('the tables of a week', async () => {
    const { values } = await imported(recording('eia_wpsr_table4_2024-05-17.csv'))
    expect(values['US_CRUDE_STORAGE 2024-05-17']).toBe(458.845)
  })

  test('the history of rates goes in whole, to the digit', async () => {
    const { code, values } = await imported(resolve(realDataFolder, 'ecb-fx/eurofxref-hist.csv'))
    const rows = readFileSync(resolve(realDataFolder, 'ecb-fx/eurofxref-hist.csv'), 'utf8').split(
      '\n',
    )
    const dollars = rows.slice(1).flatMap(row => (row ? [row.split(',').slice(0, 2)] : []))
    expect(code).toBe(0)
    for (const [day, rate] of dollars) expect(values[`EUR_USD ${day}`]).toBe(Number(rate))
  })
})
