import { type Kind, type Kinds, type Table, tableOf } from '../../lib/tables/table.ts'
import { csvText } from '../../lib/text/csv.ts'
import { fieldsOf, isObject } from '../../lib/text/json.ts'
import { t } from './schema.ts'

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

/** Loads the library of a format on first use. */
function write(format: Exclude<TableFormat, 'geojson'>, table: Table): string | Uint8Array {
  switch (format) {
    case 'csv':
      return csvOf(table)
    case 'parquet': {
      const { parquetFile } = require('../../lib/tables/parquet.ts') as ParquetModule
      return Buffer.concat([...parquetFile('rows', table.kinds, table.rows, 'SNAPPY')])
    }
    case 'arrow':
      return (require('../../lib/tables/arrow.ts') as ArrowModule).arrowTable(table)
    case 'xlsx':
      return (require('../../lib/tables/xlsx.ts') as XlsxModule).xlsxTable(table)
  }
}

function csvOf({ kinds, rows }: Table): string {
  const names = Object.keys(kinds)
  const cellOf = (cell: Table['rows'][number][string] = null) =>
    typeof cell === 'boolean' ? String(cell) : cell
  return csvText([names, ...rows.map(row => names.map(name => cellOf(row[name])))])
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

export const FeatureMap = t.object('FeatureCollection', {
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

type Schema = Readonly<{
  type?: string
  format?: string
  items?: Schema
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  'x-serialised'?: Schema
}>

/** What a schema says of values that are not null. */
const plain = (schema: Schema): Schema => {
  const inner = schema['x-serialised'] ?? schema.anyOf?.find(({ type }) => type !== 'null')
  return inner ? plain(inner) : schema
}

/** The schema of the rows in an answer, found as the rows are. */
function rowSchemaOf(schema: Schema): Schema | undefined {
  const { items, properties = {} } = plain(schema)
  if (items) return plain(items)
  if (properties.data) return rowSchemaOf(properties.data)
  const list = Object.values(properties).map(plain).find(isOfRows)
  return list?.items && plain(list.items)
}

const isOfRows = ({ items }: Schema) => items !== undefined && 'properties' in plain(items)

const kinds: Readonly<Record<string, Kind>> = {
  number: 'number',
  integer: 'number',
  boolean: 'flag',
  'date-time': 'instant',
}

function declaredColumns({ properties = {} }: Schema, prefix = ''): [string, Kind][] {
  return Object.entries(properties).flatMap(([name, declared]): [string, Kind][] => {
    const schema = plain(declared)
    return schema.properties
      ? declaredColumns(schema, `${prefix}${name}.`)
      : [[prefix + name, kinds[schema.format ?? schema.type ?? ''] ?? 'text']]
  })
}

/** The columns of the list that an answer declares, for the file of a list without rows. */
const declaredKinds = (answer: object | undefined): Kinds =>
  Object.fromEntries(declaredColumns(rowSchemaOf((answer ?? {}) as Schema) ?? {}))

/** The list that a handler returned, as a file. */
export function tableAnswer(
  format: TableFormat,
  answer: unknown,
  { headers }: { headers: Record<string, string | number> },
  { path, answers = {} }: { path: string; answers?: Readonly<Record<number, object>> },
): unknown {
  if (answer instanceof Response) return answer
  const isText = typeof answer === 'string' || answer instanceof Uint8Array
  const isLines = String(headers['content-type']).startsWith('application/x-ndjson')
  const rows = rowsOf(isText ? parsed(Buffer.from(answer).toString(), isLines) : answer)
  headers['content-type'] = types[format]
  // The tag belongs to the JSON body.
  delete headers.etag
  if (format === 'geojson')
    return JSON.stringify({ type: 'FeatureCollection', features: rows.flatMap(featureOf) })
  const name = path.split('/').findLast(part => part !== '' && !part.startsWith(':'))
  headers['content-disposition'] = `attachment; filename="${name}.${format}"`
  return write(
    format,
    rows.length > 0 ? tableOf(rows) : { kinds: declaredKinds(answers[200]), rows: [] },
  )
}
