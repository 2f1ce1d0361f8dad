import type { Point } from '../../store/prices/observations.ts'
import type { WriteCounts } from '../../store/write-counts.ts'
import type { CodeLookup } from '../catalogue/lookup.ts'
import { shown } from '../files/cell.ts'
import { fieldsOf } from '../files/csv.ts'
import {
  type FileImport,
  type FileReader,
  type ImportReport,
  importFiles,
  type ReadableFile,
  type RowListener,
} from '../files/import.ts'
import type { Mapping } from '../files/mapping.ts'
import type { RejectedForm } from '../files/rejected.ts'
import type { Source } from '../files/source.ts'
import {
  blocksOf,
  csvFieldsOf,
  type FileForm,
  type FileHead,
  fileHeadOf,
  linesOf,
  objectOf,
  recordText,
} from '../files/table.ts'
import {
  type ColumnRequest,
  type Columns,
  checkRequest,
  columnsIn,
  positionsIn,
} from './columns.ts'
import { laneOf } from './fast-lane.ts'
import { checkRow, type RawRow } from './rows.ts'

/** How price files are read. */
export interface PriceReading {
  mapping?: Mapping
  /** The one code that all rows belong to. */
  series?: string
  /**
   * What every value is multiplied by (1): 0.001 for a file in thousands of the unit of its series.
   */
  scale?: number
  catalogue: CodeLookup
  now: number
}

/** Where points go: into the database, or to the server that has it. */
export interface PointWriter {
  /** The most points of one call; each call is all or nothing. */
  readonly batchMax: number
  write(points: readonly Point[]): WriteCounts | Promise<WriteCounts>
}

export interface PriceImport extends PriceReading, FileImport {
  writer: PointWriter
}

/**
 * Imports price files one after the other. Throws a sentence, before anything is written, when one
 * of them can not be read as asked; afterwards only if the writer does.
 */
export async function importPrices(request: PriceImport): Promise<ImportReport> {
  const { writer } = request
  return importFiles(request, createPriceReader(request), {
    batchMax: writer.batchMax,
    judges: false,
    write: async points => ({ counts: await writer.write(points) }),
  })
}

/**
 * Reads price files: ordinary rows straight from their bytes, everything else through `checkRow`.
 * Throws a sentence when no file can be read as asked.
 */
export function createPriceReader(reading: PriceReading): FileReader<Point> {
  const { mapping = new Map(), series, scale = 1, catalogue, now } = reading
  if (!(scale > 0 && Number.isFinite(scale)))
    throw new Error(`--scale ${scale} is not a number above 0: write for example --scale 0.001`)
  const request: ColumnRequest = { mapping, series, catalogue, now }
  checkRequest(request)
  return {
    open: async source => readableOf(await priceTableOf(source, request), reading),
  }
}

/** A price file of which it is known where the values of a row stand. */
export type PriceTable = CsvTable | JsonTable

interface CsvTable extends FileForm {
  format: 'csv'
  hasHeader: boolean
  /** The first record, when it is the names of the columns. */
  header: string | undefined
  columns: Columns<number>
  width: number
}

interface JsonTable extends FileForm {
  format: 'ndjson'
  hasHeader: false
  columns: Columns<string>
}

/**
 * Reads the first bytes of a source. Throws a sentence that names the file when nothing could be
 * read from it as asked.
 */
export async function priceTableOf(source: Source, request: ColumnRequest): Promise<PriceTable> {
  const head = await fileHeadOf(source)
  try {
    return head.form.format === 'csv' ? csvTable(head, request) : jsonTable(head, request)
  } catch (error) {
    throw new Error(`${source.name}: ${(error as Error).message}`)
  }
}

function csvTable({ form, firstRecord }: FileHead, request: ColumnRequest): CsvTable {
  const fields = fieldsOf(firstRecord, form.separator)
  if (!fields)
    throw new Error('the names of the columns in its first line have a quote that is not closed')
  const { columns, header: hasHeader } = positionsIn(fields, request)
  return {
    ...form,
    format: 'csv',
    hasHeader,
    header: hasHeader ? firstRecord : undefined,
    columns,
    width: fields.length,
  }
}

function jsonTable({ form, text }: FileHead, request: ColumnRequest): JsonTable {
  for (const line of linesOf(text, form.lineEnd)) {
    const object = objectOf(line)
    if (!object) continue
    const columns = columnsIn(Object.keys(object), request)
    // Objects need not all have the same members: a later one may name the currency that the first
    // left out.
    const wide =
      columns.values.length !== 1 || (columns.code === undefined && request.series === undefined)
    return {
      ...form,
      format: 'ndjson',
      hasHeader: false,
      columns: { ...columns, currency: columns.currency ?? (wide ? undefined : 'currency') },
    }
  }
  throw new Error('none of its first lines is a JSON object: write one object a line (NDJSON)')
}

function readableOf(table: PriceTable, reading: PriceReading): ReadableFile<Point> {
  return {
    source: table.source,
    rejectedForm: rejectedFormOf(table),
    repeats: 'by_time',
    async *read(listener, heard) {
      const lane = table.format === 'csv' ? laneOf(table, reading) : undefined
      for await (const block of blocksOf(table, heard)) {
        const { bytes, starts, ends, lines } = block
        for (let i = block.first; i < block.count; i += 1) {
          if (lane?.read(bytes, starts[i]!, ends[i]!))
            tellPoint(listener, lane.seriesId, lane.observedAt, lane.value)
          else readRecord(table, recordText(block, i), lines[i]!, reading, listener)
        }
        yield
      }
    },
  }
}

function tellPoint(
  listener: RowListener<Point>,
  seriesId: number,
  observedAt: number,
  value: number,
) {
  if (listener.isWanted(seriesId, observedAt, value)) listener.item({ seriesId, observedAt, value })
}

function rejectedFormOf(table: PriceTable): RejectedForm {
  if (table.format === 'ndjson') return { format: 'ndjson' }
  const { separator, header, columns, width } = table
  const names = Array.from({ length: width }, (_, i) => `column_${i + 1}`)
  if (columns.code !== undefined) names[columns.code] = 'code'
  if (columns.currency !== undefined && columns.currency < width)
    names[columns.currency] = 'currency'
  for (const { place, code } of columns.values)
    names[place] = columns.values.length > 1 && code ? code : 'price'
  names[columns.observedAt] = 'observed_at'
  return { format: 'csv', separator, header: header ?? names.join(separator) }
}

/** Tells of one record that the fast lane leaves alone. */
function readRecord(
  table: PriceTable,
  text: string,
  line: number,
  { catalogue, now, scale }: PriceReading,
  listener: RowListener<Point>,
): void {
  const rows = rowsIn(table, text)
  if (typeof rows === 'string') {
    listener.rejected(line, [rows], text)
    return
  }
  const reasons: string[] = []
  for (const row of rows) {
    const checked = checkRow(row, catalogue, now, scale)
    if (checked.kind === 'point')
      tellPoint(listener, checked.point.seriesId, checked.point.observedAt, checked.point.value)
    else if (checked.kind === 'blank') listener.blank()
    else
      reasons.push(
        rows.length > 1 && checked.field === 'price'
          ? `${row.code}: ${checked.reason}`
          : checked.reason,
      )
  }
  if (reasons.length > 0) listener.rejected(line, reasons, text)
}

/**
 * The rows of one record, several in a wide file, none in a line of spaces; or the sentence that
 * says why it cannot be read.
 */
export function rowsIn(table: PriceTable, text: string): RawRow[] | string {
  if (text.trim() === '') return []
  return table.format === 'csv' ? csvRows(table, text) : jsonRows(table.columns, text)
}

function csvRows({ columns, separator, width }: CsvTable, text: string): RawRow[] | string {
  const fields = csvFieldsOf(text, separator, width)
  if (typeof fields === 'string') return fields
  const at = (place: number | undefined) => (place === undefined ? undefined : fields[place])
  return rowsOf(columns, at)
}

function jsonRows(columns: Columns<string>, text: string): RawRow[] | string {
  const object = objectOf(text)
  if (!object) return `the line is not a JSON object: ${shown(text)}`
  return rowsOf(columns, name => (name === undefined ? undefined : object[name]))
}

function rowsOf<Place>(
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
