import { isBlank, numberOf, shown } from '../../../datasets/cell.ts'
import { fieldsOf } from '../../../feeds/files/csv.ts'
import type { Mapping } from '../../../feeds/files/mapping.ts'
import type { RejectedFormat } from '../../../feeds/files/rejected.ts'
import { namingSource, type PublisherSeries, type Source } from '../../../feeds/files/source.ts'
import {
  type Notation,
  notationsOf,
  type Spelling,
  type SpellingOptions,
  spellingOf,
} from '../../../feeds/files/spelling.ts'
import {
  blocksOf,
  csvFieldsOf,
  type FileHead,
  type FileSyntax,
  fileHeadOf,
  linesOf,
  recordText,
} from '../../../feeds/files/table.ts'
import { timesDecimal } from '../../../feeds/reading/decimal.ts'
import { objectIn } from '../../../lib/text/json.ts'
import { wrongValue } from '../../../lib/text/wrong-value.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'
import type { Point } from '../store/observations.ts'
import {
  type ColumnRequest,
  type Columns,
  checkRequest,
  columnsIn,
  positionsIn,
} from './columns.ts'
import { laneOf } from './fast-lane.ts'
import { checkRow, type RawRow } from './rows.ts'

/** The settings under which price files are read. */
export interface PriceReading {
  mapping?: Mapping
  /** The one code that all rows belong to. */
  series?: string
  /**
   * The factor that every value is multiplied by (default: 1): 0.001 for a file in thousands of the
   * unit of its series.
   */
  scale?: number
  spelling?: SpellingOptions
  /** The values are stored as another instance recorded them: the current bounds do not apply. */
  asRecorded?: boolean
  catalogue: CodeLookup
  now: number
}

/** Receives the contents of a file, in order. */
export interface PointListener {
  /** A point that has nothing but its value. */
  add(seriesId: number, observedAt: number, value: number, line: number): void
  point(point: Point, line: number): void
  /** A value that is not there. */
  blank(): void
  /** A record that cannot go in, with the notations of its cells that options read. */
  rejected(
    line: number,
    reasons: readonly string[],
    text: string,
    notations?: readonly Notation[],
  ): void
}

/** A file of which it is known where the values of a row stand. */
export type ParsedFile = ReturnType<typeof parsedFileOf>

export const scaleRight = 'a number above 0, such as 0.001'

/**
 * Reads price files: ordinary rows straight from their bytes, everything else through `checkRow`.
 * Throws a sentence when a file cannot be read with the given options.
 */
export function createPriceParser(reading: PriceReading) {
  const { mapping = new Map(), series, scale = 1, asRecorded = false, catalogue, now } = reading
  if (!(scale > 0 && Number.isFinite(scale)))
    throw new Error(wrongValue('--scale', scaleRight, scale))
  const request: ColumnRequest = { mapping, series, catalogue, now }
  checkRequest(request)
  const spelling = spellingOf(reading.spelling ?? {})
  return {
    /** Understands the beginning of a source. Throws a sentence that names the file. */
    async open(source: Source) {
      const { series: known } = source
      const table = await priceTableOf(source, known ? { ...request, known } : request)
      return parsedFileOf(table, { catalogue, now, scale, spelling, known, asRecorded })
    },
  }
}

interface SentRow extends RawRow {
  /** How many units of its code one of the file's is; absent: 1. */
  factor?: string
}

/** The conversion of one file's rows to points. */
interface RowReading {
  catalogue: CodeLookup
  now: number
  scale: number
  spelling: Spelling | undefined
  known: PublisherSeries | undefined
  asRecorded: boolean
}

/** A price file whose columns are known. */
export type PriceTable = CsvTable | JsonTable

interface CsvTable extends FileSyntax {
  format: 'csv'
  hasHeader: boolean
  /** The first record, when it is the names of the columns. */
  header: string | undefined
  columns: Columns<number>
  width: number
}

interface JsonTable extends FileSyntax {
  format: 'ndjson'
  hasHeader: false
  columns: Columns<string>
}

/**
 * Reads the first bytes of a source. Throws a sentence that names the file when it cannot be read
 * with the given options.
 */
export async function priceTableOf(source: Source, request: ColumnRequest): Promise<PriceTable> {
  const head = await fileHeadOf(source)
  return namingSource(source, () =>
    head.syntax.format === 'csv' ? csvTable(head, request) : jsonTable(head, request),
  )
}

function csvTable({ syntax, firstRecord }: FileHead, request: ColumnRequest): CsvTable {
  const fields = fieldsOf(firstRecord, syntax.separator)
  if (!fields)
    throw new Error('the names of the columns in its first line have a quote that is not closed')
  const { columns, header: hasHeader } = positionsIn(fields, request)
  return {
    ...syntax,
    format: 'csv',
    hasHeader,
    header: hasHeader ? firstRecord : undefined,
    columns,
    width: fields.length,
  }
}

function jsonTable({ syntax, text }: FileHead, request: ColumnRequest): JsonTable {
  for (const line of linesOf(text, syntax.lineEnd)) {
    const object = objectIn(line)
    if (!object) continue
    const columns = columnsIn(Object.keys(object), request)
    // Objects need not all have the same members: a later one may name the currency that the first
    // left out.
    const wide =
      columns.values.length !== 1 || (columns.code === undefined && request.series === undefined)
    return {
      ...syntax,
      format: 'ndjson',
      hasHeader: false,
      columns: { ...columns, currency: columns.currency ?? (wide ? undefined : 'currency') },
    }
  }
  throw new Error('none of its first lines is a JSON object: write one object a line (NDJSON)')
}

function parsedFileOf(table: PriceTable, reading: RowReading) {
  const { recordedAt, source, deleted, period } = table.columns
  /** Its points may have a time of recording or a source, or be deleted. */
  const saysMore = recordedAt !== undefined || deleted !== undefined || source !== undefined
  const isUsual =
    !saysMore && period === undefined && !reading.spelling && !reading.known && !reading.asRecorded
  return {
    saysMore,
    /** The format of its rejected lines. */
    rejectedFormat: rejectedFormatOf(table),
    /**
     * Notifies `listener` of everything in the file, and pauses after each block. `received` gets
     * the bytes of the file as they are read.
     */
    async *read(
      listener: PointListener,
      received: (bytes: Uint8Array) => void,
    ): AsyncGenerator<void> {
      const lane = table.format === 'csv' && isUsual ? laneOf(table, reading) : undefined
      for await (const block of blocksOf(table, received)) {
        const { bytes, starts, ends, lines } = block
        for (let i = block.first; i < block.count; i += 1) {
          if (lane?.read(bytes, starts[i]!, ends[i]!))
            listener.add(lane.seriesId, lane.observedAt, lane.value, lines[i]!)
          else readRecord(table, recordText(block, i), lines[i]!, reading, listener)
        }
        yield
      }
    },
  }
}

function rejectedFormatOf(table: PriceTable): RejectedFormat {
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

/** Parses a record that the fast lane leaves alone, and reports it to the listener. */
function readRecord(
  table: PriceTable,
  text: string,
  line: number,
  reading: RowReading,
  listener: PointListener,
): void {
  const { catalogue, now, scale, asRecorded } = reading
  const sent = rowsIn(table, text)
  if (typeof sent === 'string') {
    listener.rejected(line, [sent], text)
    return
  }
  const reasons: string[] = []
  const notations: Notation[] = []
  const rows = sent.flatMap(row => ownRows(row, reading))
  for (const row of rows) {
    const usual = usualRow(row, reading)
    if (typeof usual === 'string') {
      reasons.push(usual)
      continue
    }
    const checked = checkRow(usual, catalogue, now, scale, asRecorded)
    if (checked.kind === 'point') listener.point(checked.point, line)
    else if (checked.kind === 'blank') listener.blank()
    else {
      const { field, reason } = checked
      reasons.push(rows.length > 1 && field === 'price' ? `${row.code}: ${reason}` : reason)
      notations.push(...notationsOf(usual))
    }
  }
  if (reasons.length > 0) listener.rejected(line, reasons, text, notations)
}

/** A row under a publisher's name for its series as a row of each code that it is here. */
function ownRows(row: SentRow, { catalogue, known }: RowReading): SentRow[] {
  const { code } = row
  const codes = typeof code === 'string' && !catalogue.find(code) ? known?.get(code) : undefined
  return codes?.map(({ code, factor }) => ({ ...row, code, factor })) ?? [row]
}

/**
 * A row in the usual notation; or the error, where the row is not in the notation that was
 * declared.
 */
function usualRow(row: SentRow, { spelling }: RowReading): RawRow | string {
  const time = spelling ? spelling.time(row.observedAt) : { value: row.observedAt }
  const number = spelling && !isBlank(row.price) ? spelling.number(row.price) : { value: row.price }
  if ('fault' in time) return time.fault
  if ('fault' in number) return number.fault
  const { factor = '1' } = row
  const price =
    factor !== '1' && !isBlank(number.value) && typeof numberOf(number.value) === 'number'
      ? timesDecimal(String(number.value).trim(), factor)
      : number.value
  return { ...row, observedAt: time.value, price }
}

/**
 * The rows of one record, several in a wide file, none in a line of spaces; or a sentence with the
 * reason why it cannot be read.
 */
export function rowsIn(table: PriceTable, text: string): SentRow[] | string {
  if (text.trim() === '') return []
  return table.format === 'csv' ? csvRows(table, text) : jsonRows(table.columns, text)
}

function csvRows({ columns, separator, width }: CsvTable, text: string): SentRow[] | string {
  const fields = csvFieldsOf(text, separator, width)
  if (typeof fields === 'string') return fields
  const at = (place: number | undefined) => (place === undefined ? undefined : fields[place])
  return rowsOf(columns, at)
}

function jsonRows(columns: Columns<string>, text: string): SentRow[] | string {
  const object = objectIn(text)
  if (!object) return `the line is not a JSON object: ${shown(text)}`
  return rowsOf(columns, name => (name === undefined ? undefined : object[name]))
}

function rowsOf<Place>(
  { code, observedAt, period, currency, recordedAt, source, deleted, values }: Columns<Place>,
  at: (place: Place | undefined) => unknown,
): SentRow[] {
  const [time, unit, known] = [at(observedAt), at(currency), at(recordedAt)]
  const [whose, gone, number] = [at(source), at(deleted), at(period)]
  return values.map(value => {
    const row: SentRow = {
      code: value.code ?? at(code),
      observedAt: time,
      price: at(value.place),
      currency: unit,
    }
    if (number !== undefined) row.period = number
    if (known !== undefined) row.recordedAt = known
    if (whose !== undefined) row.source = whose
    if (gone !== undefined) row.deleted = gone
    if (value.factor !== undefined) row.factor = value.factor
    return row
  })
}
