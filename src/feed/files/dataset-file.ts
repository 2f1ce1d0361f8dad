import { isBlank, shown } from '../prices/rows.ts'
import { fieldsOf, separatorOf } from './csv.ts'
import type { Dataset } from './dataset.ts'
import { recordsOf } from './records.ts'
import { contentOf, headOf, type Source } from './source.ts'

/** What must be known of a dataset to read its files. */
export type Layout = Pick<Dataset<unknown>, 'name' | 'columns' | 'key' | 'wide'>

/** A row as it is sent: text from CSV, any JSON value from NDJSON, by column. */
export type Row = Record<string, unknown>

/** A file that has been understood: which of its columns is which of the dataset's. */
export interface DatasetTable {
  source: Source
  layout: Layout
  format: 'csv' | 'ndjson'
  separator: string
  lineEnd: number
  /** The names of the columns as they stand in the file; empty for NDJSON. */
  header: string
  names: string[]
  /** The file's own name of each column of the dataset that it has. */
  columns: ReadonlyMap<string, string>
  /** What each further column is named after, in a wide file. */
  wide: { name: string; column: string }[]
}

const plain = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')

/**
 * Reads the first bytes of a source. `mapping` has columns of the file by column of the dataset, or
 * by what a column of a wide file is named after. Throws a sentence.
 */
export async function datasetTable(
  source: Source,
  layout: Layout,
  mapping: ReadonlyMap<string, string>,
): Promise<DatasetTable> {
  const head = new TextDecoder().decode(await headOf(source))
  const start = head.trimStart()
  if (start === '') throw new Error(`${source.name} is empty`)
  if (start.startsWith('['))
    throw new Error(`${source.name} is one JSON array: write one object a line (NDJSON)`)
  const lineEnd = head.includes('\n') || !head.includes('\r') ? 10 : 13
  const firstLine = head.split(lineEnd === 10 ? /\r?\n/ : '\r').find(line => line.trim() !== '')!
  try {
    const format = start.startsWith('{') ? 'ndjson' : 'csv'
    const separator = format === 'csv' ? separatorOf(firstLine) : ','
    const names =
      format === 'csv' ? fieldsOf(firstLine, separator) : Object.keys(objectOf(firstLine) ?? {})
    if (!names) throw new Error('the names of its columns have a quote that is not closed')
    const { columns, wide } = columnsIn(names, layout, mapping)
    // Objects need not all have the same members.
    if (format === 'ndjson')
      for (const { name } of layout.columns) if (!columns.has(name)) columns.set(name, name)
    return {
      source,
      layout,
      format,
      separator,
      lineEnd,
      header: format === 'csv' ? firstLine : '',
      names,
      columns,
      wide,
    }
  } catch (error) {
    throw new Error(`${source.name}: ${(error as Error).message}`)
  }
}

function columnsIn(
  names: readonly string[],
  { name: dataset, columns, wide }: Layout,
  mapping: ReadonlyMap<string, string>,
) {
  const listed = `The columns of the file are: ${names.slice(0, 50).map(shown).join(', ')}.`
  const find = (key: string, column: string): string => {
    const found =
      names.find(name => name === column) ??
      names.find(name => name.toLowerCase() === column.toLowerCase())
    if (found === undefined)
      throw new Error(
        `--map ${key}=${column}: ${shown(column)} is not a column of the file. ${listed}`,
      )
    return found
  }
  const known = new Map<string, string>()
  const others: DatasetTable['wide'] = []
  for (const [key, column] of mapping) {
    const own = columns.find(one => one.name === key.toLowerCase())?.name
    if (own !== undefined) known.set(own, find(own, column))
    else if (wide) others.push({ name: key, column: find(key, column) })
    else
      throw new Error(
        `--map ${key}=…: ${shown(key)} is not a column of ${dataset}, which has ${columns.map(one => one.name).join(', ')}`,
      )
  }
  const mapped = new Set(known.keys())
  for (const { name } of columns) {
    const found = known.has(name) ? undefined : names.find(one => plain(one) === name)
    if (found !== undefined) known.set(name, found)
  }
  const needless = others.length > 0 && wide ? [wide.name, wide.value] : []
  const clash = needless.find(name => mapped.has(name))
  if (clash)
    throw new Error(
      `--map ${others[0]!.name}=… takes the ${wide!.value} from a column of its own: leave out ${clash}=…`,
    )
  const missing = columns.find(
    one => one.required && !known.has(one.name) && !needless.includes(one.name),
  )
  if (missing)
    throw new Error(
      `it has no column ${missing.name} (${missing.description}): say which it is with --map ${missing.name}=COLUMN. ${listed}`,
    )
  for (const name of needless) known.delete(name)
  return { columns: known, wide: others }
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

/**
 * One record of a file: its rows, several in a wide file, or the sentence that says why it can not
 * be read.
 */
export interface FileRecord {
  line: number
  text: string
  rows: Row[] | string
  /** Cells of a wide file that hold nothing. */
  blank: number
}

/** Every record of a table, block by block. */
export async function* fileRecords(
  table: DatasetTable,
  heard: (bytes: number) => void,
): AsyncGenerator<FileRecord[]> {
  const separator = table.format === 'csv' ? table.separator.charCodeAt(0) : undefined
  let header = table.format === 'csv'
  const framing = { name: table.source.name, separator, lineEnd: table.lineEnd }
  for await (const block of recordsOf(contentOf(table.source, heard), framing)) {
    const records: FileRecord[] = []
    for (let i = header ? 1 : 0; i < block.count; i++) {
      const text = Buffer.from(
        block.bytes.buffer,
        block.bytes.byteOffset + block.starts[i]!,
        block.ends[i]! - block.starts[i]!,
      ).toString()
      if (text.trim() !== '') records.push({ line: block.lines[i]!, text, ...rowsIn(table, text) })
    }
    header = false
    yield records
  }
}

function rowsIn(table: DatasetTable, text: string): { rows: Row[] | string; blank: number } {
  const cells =
    table.format === 'csv'
      ? cellsOf(table, text)
      : (objectOf(text) ?? 'the line is not a JSON object')
  if (typeof cells === 'string') return { rows: cells, blank: 0 }
  const row: Row = {}
  for (const [name, column] of table.columns)
    if (cells[column] !== undefined) row[name] = cells[column]
  if (table.wide.length === 0) return { rows: [row], blank: 0 }
  const { name: named, value } = table.layout.wide!
  const filled = table.wide.filter(
    ({ column }) => cells[column] !== undefined && !isBlank(cells[column]),
  )
  return {
    rows: filled.map(({ name, column }) => ({ ...row, [named]: name, [value]: cells[column] })),
    blank: table.wide.length - filled.length,
  }
}

function cellsOf(
  { names, separator }: DatasetTable,
  text: string,
): Record<string, unknown> | string {
  const fields = fieldsOf(text, separator)
  if (!fields)
    return 'the row has a quote that is not closed, or text after a closing quote: write a quote inside a field twice'
  if (fields.slice(names.length).some(field => field !== ''))
    return `the row has ${fields.length} fields where the first has ${names.length}: put a field that contains ${shown(separator)} in double quotes`
  return Object.fromEntries(names.map((name, i) => [name, fields[i]]))
}
