import { csvRecordsOf } from './csv-records.ts'

export interface ImportRow {
  code: string
  price: number
  observed_at: string
  currency?: string
}

const columnNames = {
  code: ['code', 'series', 'symbol'],
  price: ['price', 'value', 'close'],
  observedAt: ['observed_at', 'time', 'timestamp', 'date'],
  currency: ['currency'],
} as const

/**
 * Rows of a CSV file whose first record names the columns, in any order. Throws a sentence that
 * names the line and what would be right.
 */
export function importRowsOf(text: string): ImportRow[] {
  const [heading, ...records] = csvRecordsOf(text)
  const names = heading?.cells.map(name => name.toLowerCase()) ?? []
  const at = (known: readonly string[]) => names.findIndex(name => known.includes(name))
  const code = at(columnNames.code)
  const price = at(columnNames.price)
  const observedAt = at(columnNames.observedAt)
  const currency = at(columnNames.currency)
  if (code < 0 || price < 0 || observedAt < 0)
    throw new Error(
      `The first line must name the columns code, price and observed_at (or date); got ${names.join(', ') || 'none'}.`,
    )
  return records.map(({ line, cells }) => {
    const text = cells[price] ?? ''
    const value = Number(text)
    if (text === '' || !Number.isFinite(value))
      throw new Error(
        `Line ${line}: the price must be a number such as 1234.5, without thousands separators; got “${text}”.`,
      )
    const row: ImportRow = {
      code: cells[code] ?? '',
      price: value,
      observed_at: cells[observedAt] ?? '',
    }
    if (currency >= 0 && cells[currency]) row.currency = cells[currency]
    return row
  })
}
