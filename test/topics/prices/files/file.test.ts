import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { inferSchema, initParser } from 'udsv'
import { fieldsOf, separatorOf } from '../../../../src/feeds/files/csv.ts'
import { mappingOf } from '../../../../src/feeds/files/mapping.ts'
import { recordsOf } from '../../../../src/feeds/files/records.ts'
import { contentOf, openSource, type Source } from '../../../../src/feeds/files/source.ts'
import { blocksOf, recordText } from '../../../../src/feeds/files/table.ts'
import { spooled } from '../../../../src/feeds/formats/spool.ts'
import {
  type ColumnRequest,
  checkRequest,
  priceFields,
} from '../../../../src/topics/prices/files/columns.ts'
import {
  type PriceTable,
  priceTableOf,
  rowsIn,
} from '../../../../src/topics/prices/files/parser.ts'
import type { RawRow } from '../../../../src/topics/prices/files/rows.ts'
import { runs } from '../../../support/full.ts'
import { needs } from '../../../support/needs.ts'
import { catalogue } from '../../../support/topics/shipped-codes.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-file-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const now = Date.UTC(2026, 10, 21)

async function* bytes(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk as string)
}

let files = 0
function file(content: string | Uint8Array): Promise<Source> {
  files += 1
  const path = join(folder, `input-${files}`)
  writeFileSync(path, content)
  return openSource(path, bytes(), folder)
}

const request = (options: { map?: string; series?: string } = {}): ColumnRequest => ({
  mapping: options.map ? mappingOf(options.map, priceFields) : new Map(),
  series: options.series,
  catalogue,
  now,
})

async function read(table: PriceTable): Promise<{ line: number; rows: RawRow[] | string }[]> {
  const all: { line: number; rows: RawRow[] | string }[] = []
  for await (const block of blocksOf(table)) {
    for (let i = block.first; i < block.count; i += 1)
      all.push({ line: block.lines[i]!, rows: rowsIn(table, recordText(block, i)) })
  }
  return all
}

const rows = async (content: string | Uint8Array, options = {}) =>
  read(await priceTableOf(await file(content), request(options)))

/** The rows as text, for tables of cases: `line code time price currency`. */
async function told(content: string | Uint8Array, options = {}): Promise<string[]> {
  const all = await rows(content, options)
  return all.flatMap(({ line, rows }) =>
    typeof rows === 'string'
      ? [`${line} ${rows}`]
      : rows.map(row => [line, row.code, row.observedAt, row.price, row.currency].join(' ').trim()),
  )
}

const plain =
  'code,observed_at,price\nWTI_USD,2024-03-28T14:30:00Z,83.17\nBRENT_CRUDE_USD,2024-03-28,87.48\n'
const plainRows = ['2 WTI_USD 2024-03-28T14:30:00Z 83.17', '3 BRENT_CRUDE_USD 2024-03-28 87.48']

describe('however a file is written, its rows are the same', () => {
  const spellings: [string, string | Uint8Array][] = [
    ['as it comes', plain],
    ['with CRLF', plain.replaceAll('\n', '\r\n')],
    ['with CR alone', plain.replaceAll('\n', '\r')],
    ['without a last line end', plain.trimEnd()],
    ['with a byte order mark', `\ufeff${plain}`],
    ['with semicolons', plain.replaceAll(',', ';')],
    ['with tabs', plain.replaceAll(',', '\t')],
    ['with bars', plain.replaceAll(',', '|')],
    ['in quotes', plain.replaceAll(/[^,\n]+/g, '"$&"')],
    ['with spaces after the commas', plain.replaceAll(',', ', ')],
    ['in quotes after spaces', plain.replaceAll(/,([^,\n]+)/g, ', "$1" ')],
    [
      'with other columns',
      'note,code,observed_at,x,price\n"a, ""b""",WTI_USD,2024-03-28T14:30:00Z,,83.17\n,BRENT_CRUDE_USD,2024-03-28,1,87.48\n',
    ],
    ['with synonyms', plain.replace('code,observed_at,price', 'Symbol,Trade Date,Close')],
    ['packed', gzipSync(plain)],
    [
      'packed in two pieces',
      Buffer.concat([gzipSync(plain.slice(0, 40)), gzipSync(plain.slice(40))]),
    ],
  ]
  test.each(spellings)('a file has the same rows when it is written %s', async (_, content) => {
    expect(await told(content)).toEqual(plainRows)
  })

  test('without names of columns, from line 1', async () => {
    expect(await told(plain.split('\n').slice(1).join('\n'))).toEqual([
      '1 WTI_USD 2024-03-28T14:30:00Z 83.17',
      '2 BRENT_CRUDE_USD 2024-03-28 87.48',
    ])
    expect(await told('2024-03-28,.\n2024-03-29,83.17\n', { series: 'WTI_USD' })).toEqual([
      '1 WTI_USD 2024-03-28 .',
      '2 WTI_USD 2024-03-29 83.17',
    ])
    expect(
      await told('83.17,x,2024-03-28,WTI_USD\n', { map: 'price=1,observed_at=3,code=4' }),
    ).toEqual(['1 WTI_USD 2024-03-28 83.17'])
  })

  test('as NDJSON, whatever the order of members and with values of any type', async () => {
    const lines = [
      '{"code":"WTI_USD","observed_at":"2024-03-28T14:30:00Z","price":83.17}',
      '  {"price":"83.17","currency":"USD","code":"WTI_USD","observed_at":"2024-03-29","more":[1]}',
      '',
      '{"code":"WTI_USD","observed_at":"2024-03-30"}',
    ]
    expect(await told(lines.join('\r\n'))).toEqual([
      '1 WTI_USD 2024-03-28T14:30:00Z 83.17',
      '2 WTI_USD 2024-03-29 83.17 USD',
      '4 WTI_USD 2024-03-30',
    ])
  })
})

describe('columns', () => {
  const two = 'observation_date,DCOILWTICO\n2020-01-02,61.17\n'
  const wide = 'Date,USD,JPY,GBP,\n2026-04-13,1.1684,186.75,0.87058,\n'
  const cases: [string, string, object, string[]][] = [
    [
      'a date and a price, in their order',
      two,
      { series: 'WTI_USD' },
      ['2 WTI_USD 2020-01-02 61.17'],
    ],
    [
      'a date and a price, the other way round',
      'Price,Date\n61.17,2020-01-02\n',
      { series: 'WTI_USD' },
      ['2 WTI_USD 2020-01-02 61.17'],
    ],
    [
      'named by the person',
      'a,b,c,d\nUSD,61.17,WTI_USD,2020-01-02\n',
      { map: 'code=c,observed_at=D,price=b,currency=a' },
      ['2 WTI_USD 2020-01-02 61.17 USD'],
    ],
    [
      'a column name with a comma',
      'date,"Close, last"\n2020-01-02,61.17\n',
      { series: 'WTI_USD', map: '"price=Close, last"' },
      ['2 WTI_USD 2020-01-02 61.17'],
    ],
    [
      'our name before a synonym',
      'date,observed_at,price\nx,2020-01-02,61.17\n',
      { series: 'WTI_USD' },
      ['2 WTI_USD 2020-01-02 61.17'],
    ],
    [
      'a code for each column',
      wide,
      { map: 'observed_at=Date,EUR_USD=USD,EUR_GBP=GBP' },
      ['2 EUR_USD 2026-04-13 1.1684', '2 EUR_GBP 2026-04-13 0.87058'],
    ],
    [
      'a code for each member',
      '{"date":"2026-04-13","USD":1.1684,"GBP":null}\n',
      { map: 'eur_usd=USD,EUR_GBP=GBP' },
      ['1 EUR_USD 2026-04-13 1.1684', '1 EUR_GBP 2026-04-13'],
    ],
    [
      'those of a file of rejected lines',
      `line,reason,${two.replace('\n2020', '\n7,"no",2020')}`,
      { series: 'WTI_USD' },
      ['2 WTI_USD 2020-01-02 61.17'],
    ],
  ]
  test.each(cases)('%s', async (_, content, options, expected) => {
    expect(await told(content, options)).toEqual(expected)
  })

  const refused: [string, string, object, string][] = [
    [
      'no time',
      'code,price\nWTI_USD,1\n',
      {},
      'no column is known to be the time: name one with --map observed_at=COLUMN. The columns are: code, price.',
    ],
    ['no price', 'code,date,x\nWTI_USD,2020-01-02,1\n', {}, 'no column is known to be the price'],
    [
      'no code',
      'date,price\n2020-01-02,1\n',
      {},
      'If all rows belong to one code, name it with --series CODE.',
    ],
    [
      'a column that is not there',
      'date,price\n2020-01-02,1\n',
      { series: 'WTI_USD', map: 'price=Close' },
      'Close is not a column of the file. The columns are: date, price.',
    ],
    [
      'a column that is there twice',
      'date,x,x\n2020-01-02,1,2\n',
      { series: 'WTI_USD', map: 'price=x' },
      'x is the name of several columns',
    ],
    [
      'two columns that could be it',
      'date,time,price\n2020-01-02,10:00,1\n',
      { series: 'WTI_USD' },
      'date and time could each be observed_at',
    ],
    [
      'a series for rows that have codes',
      plain,
      { series: 'WTI_USD' },
      'its column code says which code a row has: leave out --series',
    ],
    ['an array', '[{"code":"WTI_USD"}]', {}, 'is one JSON array: write one object a line (NDJSON)'],
    ['no object', '{oops\n', {}, 'none of its first lines is a JSON object'],
    ['nothing', ' \n', {}, 'is empty'],
    ['a ZIP archive', 'PK\x03\x04....', {}, 'is a ZIP archive or a spreadsheet'],
    ['UTF-16', '\x00c\x00o', {}, 'is not a text file'],
  ]
  test.each(refused)('refused: %s', async (_, content, options, reason) => {
    await expect(rows(content, options)).rejects.toThrow(reason)
  })

  test('UTF-16 with its mark is refused by name', async () => {
    await expect(rows(Buffer.from('\ufeffcode,date', 'utf16le'))).rejects.toThrow(
      'is UTF-16 text: save it as UTF-8',
    )
  })

  const mappings: [string, { map?: string; series?: string }, string][] = [
    [
      'a series that is none',
      { series: 'WTI_UDS' },
      '--series must be a code of the catalogue; got "WTI_UDS". Did you mean WTI_USD?',
    ],
    [
      'a key of neither kind',
      { map: 'observed=Date' },
      '--map must be a field (code, observed_at, price, currency, recorded_at, source, deleted) or a code of the catalogue',
    ],
    [
      'a series and a code column',
      { series: 'WTI_USD', map: 'code=x' },
      'both say which code a row has',
    ],
    [
      'a series and codes by column',
      { series: 'WTI_USD', map: 'EUR_USD=USD' },
      'conflicts with --series',
    ],
    ['a price and codes by column', { map: 'EUR_USD=USD,price=x' }, 'conflicts with price=…'],
    ['a pair without a column', { map: 'price' }, '--map price is not FIELD=COLUMN'],
    ['a field twice', { map: 'price=a,PRICE=b' }, '--map names price twice'],
  ]
  test.each(mappings)('refused before any file is read: %s', (_, options, reason) => {
    expect(() => checkRequest(request(options))).toThrow(reason)
  })
})

describe('records', () => {
  const cut = async (text: string, sizes: number[], separator: string | undefined = ',') => {
    const whole = Buffer.from(text)
    const chunks: Uint8Array[] = []
    for (let at = 0, i = 0; at < whole.length; i += 1) {
      const size = sizes[i % sizes.length]!
      chunks.push(whole.subarray(at, at + size))
      at += size
    }
    const pieces: { line: number; text: string }[] = []
    for await (const block of recordsOf(bytes(...chunks), {
      name: 'x',
      separator: separator?.charCodeAt(0),
      lineEnd: 10,
    })) {
      for (let i = 0; i < block.count; i += 1)
        pieces.push({ line: block.lines[i]!, text: recordText(block, i) })
    }
    return pieces
  }

  const field = fc.oneof(
    fc.string({
      unit: fc.constantFrom('a', '1', '.', ',', '"', '\n', '\r\n', 'é', '€', ';'),
      maxLength: 6,
    }),
    fc.constant('x'),
  )
  const table = fc.integer({ min: 1, max: 4 }).chain(width =>
    fc.array(fc.array(field, { minLength: width, maxLength: width }), {
      minLength: 1,
      maxLength: 12,
    }),
  )
  const written = (value: string, always: boolean) =>
    always || value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value

  test('are found with their lines wherever the chunks of a file end', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(
        table,
        sizes,
        fc.boolean(),
        fc.constantFrom('\n', '\r\n'),
        async (data, chunks, always, lineEnd) => {
          const records = data.map(row => row.map(value => written(value, always)).join(','))
          const pieces = await cut(records.join(lineEnd), chunks)
          expect(pieces.map(row => fieldsOf(row.text, ','))).toEqual(data)
          let line = 1
          for (const [i, record] of records.entries()) {
            expect(pieces[i]!.line).toBe(line)
            line += record.split('\n').length
          }
        },
      ),
      { numRuns: runs(300) },
    )
  })

  test('the CSV parser finds the same records as an independent parser', async () => {
    const simple = fc.string({
      unit: fc.constantFrom('a', '1', '.', ',', '"', '\n', 'é'),
      minLength: 1,
      maxLength: 6,
    })
    const tables = fc.array(fc.array(simple, { minLength: 3, maxLength: 3 }), {
      minLength: 2,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(tables, async data => {
        const text = `a,b,c\n${data.map(row => row.map(value => written(value, false)).join(',')).join('\n')}\n`
        const schema = inferSchema(text, { col: ',', row: '\n', encl: '"' })
        const pieces = await cut(text, [7])
        expect(pieces.slice(1).map(row => fieldsOf(row.text, ','))).toEqual(
          initParser(schema).stringArrs(text) as string[][],
        )
      }),
      { numRuns: runs(200) },
    )
  })

  test('beyond a block and over many chunks are all there, once and in order', async () => {
    const text = Array.from({ length: 70_000 }, (_, i) => `${i}`).join('\n')
    const pieces = await cut(text, [65_536])
    expect(pieces.length).toBe(70_000)
    expect(pieces.every((one, i) => one.text === `${i}` && one.line === i + 1)).toBe(true)
    expect((await cut(text, [text.length])).length).toBe(70_000)
  })

  test('of two bytes each fill block after block without piling up', async () => {
    expect((await cut('1\n'.repeat(800_000), [524_288])).length).toBe(800_000)
  })

  test('a quote that is never closed costs its own line, not the rest of the file', async () => {
    const tail = Array.from({ length: 80_000 }, (_, i) => `c${i},2024-01-01,1`)
    for (const slips of [['x,"1', 'y,2,3', '"z"!,4'], ['x,"1']]) {
      const text = ['a,b,c', ...slips, ...tail].join('\n')
      const expected = text.split('\n').map((one, i) => ({ line: i + 1, text: one }))
      for (const size of [16_384, 65_536, 100_000])
        expect(await cut(text, [size])).toEqual(expected)
    }
    expect(fieldsOf('x,"1', ',')).toBeUndefined()
    expect(fieldsOf('"z"!,4', ',')).toBeUndefined()
  })

  test('a field in quotes of more than 64 KB is taken for a slip, however the file is cut into chunks', async () => {
    const text = `a,"${'x\n'.repeat(40_000)}",b\nlast,1,2\n`
    const counts = await Promise.all(
      [1000, 70_000, 200_000].map(async size => (await cut(text, [size])).length),
    )
    expect(new Set(counts).size).toBe(1)
    expect(counts[0]).toBe(40_002)
  })

  test('of NDJSON end with their line, quotes or not', async () => {
    expect(await cut('{"a":"1\n2"}\r\n\n{}', [4], undefined)).toEqual([
      { line: 1, text: '{"a":"1' },
      { line: 2, text: '2"}' },
      { line: 4, text: '{}' },
    ])
  })

  test('over a megabyte are refused', async () => {
    await expect(cut(`a\n${'x'.repeat(1_200_000)}`, [65_536])).rejects.toThrow(
      'x: line 2 is longer than 1 MB',
    )
  })

  test('the separator is the one of the first record outside quotes', () => {
    const cases = {
      'a;b;c': ';',
      'a\tb': '\t',
      '"a;b;c",d': ',',
      abc: ',',
      'a|b|c': '|',
      'a,b;c,d': ',',
    }
    for (const [text, separator] of Object.entries(cases)) expect(separatorOf(text)).toBe(separator)
  })
})

describe('rows that do not fit', () => {
  test('more fields than the names: a decimal comma is not read as a price', async () => {
    expect(await told('code,date,price\nWTI_USD,2024-03-28,83,17\n')).toEqual([
      '2 the row has 4 fields where the first has 3: put a field that contains , in double quotes',
    ])
  })

  test('a row with too few fields has missing values, and trailing empty fields are ignored', async () => {
    expect(await rows('code,date,price\nWTI_USD,2024-03-28\n')).toMatchObject([
      { rows: [{ price: undefined }] },
    ])
    expect(await told('code,date,price\nWTI_USD,2024-03-28,1,,\n')).toEqual([
      '2 WTI_USD 2024-03-28 1',
    ])
  })

  test('a line that is not a JSON object', async () => {
    const pieces = await told('{"code":"WTI_USD","date":"2024-03-28","price":1}\n{"code":\n[1]\n')
    expect(pieces.slice(1)).toEqual([
      '2 the line is not a JSON object: "{\\"code\\":"',
      '3 the line is not a JSON object: [1]',
    ])
  })
})

describe('sources', () => {
  test('an import source that does not exist or is a directory is named in the error', async () => {
    await expect(openSource(join(folder, 'none.csv'), bytes(), folder)).rejects.toThrow(
      'none.csv does not exist',
    )
    await expect(openSource(folder, bytes(), folder)).rejects.toThrow(
      'is a directory: name the files in it',
    )
  })

  test('standard input can be read twice and leaves nothing behind', async () => {
    const spool = join(folder, 'spool')
    mkdirSync(spool)
    const source = await openSource('-', bytes(plain.slice(0, 30), plain.slice(30)), spool)
    const table = await priceTableOf(source, request())
    const once = await read(table)
    expect(await read(table)).toEqual(once)
    expect(once.length).toBe(2)
    expect(source.name).toBe('standard input')
    await source.close()
    expect(readdirSync(spool)).toEqual([])
  })

  test('damaged gzip data is refused, not read as far as it goes', async () => {
    const packed = gzipSync(plain)
    await expect(rows(packed.subarray(0, packed.length - 6))).rejects.toThrow(
      'is cut off: its gzip data ends too early',
    )
    await expect(
      rows(Buffer.concat([packed.subarray(0, 14), Buffer.from('zzzzzzzz'), packed.subarray(22)])),
    ).rejects.toThrow('is damaged')
  })
})

needs('linux').test(
  'what came from standard input has no name while it is read: a killed process leaves nothing',
  async () => {
    const directory = mkdtempSync(join(folder, 'spool-'))
    const source = await openSource('-', bytes(plain), directory)
    const again = await spooled(source, directory, ['a,b\n', '1,2\n'])
    expect(readdirSync(directory)).toEqual([])
    for (let i = 0; i < 2; i += 1)
      expect(await Array.fromAsync(contentOf(source))).toEqual([Buffer.from(plain)])
    expect([again.sizeBytes, await Bun.file(again.path).text()]).toEqual([8, 'a,b\n1,2\n'])
    await again.close()
    expect(readdirSync(directory)).toEqual([])
  },
)
