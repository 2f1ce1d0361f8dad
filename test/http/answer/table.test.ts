import { describe, expect, test } from 'bun:test'
import { tableFromIPC } from 'apache-arrow'
import { parquetReadObjects } from 'hyparquet'
import { sheetRows } from '../../../src/feeds/reading/workbook.ts'
import { dayMs } from '../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../support/instance/instance.ts'

type Row = Record<string, unknown>

const instance = openTestInstance()
const token = instance.key('enterprise')
const prices = Array.from({ length: 300 }, (_, i) => 60 + i / 10)
instance.record('WTI_USD', prices, startAt - 310 * dayMs, dayMs)
instance.services.fracDisclosures.write(
  [
    [31.8637, -102.0319, '<sand> & "water"\u0001'],
    [null, null, '=cmd|calc'],
  ].map(([latitude, longitude, wellName], i) => ({
    reference: String(i),
    apiNumber: `4232940001000${i}`,
    state: 'TX',
    county: 'Midland',
    operator: 'Juniper Ridge Operating, LLC',
    wellName: String(wellName),
    startedOn: '2026-09-28',
    endedOn: `2026-10-1${4 - i}`,
    latitude: latitude as number | null,
    longitude: longitude as number | null,
    waterGallons: 1e6,
    nonWaterGallons: 0,
    source: 'registry',
  })),
  startAt,
)

const paths = [
  '/v1/prices/past_year?by_code=WTI_USD&interval=raw',
  '/v1/prices/historical?by_code=WTI_USD&start_date=2026-01-01&interval=1d',
  '/v1/ei/frac-focus',
]

async function bytesOf(path: string, format: string): Promise<Uint8Array<ArrayBuffer>> {
  const separator = path.includes('?') ? '&' : '?'
  const response = await instance.get(`${path}${separator}format=${format}`, token)
  expect(response.status, await response.clone().text()).toBe(200)
  expect(response.headers.get('content-disposition')).toEndWith(`.${format}"`)
  return new Uint8Array(await response.arrayBuffer())
}

/** The rows as JSON has them, page after page. */
async function listed(path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; ; page += 1) {
    const separator = path.includes('?') ? '&' : '?'
    const response = await instance.get(`${path}${separator}page=${page}&per_page=100`, token)
    const { data } = (await response.json()) as { data: Row[] | { prices: Row[] } }
    rows.push(...(Array.isArray(data) ? data : data.prices))
    if (response.headers.get('x-has-next') === 'false') return rows
  }
}

/** What does not depend on the format: instants as text, and nothing for null. */
const plain = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [
        name,
        value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : value,
      ]),
  )
const expected = async (path: string) =>
  (await listed(path))
    .map(row => plain(row))
    .map(row => JSON.parse(JSON.stringify(row).replaceAll('.000Z', 'Z')))

describe.each(paths)('%s', path => {
  test('is a Parquet file with every row of the list', async () => {
    const file = (await bytesOf(path, 'parquet')).buffer
    expect((await parquetReadObjects({ file })).map(plain)).toEqual(await expected(path))
  })

  test('is an Arrow stream with every row of the list', async () => {
    const table = tableFromIPC(await bytesOf(path, 'arrow'))
    const instants = new Set(
      table.schema.fields
        .filter(({ type }) => String(type).startsWith('Timestamp'))
        .map(({ name }) => name),
    )
    const rows = table
      .toArray()
      .map(row =>
        Object.fromEntries(
          Object.entries(row!.toJSON() as Row).map(([name, value]) => [
            name,
            instants.has(name) && value !== null ? new Date(Number(value)) : value,
          ]),
        ),
      )
    expect(rows.map(plain)).toEqual(await expected(path))
  })

  test('is a workbook with every row of the list', async () => {
    const rows = []
    for await (const { cells } of sheetRows(await bytesOf(path, 'xlsx'), () => true))
      rows.push(cells)
    const [names, ...values] = rows
    const wanted = await expected(path)
    expect(values.length).toBe(wanted.length)
    const column = (name: string) => values.map(cells => cells[names!.indexOf(name)])
    const [text, number] = path.includes('prices') ? ['code', 'price'] : ['well_name', 'latitude']
    expect(column(number!)).toEqual(wanted.map(row => row[number!] as number | undefined))
    expect(column(text!)).toEqual(wanted.map(row => String(row[text!]).replace('\u0001', '\ufffd')))
  })
})

test('a list is CSV whose text no spreadsheet runs as a formula', async () => {
  const text = Buffer.from(await bytesOf('/v1/ei/frac-focus', 'csv')).toString()
  expect(text.split('\n')[0]).toStartWith('id,api_number,state')
  expect(text).toContain("'=cmd|calc")
})

test('an empty list is a file without rows', async () => {
  const file = (await bytesOf('/v1/ei/frac-focus?states=ND', 'parquet')).buffer
  expect(await parquetReadObjects({ file })).toEqual([])
})

test('the CSV of an empty list has the header of the declared columns', async () => {
  const headerOf = async (path: string) => {
    const [header = '', ...rows] = (await (await instance.get(path, token)).text()).split('\n')
    return { names: header.split(','), rows: rows.filter(row => row !== '').length }
  }
  const full = await headerOf('/v1/ei/frac-focus?format=csv')
  const empty = await headerOf('/v1/ei/frac-focus?format=csv&states=ND')
  expect({ full: full.rows, empty: empty.rows }).toEqual({ full: 2, empty: 0 })
  expect(empty.names.toSorted()).toEqual(full.names.toSorted())
  // Objects within its rows have columns too.
  const permits = await headerOf('/v1/ei/well-permits?format=csv&states=ND')
  expect(permits.rows).toBe(0)
  expect(permits.names).toContain('operator.name')
})

test.each([
  ['/v1/futures/ice-brent/curve', 'settlement_price'],
  ['/v1/well-production/states', 'oil_bbl'],
])('%s, a list without pages, is a file too', async (path, column) => {
  const response = await instance.get(`${path}?format=csv`, token)
  expect({ status: response.status, contentType: response.headers.get('content-type') }).toEqual({
    status: 200,
    contentType: 'text/csv; charset=utf-8',
  })
  expect((await response.text()).split('\n')[0]!.split(',')).toContain(column)
})

test('disclosures with a position are points of a map in GeoJSON', async () => {
  const response = await instance.get('/v1/ei/frac-focus?format=geojson', token)
  expect(response.headers.get('content-type')).toBe('application/geo+json')
  const { features } = (await response.json()) as {
    features: { geometry: { coordinates: number[] }; properties: Row }[]
  }
  expect(features.map(({ geometry }) => geometry.coordinates)).toEqual([[-102.0319, 31.8637]])
  expect(features[0]!.properties.api_number).toBe('42329400010000')
})

test('a page of a file is the page of the list, and an unknown format is refused', async () => {
  const file = (await bytesOf('/v1/ei/frac-focus?per_page=1&page=2', 'parquet')).buffer
  expect((await parquetReadObjects({ file })).map(row => row.well_name)).toEqual(['=cmd|calc'])
  const refused = await instance.get('/v1/ei/frac-focus?format=pdf', token)
  expect(refused.status).toBe(400)
  expect(await refused.text()).toContain('geojson')
})
