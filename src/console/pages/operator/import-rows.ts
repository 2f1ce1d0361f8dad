import { isBlank } from '../../../datasets/cell.ts'
import { type SpellingOptions, spellingOf } from '../../../feeds/files/spelling.ts'
import { wrongValue } from '../../../lib/text/wrong-value.ts'
import { zoneName } from '../../../lib/time/zone.ts'
import { csvRecordsOf } from './csv-records.ts'

/** A row as the API takes it, which checks it as the command checks files. */
export interface ImportRow {
  code: string
  price: string
  observed_at: string
  currency?: string
}

/** A line that cannot be imported. */
export interface LineFault {
  line: number
  reason: string
}

/** The rows of a file with their lines. */
export interface ReadFile {
  rows: readonly { line: number; row: ImportRow }[]
  faults: readonly LineFault[]
}

const columnNames = {
  code: ['code', 'series', 'symbol'],
  price: ['price', 'value', 'close'],
  observedAt: ['observed_at', 'time', 'timestamp', 'date'],
  currency: ['currency'],
} as const

interface ReadingOptions extends SpellingOptions {
  /** The code of every row, in a file without a column for it. */
  series?: string
}

/**
 * Rows of a CSV file whose first record names the columns, in any order; rows without a price are
 * left out. A file of one series that has two columns needs no known names for them: the first is
 * the time. Throws a sentence where the columns are not named.
 */
export function importRowsOf(text: string, { series, ...notation }: ReadingOptions = {}): ReadFile {
  checkZone(notation.zone)
  const spelling = spellingOf(notation)
  const [heading, ...records] = csvRecordsOf(text)
  const names = heading?.cells?.map(name => name.toLowerCase()) ?? []
  const at = (known: readonly string[]) => names.findIndex(name => known.includes(name))
  const code = at(columnNames.code)
  let [price, observedAt] = [at(columnNames.price), at(columnNames.observedAt)]
  if (series !== undefined && names.length === 2) {
    if (observedAt < 0) observedAt = price < 0 ? 0 : 1 - price
    if (price < 0) price = 1 - observedAt
  }
  const currency = at(columnNames.currency)
  if (series !== undefined && code >= 0)
    throw new Error('The file has a column with codes: leave out the code of every row.')
  if ((code < 0 && series === undefined) || price < 0 || observedAt < 0)
    throw new Error(
      `The first line must name the columns code, price and observed_at (or date); got ${names.join(', ') || 'none'}.`,
    )
  const rows: { line: number; row: ImportRow }[] = []
  const faults: LineFault[] = []
  for (const { line, cells } of records) {
    if (!cells) {
      faults.push({ line, reason: 'text follows a closing quote, or a quote is never closed' })
      continue
    }
    const [sentPrice, sentTime] = [cells[price] ?? '', cells[observedAt] ?? '']
    if (isBlank(sentPrice)) continue
    const number = spelling?.number(sentPrice) ?? { value: sentPrice }
    const time = spelling?.time(sentTime) ?? { value: sentTime }
    const fault = [number, time].find(spelt => 'fault' in spelt)
    if (fault && 'fault' in fault) faults.push({ line, reason: fault.fault })
    else if ('value' in number && 'value' in time) {
      const row: ImportRow = {
        code: series ?? cells[code] ?? '',
        price: String(number.value),
        observed_at: String(time.value),
      }
      if (currency >= 0 && cells[currency]) row.currency = cells[currency]
      rows.push({ line, row })
    }
  }
  return { rows, faults }
}

/** From so many on, the file or its notation is wrong and not a few of its lines. */
const faultsMax = 100

/** The most rows that the API takes in one request. */
const sliceRows = 10_000

export const slicesOf = <Row>(rows: readonly Row[]): Row[][] =>
  Array.from({ length: Math.ceil(rows.length / sliceRows) }, (_, i) =>
    rows.slice(i * sliceRows, (i + 1) * sliceRows),
  )

/**
 * Compares the rows of a file without those that the API refuses, which are faults with their lines,
 * a slice at a time; without rows where too many lines are wrong.
 */
export async function comparedRows<Comparison>(
  file: ReadFile,
  compare: (observations: ImportRow[]) => Promise<Comparison>,
) {
  const faults = [...file.faults]
  const accepted: ImportRow[] = []
  const comparisons: Comparison[] = []
  for (const slice of slicesOf(file.rows)) {
    let rows = slice
    for (let isAccepted = false; rows.length > 0 && !isAccepted && faults.length < faultsMax; ) {
      try {
        comparisons.push(await compare(rows.map(({ row }) => row)))
        isAccepted = true
      } catch (error) {
        const refused = refusedRows(error)
        if (refused.size === 0) throw error
        for (const [i, reason] of refused) faults.push({ line: rows[i]!.line, reason })
        rows = rows.filter((_, i) => !refused.has(i))
      }
    }
    for (const { row } of rows) accepted.push(row)
  }
  return faults.length < faultsMax
    ? { rows: accepted, faults: inOrder(faults), comparisons }
    : { rows: [], faults: inOrder(faults), comparisons: [] }
}

const inOrder = (faults: readonly LineFault[]): LineFault[] =>
  faults.toSorted((a, b) => a.line - b.line)

/** The rows that a response refuses, by their place, with the reason. */
function refusedRows(error: unknown): Map<number, string> {
  const { body } = error as { body?: { errors?: { field: string; message: string }[] } }
  return new Map(
    (body?.errors ?? []).flatMap(({ field, message }) => {
      const [, row] = /^observations\.(\d+)\./.exec(field) ?? []
      return row === undefined
        ? []
        : [[Number(row), message.replace(/^observations\[\d+\]\./, '')] as const]
    }),
  )
}

/** Throws a sentence where the times of a file cannot be read in a zone. */
function checkZone(zone: string | undefined): void {
  if (zone === undefined) return
  if (typeof Temporal === 'undefined')
    throw new Error(
      'This browser cannot read times in a time zone. Use another browser, or wellhead import.',
    )
  if (zoneName(zone) === undefined)
    throw new Error(wrongValue('The time zone', 'a name such as Europe/Berlin', zone))
}
