import { t } from 'elysia'
import { type Column, columnsOf } from '../../lib/tables/table.ts'
import { csvText } from '../../lib/text/csv.ts'
import { fieldsOf, isObject } from '../../lib/text/json.ts'
import { isoInstant } from '../../lib/time/instant.ts'
import { object } from './schema.ts'

/** The files for tables that a list can be, with their media types. */
const types = {
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  geojson: 'application/geo+json',
}
export type TableFormat = keyof typeof types
/** The binary ones. */
export const binaryFormats = ['parquet', 'arrow', 'xlsx'] as const
export const tableFormats = ['csv', ...binaryFormats] as const

/** Rows of a file, if no page is requested. */
export const tableRowsMax = 10_000

export const tableFormatOf = (text: string | undefined): TableFormat | undefined =>
  (Object.keys(types) as TableFormat[]).find(name => name === text?.toLowerCase())

type ParquetModule = typeof import('../../lib/tables/parquet.ts')
type ArrowModule = typeof import('../../lib/tables/arrow.ts')
type XlsxModule = typeof import('../../lib/tables/xlsx.ts')

/** Loads the library of a format when it is first requested. */
function write(format: TableFormat, rows: readonly Row[]): string | Uint8Array {
  switch (format) {
    case 'csv':
      return csvOf(columnsOf(rows))
    case 'parquet':
      return (require('../../lib/tables/parquet.ts') as ParquetModule).parquetTable(columnsOf(rows))
    case 'arrow':
      return (require('../../lib/tables/arrow.ts') as ArrowModule).arrowTable(columnsOf(rows))
    case 'xlsx':
      return (require('../../lib/tables/xlsx.ts') as XlsxModule).xlsxTable(columnsOf(rows))
    case 'geojson':
      return JSON.stringify({ type: 'FeatureCollection', features: rows.flatMap(featureOf) })
  }
}

function csvOf(columns: readonly Column[]): string {
  const cellOf = ({ kind, cells }: Column, row: number) => {
    const cell = cells[row] ?? null
    if (typeof cell === 'boolean') return String(cell)
    return kind === 'instant' && cell !== null ? isoInstant(Number(cell)) : cell
  }
  const rows = (columns[0]?.cells ?? []).map((_, row) => columns.map(column => cellOf(column, row)))
  return csvText([columns.map(({ name }) => name), ...rows])
}

/** A row with a position as a point on a map (RFC 7946). */
function featureOf(row: Row) {
  const { location, ...rest } = row
  const { latitude, longitude, ...land } = isObject(location) ? location : row
  if ((latitude ?? longitude ?? null) === null) return []
  return {
    type: 'Feature',
    id: row.api_number ?? undefined,
    geometry: { type: 'Point', coordinates: [Number(longitude), Number(latitude)] },
    properties: isObject(location) ? { ...rest, location: land } : land,
  }
}

export const FeatureMap = object('FeatureCollection', {
  type: t.Literal('FeatureCollection'),
  features: t.Array(
    t.Object({
      type: t.Literal('Feature'),
      id: t.Optional(t.String({ description: 'API number.', examples: ['42-329-40001'] })),
      geometry: t.Object({
        type: t.Literal('Point'),
        coordinates: t.Array(t.Number(), { description: 'Longitude and latitude in degrees.' }),
      }),
      properties: t.Object({}, { additionalProperties: true, description: 'As in the list.' }),
    }),
  ),
})

type Row = Readonly<Record<string, unknown>>

const isList = (value: unknown): value is Row[] => Array.isArray(value) && value.every(isObject)

/** The list of an answer: `data`, or the first list within it. */
function rowsOf(body: unknown): readonly Row[] {
  if (isList(body)) return body
  const { data } = fieldsOf(body)
  if (isList(data)) return data
  return Object.values(isObject(data) ? data : fieldsOf(body)).find(isList) ?? []
}

const parsed = (text: string, isLines: boolean): unknown =>
  isLines
    ? text.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as unknown]))
    : JSON.parse(text)

/** The list that a handler returned, as a file. */
export function tableAnswer(
  format: TableFormat,
  answer: unknown,
  { headers }: { headers: Record<string, string | number> },
  path: string,
): unknown {
  if (answer instanceof Response) return answer
  const isText = typeof answer === 'string' || answer instanceof Uint8Array
  const isLines = String(headers['content-type']).startsWith('application/x-ndjson')
  const rows = rowsOf(isText ? parsed(Buffer.from(answer).toString(), isLines) : answer)
  const name = path.split('/').findLast(part => part !== '' && !part.startsWith(':'))
  headers['content-type'] = types[format]
  if (format !== 'geojson')
    headers['content-disposition'] = `attachment; filename="${name}.${format}"`
  // That of the JSON.
  delete headers.etag
  return write(format, rows)
}
