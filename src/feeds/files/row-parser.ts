import { isBlank, shown } from '../../datasets/cell.ts'
import { objectIn } from '../../lib/text/json.ts'
import { fieldsOf } from './csv.ts'
import type { Dataset } from './dataset.ts'
import { type Mapping, plain } from './mapping.ts'
import type { RejectedFormat } from './rejected.ts'
import { namingSource, type Source } from './source.ts'
import type { Spelling } from './spelling.ts'
import {
  blocksOf,
  csvFieldsOf,
  type FileHead,
  type FileSyntax,
  fileHeadOf,
  recordText,
} from './table.ts'

/** The parts of a dataset that are needed to parse its files. */
export type Layout = Pick<Dataset<unknown>, 'name' | 'columns' | 'key' | 'wide'>

/** A row as it is sent: text from CSV, any JSON value from NDJSON, by column. */
export type Row = Record<string, unknown>

/** A record of a file: its rows, several in a wide file, or why it cannot go in. */
export interface ParsedRecord {
  line: number
  text: string
  /**
   * Hashes of the key and the content, which identify rows; both are 0 where the dataset has no
   * key.
   */
  rows: { key: number; content: number; row: Row }[]
  /** Values that are not there. */
  blanks: number
  reasons: readonly string[]
}

/** A file whose columns are known. */
export interface ParsedRowFile {
  /** The format of its rejected lines. */
  rejectedFormat: RejectedFormat
  /** True where rows have keys: the last row of a key counts. */
  hasKeys: boolean
  /** Its records, block by block. `received` gets the bytes of the file as they are read. */
  read(received: (bytes: Uint8Array) => void): AsyncGenerator<ParsedRecord[]>
}

export interface RowParser {
  /** Understands the beginning of a source. Throws a sentence that names the file. */
  open(source: Source): Promise<ParsedRowFile>
}

/** A file of a dataset: which of its columns is which of the dataset's. */
interface RowTable extends FileSyntax {
  layout: Layout
  hasHeader: boolean
  /** The names of the columns as they are in the file; of NDJSON those of its first object. */
  names: string[]
  /** The file's own name of each column of the dataset that it has. */
  columns: ReadonlyMap<string, string>
  /** The further columns of a wide file, with the name that each represents, such as a code. */
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
): RowParser => ({
  async open(source) {
    const head = await fileHeadOf(source)
    return namingSource(source, () =>
      parsedFileOf({ ...rowTableOf(head, layout, mapping), spelling }, head),
    )
  },
})

function rowTableOf(
  { syntax, firstRecord }: FileHead,
  layout: Layout,
  mapping: Mapping,
): Omit<RowTable, 'spelling'> {
  const isCsv = syntax.format === 'csv'
  const names = isCsv
    ? fieldsOf(firstRecord, syntax.separator)
    : Object.keys(objectIn(firstRecord) ?? {})
  if (!names) throw new Error('the names of its columns have a quote that is not closed')
  const { columns, wide } = columnsIn(names, layout, mapping)
  // Objects need not all have the same members.
  if (!isCsv) for (const { name } of layout.columns) if (!columns.has(name)) columns.set(name, name)
  return { ...syntax, layout, hasHeader: isCsv, names, columns, wide }
}

function parsedFileOf(table: RowTable, { firstRecord }: FileHead): ParsedRowFile {
  const { format, separator } = table
  return {
    rejectedFormat:
      format === 'csv' ? { format, separator, header: firstRecord } : { format: 'ndjson' },
    hasKeys: table.layout.key !== undefined,
    async *read(received) {
      for await (const block of blocksOf(table, received)) {
        const records: ParsedRecord[] = []
        for (let i = block.first; i < block.count; i += 1) {
          const text = recordText(block, i)
          if (text.trim() !== '') records.push(recordOf(table, text, block.lines[i]!))
        }
        yield records
      }
    },
  }
}

/** A hash of a text, in 52 bits. */
const hashOf = (text: string): number => Number(BigInt.asUintN(52, BigInt(Bun.hash.wyhash(text))))

const keyOf = (key: readonly string[], row: Row): number =>
  hashOf(key.map(name => String(row[name] ?? '').toUpperCase()).join('\n'))
const contentOf = (row: Row): number => hashOf(JSON.stringify(row))

function recordOf(table: RowTable, text: string, line: number): ParsedRecord {
  const cells =
    table.format === 'csv'
      ? cellsOf(table, text)
      : (objectIn(text) ?? 'the line is not a JSON object')
  if (typeof cells === 'string') return { line, text, rows: [], blanks: 0, reasons: [cells] }
  const { key } = table.layout
  const { rows, blanks } = rowsOf(table, cells)
  return {
    line,
    text,
    rows: rows.map(row =>
      key ? { key: keyOf(key, row), content: contentOf(row), row } : { key: 0, content: 0, row },
    ),
    blanks,
    reasons: [],
  }
}

function rowsOf(
  { columns, wide, layout, spelling }: RowTable,
  cells: Record<string, unknown>,
): { rows: Row[]; blanks: number } {
  const row: Row = {}
  const usual = (cell: unknown) => (spelling ? spelling.cell(cell) : cell)
  for (const [name, column] of columns)
    if (cells[column] !== undefined) row[name] = usual(cells[column])
  if (wide.length === 0) return { rows: [row], blanks: 0 }
  const { name: named, value } = layout.wide!
  const rows: Row[] = []
  for (const { name, column } of wide) {
    const cell = cells[column]
    if (cell !== undefined && !isBlank(cell))
      rows.push({ ...row, [named]: name, [value]: usual(cell) })
  }
  return { rows, blanks: wide.length - rows.length }
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
    const name = columns.find(column => column.name === key.toLowerCase())?.name
    if (name !== undefined) columnNames.set(name, find(name, column))
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
      `--map ${others[0]!.name}=… takes the ${wide!.value} from another column: leave out ${clash}=…`,
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
