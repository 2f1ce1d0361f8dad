import { type ColumnRequest, type Columns, columnsIn, positionsIn } from '../files/columns.ts'
import { fieldsOf, separatorOf } from '../files/csv.ts'
import { type Block, recordsOf } from '../files/records.ts'
import { contentOf, headOf, type Source } from '../files/source.ts'
import { type RawRow, shown } from './rows.ts'

/**
 * A file whose first bytes have been understood: what it is and where the values of a row stand.
 */
export type Table = CsvTable | JsonTable

interface CsvTable {
  format: 'csv'
  source: Source
  separator: string
  lineEnd: number
  /** The first record, when it is the names of the columns. */
  header: string | undefined
  columns: Columns<number>
  width: number
}

interface JsonTable {
  format: 'ndjson'
  source: Source
  lineEnd: number
  columns: Columns<string>
}

/**
 * Reads the first bytes of a source. Throws a sentence that names the file when nothing could be
 * read from it as asked.
 */
export async function tableOf(source: Source, request: ColumnRequest): Promise<Table> {
  const head = new TextDecoder().decode(await headOf(source))
  const lineEnd = head.includes('\n') || !head.includes('\r') ? 10 : 13
  const start = head.trimStart()
  if (start === '') throw new Error(`${source.name} is empty`)
  if (start.startsWith('['))
    throw new Error(`${source.name} is one JSON array: write one object a line (NDJSON)`)
  try {
    return start.startsWith('{')
      ? jsonTable(source, head, lineEnd, request)
      : await csvTable(source, head, lineEnd, request)
  } catch (error) {
    throw new Error(`${source.name}: ${(error as Error).message}`)
  }
}

async function csvTable(
  source: Source,
  head: string,
  lineEnd: number,
  request: ColumnRequest,
): Promise<CsvTable> {
  const firstLine = head.split(lineEnd === 10 ? /\r?\n/ : '\r').find(line => line !== '')!
  const separator = separatorOf(firstLine)
  // The first record, not the first line: a column's name may hold a line break.
  let first = firstLine
  for await (const block of recordsOf(single(head), {
    name: source.name,
    separator: separator.charCodeAt(0),
    lineEnd,
  })) {
    first = recordText(block, 0)
    break
  }
  const fields = fieldsOf(first, separator)
  if (!fields)
    throw new Error('the names of the columns in its first line have a quote that is not closed')
  const { columns, header } = positionsIn(fields, request)
  return {
    format: 'csv',
    source,
    separator,
    lineEnd,
    header: header ? first : undefined,
    columns,
    width: fields.length,
  }
}

async function* single(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

function jsonTable(
  source: Source,
  head: string,
  lineEnd: number,
  request: ColumnRequest,
): JsonTable {
  for (const line of head.split(lineEnd === 10 ? '\n' : '\r')) {
    const object = objectOf(line)
    if (!object) continue
    const columns = columnsIn(Object.keys(object), request)
    // Objects need not all have the same members: a later one may name the currency that the first
    // left out.
    const wide =
      columns.values.length !== 1 || (columns.code === undefined && request.series === undefined)
    return {
      format: 'ndjson',
      source,
      lineEnd,
      columns: { ...columns, currency: columns.currency ?? (wide ? undefined : 'currency') },
    }
  }
  throw new Error('none of its first lines is a JSON object: write one object a line (NDJSON)')
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Every record of a table, block by block. */
export async function* blocksOf(
  table: Table,
  heard?: (bytes: number) => void,
): AsyncGenerator<Block> {
  const separator = table.format === 'csv' ? table.separator.charCodeAt(0) : undefined
  let first = table.format === 'csv' && table.header !== undefined ? 1 : 0
  const framing = { name: table.source.name, separator, lineEnd: table.lineEnd }
  for await (const block of recordsOf(contentOf(table.source, heard), framing)) {
    block.first = first
    yield block
    first = 0
  }
}

export const recordText = (block: Block, i: number): string =>
  Buffer.from(
    block.bytes.buffer,
    block.bytes.byteOffset + block.starts[i]!,
    block.ends[i]! - block.starts[i]!,
  ).toString()

/**
 * The rows of one record, several in a wide file, none in a line of spaces; or the sentence that
 * says why it cannot be read.
 */
export function rowsIn(table: Table, text: string): RawRow[] | string {
  if (text.trim() === '') return []
  return table.format === 'csv' ? csvRows(table, text) : jsonRows(table.columns, text)
}

function csvRows({ columns, separator, width }: CsvTable, text: string): RawRow[] | string {
  const fields = fieldsOf(text, separator)
  if (!fields)
    return 'the row has a quote that is not closed, or text after a closing quote: write a quote inside a field twice'
  const surplus = fields.slice(width).some(field => field !== '')
  if (surplus)
    return `the row has ${fields.length} fields where the first has ${width}: put a field that contains ${shown(separator)} in double quotes`
  const at = (place: number | undefined) => (place === undefined ? undefined : fields[place])
  return rows(columns, at)
}

function jsonRows(columns: Columns<string>, text: string): RawRow[] | string {
  const object = objectOf(text)
  if (!object) return `the line is not a JSON object: ${shown(text)}`
  return rows(columns, name => (name === undefined ? undefined : object[name]))
}

function rows<Place>(
  { code, observedAt, currency, values }: Columns<Place>,
  at: (place: Place | undefined) => unknown,
): RawRow[] {
  const [time, unit] = [at(observedAt), at(currency)]
  return values.map(value => ({
    code: value.code ?? at(code),
    observedAt: time,
    price: at(value.place),
    currency: unit,
  }))
}
