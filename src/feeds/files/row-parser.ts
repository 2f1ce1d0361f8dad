import { isBlank, shown } from '../../datasets/cell.ts'
import { fieldsOf } from './csv.ts'
import type { Dataset } from './dataset.ts'
import {
  type FileImport,
  type FileParser,
  hashOf,
  type ImportReport,
  type ItemWriter,
  importFiles,
  type ReadableFile,
  type RowListener,
} from './import.ts'
import type { Mapping } from './mapping.ts'
import { type Spelling, type SpellingOptions, spellingOf } from './spelling.ts'
import {
  blocksOf,
  csvFieldsOf,
  type FileForm,
  type FileHead,
  fileHeadOf,
  objectOf,
  recordText,
} from './table.ts'

/** What must be known of a dataset to read its files. */
export type Layout = Pick<Dataset<unknown>, 'name' | 'columns' | 'key' | 'wide'>

/** A row as it is sent: text from CSV, any JSON value from NDJSON, by column. */
export type Row = Record<string, unknown>

/**
 * Where rows are judged and written: a dataset judges its rows where it is written, because only
 * there is known what they refer to. Each call is all or nothing.
 */
export type RowWriter = Pick<ItemWriter<Row>, 'batchMax' | 'write' | 'begin' | 'end'>

export interface DatasetImport extends FileImport {
  layout: Layout
  mapping: Mapping
  spelling?: SpellingOptions
  writer: RowWriter
}

/**
 * Imports files of a dataset one after the other. Throws a sentence, before anything is written,
 * when one of them can not be read as asked; afterwards only if the writer does.
 */
export const importDataset = (request: DatasetImport): Promise<ImportReport> => {
  const { layout, mapping, writer, spelling = {} } = request
  return importFiles(request, createRowParser(layout, mapping, spellingOf(spelling)), {
    batchMax: writer.batchMax,
    judges: true,
    write: (rows, dryRun) => writer.write(rows, dryRun),
    begin: file => writer.begin?.(file),
    end: left => writer.end?.(left),
  })
}

/** A file of a dataset: which of its columns is which of the dataset's. */
interface RowTable extends FileForm {
  layout: Layout
  hasHeader: boolean
  /** The names of the columns as they stand in the file; of NDJSON those of its first object. */
  names: string[]
  /** The file's own name of each column of the dataset that it has. */
  columns: ReadonlyMap<string, string>
  /** What each further column is named after, in a wide file. */
  wide: { name: string; column: string }[]
  spelling: Spelling | undefined
}

/**
 * Reads the files of any dataset. `mapping` has columns of the file by column of the dataset, or by
 * what a column of a wide file is named after.
 */
export const createRowParser = (
  layout: Layout,
  mapping: Mapping,
  spelling?: Spelling,
): FileParser<Row> => ({
  async open(source) {
    const head = await fileHeadOf(source)
    try {
      const table = rowTableOf(head, layout, mapping)
      return readableOf({ ...table, spelling }, head)
    } catch (error) {
      const { hint } = source
      throw new Error(`${source.name}: ${(error as Error).message}${hint ? ` ${hint}` : ''}`)
    }
  },
})

const plain = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')

function rowTableOf(
  { form, firstRecord }: FileHead,
  layout: Layout,
  mapping: Mapping,
): Omit<RowTable, 'spelling'> {
  const isCsv = form.format === 'csv'
  const names = isCsv
    ? fieldsOf(firstRecord, form.separator)
    : Object.keys(objectOf(firstRecord) ?? {})
  if (!names) throw new Error('the names of its columns have a quote that is not closed')
  const { columns, wide } = columnsIn(names, layout, mapping)
  // Objects need not all have the same members.
  if (!isCsv) for (const { name } of layout.columns) if (!columns.has(name)) columns.set(name, name)
  return { ...form, layout, hasHeader: isCsv, names, columns, wide }
}

function readableOf(table: RowTable, { firstRecord }: FileHead): ReadableFile<Row> {
  const { source, format, separator } = table
  return {
    source,
    rejectedForm:
      format === 'csv' ? { format, separator, header: firstRecord } : { format: 'ndjson' },
    repeats: table.layout.key ? 'by_hash' : 'none',
    async *read(listener, received) {
      for await (const block of blocksOf(table, received)) {
        for (let i = block.first; i < block.count; i += 1) {
          const text = recordText(block, i)
          if (text.trim() !== '') readRecord(table, text, block.lines[i]!, listener)
        }
        yield
      }
    },
  }
}

const keyOf = (key: readonly string[], row: Row): number =>
  hashOf(key.map(name => String(row[name] ?? '').toUpperCase()).join('\n'))
const contentOf = (row: Row): number => hashOf(JSON.stringify(row))

/** Tells of one record: its rows, several in a wide file, or why it can not be read. */
function readRecord(table: RowTable, text: string, line: number, listener: RowListener<Row>): void {
  const cells =
    table.format === 'csv'
      ? cellsOf(table, text)
      : (objectOf(text) ?? 'the line is not a JSON object')
  if (typeof cells === 'string') {
    listener.rejected(line, [cells], text)
    return
  }
  const { key } = table.layout
  for (const row of rowsOf(table, cells, listener.blank)) {
    const isWanted = key
      ? listener.isWanted(0, keyOf(key, row), contentOf(row), line)
      : listener.isWanted(0, 0, 0, line)
    if (isWanted) listener.item(row)
    else listener.passed?.(row)
  }
  listener.record(line, text)
}

function rowsOf(
  { columns, wide, layout, spelling }: RowTable,
  cells: Record<string, unknown>,
  blank: () => void,
): Row[] {
  const row: Row = {}
  const usual = (cell: unknown) => (spelling ? spelling.cell(cell) : cell)
  for (const [name, column] of columns)
    if (cells[column] !== undefined) row[name] = usual(cells[column])
  if (wide.length === 0) return [row]
  const { name: named, value } = layout.wide!
  const rows: Row[] = []
  for (const { name, column } of wide) {
    const cell = cells[column]
    if (cell === undefined || isBlank(cell)) blank()
    else rows.push({ ...row, [named]: name, [value]: usual(cell) })
  }
  return rows
}

function cellsOf({ names, separator }: RowTable, text: string): Record<string, unknown> | string {
  const fields = csvFieldsOf(text, separator, names.length)
  return typeof fields === 'string'
    ? fields
    : Object.fromEntries(names.map((name, i) => [name, fields[i]]))
}

function columnsIn(
  names: readonly string[],
  { name: dataset, columns, wide }: Layout,
  mapping: Mapping,
) {
  const listed = `The columns of the file are: ${names.slice(0, 50).map(shown).join(', ')}.`
  const find = (key: string, column: string): string => {
    const name =
      names.find(name => name === column) ??
      names.find(name => name.toLowerCase() === column.toLowerCase())
    if (name === undefined)
      throw new Error(
        `--map ${key}=${column}: ${shown(column)} is not a column of the file. ${listed}`,
      )
    return name
  }
  const columnNames = new Map<string, string>()
  const others: RowTable['wide'] = []
  for (const [key, column] of mapping) {
    const own = columns.find(column => column.name === key.toLowerCase())?.name
    if (own !== undefined) columnNames.set(own, find(own, column))
    else if (wide) others.push({ name: key, column: find(key, column) })
    else
      throw new Error(
        `--map ${key}=…: ${shown(key)} is not a column of ${dataset}, which has ${columns.map(column => column.name).join(', ')}`,
      )
  }
  const mapped = new Set(columnNames.keys())
  for (const { name } of columns) {
    const columnName = columnNames.has(name)
      ? undefined
      : names.find(column => plain(column) === name)
    if (columnName !== undefined) columnNames.set(name, columnName)
  }
  const needless = others.length > 0 && wide ? [wide.name, wide.value] : []
  const clash = needless.find(name => mapped.has(name))
  if (clash)
    throw new Error(
      `--map ${others[0]!.name}=… takes the ${wide!.value} from a column of its own: leave out ${clash}=…`,
    )
  const missing = columns.find(
    column => column.required && !columnNames.has(column.name) && !needless.includes(column.name),
  )
  if (missing)
    throw new Error(
      `it has no column ${missing.name} (${missing.description}): say which it is with --map ${missing.name}=COLUMN. ${listed}`,
    )
  for (const name of needless) columnNames.delete(name)
  return { columns: columnNames, wide: others }
}
