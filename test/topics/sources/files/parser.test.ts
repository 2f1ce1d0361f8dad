import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { parseInstant } from '../../../../src/lib/time/instant.ts'
import { contentBytesMax, sourceConfig } from '../../../../src/plans/source-config.ts'
import { shippedPorts } from '../../../../src/topics/catalogue/files/ports.ts'
import { createSourceParser } from '../../../../src/topics/sources/files/parser.ts'

const now = parseInstant('2026-11-20T15:00:00Z')!
const reader = createSourceParser(shippedPorts())
const read = (
  content: string | Uint8Array,
  config: Record<string, unknown> = {},
  mask = (text: string) => text,
) =>
  reader.read(
    typeof content === 'string' ? Buffer.from(content) : content,
    sourceConfig(config).config,
    mask,
    now,
  )
const row = {
  timestamp: '2026-11-20T09:30:00Z',
  fuel_type: 'VLSFO',
  port: 'SINGAPORE',
  price: 531.5,
}
const taken = {
  observedAt: parseInstant('2026-11-20T09:30:00Z')!,
  fuelType: 'VLSFO',
  port: 'SINGAPORE',
  region: 'APAC',
  currency: 'USD',
  price: 531.5,
}

describe('createSourceReader: rows are the same, however they are written', () => {
  const csv = 'timestamp,fuel_type,port,price\n2026-11-20T09:30:00Z,VLSFO,Singapore,531.5\n'
  test.each([
    ['a list', JSON.stringify([row]), {}],
    ['a list in an object', JSON.stringify({ data: { prices: [row] } }), { items: 'data.prices' }],
    ['an object by itself', JSON.stringify(row), {}],
    ['an object in an object', JSON.stringify({ latest: row, other: [] }), { items: 'latest' }],
    ['a list in a list', JSON.stringify([[], [row]]), { items: '1' }],
    ['NDJSON', `${JSON.stringify(row)}\n\n${JSON.stringify(row)}\n`, {}],
    ['one object a line', `${JSON.stringify(row)}\n`, { format: 'ndjson' }],
    ['CSV', csv, {}],
    ['CSV with semicolons', csv.replaceAll(',', ';'), {}],
    ['CSV with tabs, quotes, line breaks of another system and a mark', `\ufeff${csv.replaceAll(',', '\t').replace('Singapore', '"Singapore"').replaceAll('\n', '\r\n')}`, {}],
    ['gzip', gzipSync(csv), {}],
    ['other names, deeper', JSON.stringify([{ at: row.timestamp, what: 'vlsfo_05s', usd: { mid: '531.50' }, where: [{ code: 'SGSIN' }] }]), { fields: { timestamp: 'at', fuel_type: 'what', price: 'usd.mid', port: 'where.0.code' } }],
    ['with stand-ins', JSON.stringify([{ time: row.timestamp, value: 531.5 }]), { defaults: { fuel_type: 'VLSFO', port: 'SIN' } }],
    ['Unix seconds', JSON.stringify([{ ...row, timestamp: taken.observedAt / 1000 }]), {}],
    ['Unix milliseconds as text', JSON.stringify([{ ...row, timestamp: String(taken.observedAt) }]), {}],
    ['with a currency, a unit and a region that says otherwise', JSON.stringify([{ ...row, currency: 'usd', unit: 'MT', region: 'EMEA' }]), {}],
  ])('%s', async (_, content, config) => {
    expect(await read(content, config)).toMatchObject({ rows: [taken], rejected: 0 })
  }) // biome-ignore format: a table

  test('fields of quoted CSV may hold separators, quotes and line breaks', async () => {
    const csv =
      'timestamp,fuel_type,port,price,note\n2026-11-20,MGO,"Las ""Palmas"", ES",700,"two\nlines"\n2026-11-19,MGO,SIN,701,\n'
    const result = await read(csv, { defaults: { region: 'emea' } })
    expect(result).toMatchObject({
      rows: [
        { port: 'LAS_PALMAS_ES', region: 'EMEA', price: 700 },
        { port: 'SINGAPORE', price: 701 },
      ],
    })
  })
})

describe('createSourceReader: an invalid row is named, and the others are accepted', () => {
  test.each([
    [{ price: undefined }, 'price is missing: write a decimal number'],
    [{ price: '' }, 'price is missing: write a decimal number'],
    [{ price: 'n/a' }, 'price is missing: write a decimal number'],
    [{ price: '5 31' }, /^price 5 31 is not a plain number/],
    [{ price: { a: 1 } }, /^price .* has the wrong type/],
    [{ price: 0 }, /^price 0 must be a price per metric ton above 0/],
    [{ price: -3 }, /^price -3 must be a price per metric ton above 0/],
    [{ timestamp: undefined }, /^timestamp is missing/],
    [{ timestamp: '2026-02-30' }, /^timestamp 2026-02-30 is not a time/],
    [{ timestamp: '2026-11-20 09:30' }, /^timestamp 2026-11-20 09:30 has no zone/],
    [{ timestamp: '2026-11-22T00:00:00Z' }, /^timestamp .* is in the future/],
    [{ timestamp: 1e300 }, /^timestamp /],
    [{ timestamp: 20261120 }, /^timestamp 20261120 has the wrong type/],
    [{ fuel_type: undefined }, /^fuel_type is missing/],
    [{ fuel_type: '--' }, /^fuel_type "?--"? is not accepted/],
    [{ port: undefined }, /^port is missing/],
    [{ region: 'Atlantis' }, undefined],
    [{ port: 'Algeciras', region: 'Atlantis' }, /^region Atlantis is not known/],
    [{ currency: 'dollars' }, /^currency dollars must be a three-letter currency code/],
    [{ unit: 'gallon' }, /^unit gallon is not the metric ton/],
  ])('%j', async (change, reason) => {
    const result = await read(
      JSON.stringify([
        { ...row, ...change },
        { ...row, port: 'RTM' },
      ]),
    )
    const { rows, rejected, rejections, received } = result as Exclude<
      typeof result,
      { fault: string }
    >
    expect({ received, rejected, length: rows.length }).toEqual({
      received: 2,
      rejected: reason === undefined ? 0 : 1,
      length: reason === undefined ? 2 : 1,
    })
    if (reason === undefined) return
    expect(rejections).toEqual([
      expect.stringMatching(
        reason instanceof RegExp
          ? new RegExp(reason.source.replace('^', '^row 1: '))
          : `row 1: ${reason}`,
      ),
    ])
  })
  test('a source row that is not an object, has too many fields or has an open quote is rejected by name', async () => {
    expect(await read(JSON.stringify([5, null, row]))).toMatchObject({ rejected: 2, rows: [taken] })
    expect(await read('{"a":1}\nnonsense\n', { format: 'ndjson' })).toMatchObject({ rejected: 2 })
    expect(
      await read(
        `timestamp,fuel_type,port,price\n2026-11-20,VLSFO,SIN,531.5,more\n2026-11-19,VLSFO,SIN,530\n`,
      ),
    ).toMatchObject({
      rejected: 1,
      rows: [{ price: 530 }],
    })
    expect(
      await read(
        `timestamp,fuel_type,port,price\n2026-11-19,VLSFO,SIN,530\n2026-11-20,VLSFO,"SIN,531.5\n`,
      ),
    ).toMatchObject({
      rejected: 1,
      rows: [{ price: 530 }],
    })
  })
  test('only the first twenty of many are named', async () => {
    const result = await read(JSON.stringify(Array.from({ length: 30 }, () => ({}))))
    expect(result).toMatchObject({ received: 30, rejected: 30, rows: [] })
    expect((result as { rejections: string[] }).rejections.length).toBe(20)
  })
})

test('of rows that agree in time, fuel and port the last counts', async () => {
  const result = await read(JSON.stringify([row, { ...row, port: 'sin', price: 540 }]))
  expect(result).toMatchObject({ received: 2, rejected: 0, rows: [{ ...taken, price: 540 }] })
})

describe('createSourceReader: what has no rows says why', () => {
  const names = (length: number) => `[${'{},'.repeat(length - 1)}{}]`
  test.each([
    ['', {}, 'it is empty'],
    ['{"a":', { format: 'json' }, 'it is not JSON'],
    ['<html>', { format: 'json' }, 'it is not JSON'],
    ['"text"', { format: 'json' }, 'it is not a list of objects'],
    [
      '{"data":[]}',
      {},
      'it is an object: name the list in it with scraper_config.items, such as data',
    ],
    [
      '{"data":{"rows":5}}',
      { items: 'data.rows' },
      'it has no list at data.rows, which scraper_config.items names',
    ],
    [
      '{"data":[]}',
      { items: '__proto__.x' },
      'it has no list at __proto__.x, which scraper_config.items names',
    ],
    [names(5_001), {}, 'it has more than the 5000 rows that are read at a time'],
    [`a\n${'1\n'.repeat(5_001)}`, {}, 'it has more than the 5000 rows that are read at a time'],
    [
      '{}\n'.repeat(5_001),
      { format: 'ndjson' },
      'it has more than the 5000 rows that are read at a time',
    ],
    [gzipSync(Buffer.alloc(contentBytesMax + 1, 32)), {}, 'it is longer than 4 MB when unpacked'],
    [gzipSync('{}').subarray(0, 12), {}, 'its gzip data is damaged or cut off'],
    [new Uint8Array([0x5b, 0xff, 0xfe]), {}, 'it is not UTF-8 text'],
  ])('%#', async (content, config, fault) => {
    expect(await read(content, config)).toEqual({ fault })
  })
  test('an empty list is accepted', async () => {
    expect(await read('[]')).toEqual({ rows: [], received: 0, rejected: 0, rejections: [] })
    expect(await read('timestamp,price\n')).toEqual({
      rows: [],
      received: 0,
      rejected: 0,
      rejections: [],
    })
  })
})

test('source secrets are masked before any row is parsed', async () => {
  const mask = (text: string) => text.replaceAll('SECRET', '[redacted]')
  const result = await read(
    JSON.stringify([
      { ...row, price: 'SECRET' },
      { ...row, port: 'SECRET' },
    ]),
    {},
    mask,
  )
  expect(JSON.stringify(result)).not.toContain('SECRET')
})
