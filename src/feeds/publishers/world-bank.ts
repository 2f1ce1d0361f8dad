import { usFederal } from '../../topics/calendars/math/holidays.ts'
import { headerFault } from '../reading/fault.ts'
import { periodOf } from '../reading/periods.ts'
import { type SheetCell, sheetRows } from '../reading/workbook.ts'
import { monthlyWorkingDay } from './calendar.ts'
import { readLinkedFile } from './links.ts'
import type { MapEntry } from './map.ts'
import type { Publisher } from './publisher.ts'
import { type Collected, collections } from './series.ts'

const pageUrl = 'https://www.worldbank.org/en/research/commodity-markets'
const headerRowsMax = 12

/** A name without the stars that lead to footnotes. */
const plainName = (cell: SheetCell): string =>
  typeof cell === 'string' ? cell.replace(/[*\s]+$/, '').trim() : ''

/** The series of the sheet of monthly prices: names in one row, units in the next, then a row a month. */
async function monthlyPrices(
  workbook: Uint8Array,
  entries: readonly MapEntry[],
): Promise<Map<string, Collected>> {
  const series = collections(entries)
  let columns: { column: number; values: Collected }[] | undefined
  let hasUnits = false
  for await (const { number, cells } of sheetRows(workbook, name => name === 'Monthly Prices')) {
    if (!columns) {
      const namedColumns = [...cells.entries()].flatMap(([column, cell]) => {
        const values = series.get(plainName(cell))
        return values ? [{ column, values }] : []
      })
      if (namedColumns.length > 0) columns = namedColumns
      else if (number > headerRowsMax) break
      continue
    }
    const month = typeof cells[0] === 'string' ? periodOf(cells[0], 'month') : undefined
    if (!month && !hasUnits) {
      for (const { column, values } of columns) values.unit = String(cells[column] ?? '')
      hasUnits = true
    }
    if (!month) continue
    if (!hasUnits) throw headerFault('the sheet', 'row of units')
    for (const { column, values } of columns) values.add(month, cells[column])
  }
  if (!columns) throw headerFault('the sheet', 'row of names')
  return series
}

const read = readLinkedFile(
  [pageUrl, 'the monthly prices', [link => /CMO-Historical-Data-Monthly\.xlsx/i.test(link.url)]],
  monthlyPrices,
)

export const worldBank: Publisher = {
  name: 'world_bank',
  title: 'World Bank commodity prices (Pink Sheet)',
  publisher: 'World Bank',
  homepage: pageUrl,
  licenseClass: 'open',
  attribution: 'Source: World Bank Commodity Price Data (The Pink Sheet), CC BY 4.0',
  key: 'none',
  guide: {
    content: 'monthly prices of coal, gas, metals and crude',
    terms: 'CC BY 4.0',
    format:
      'the link to `CMO-Historical-Data-Monthly.xlsx` on the page, the sheet `Monthly Prices`, its column names without asterisks (`source_id`)',
  },
  hosts: ['www.worldbank.org', 'thedocs.worldbank.org'],
  requestsPerSecond: 1,
  rereadDays: 0,
  calendar: [monthlyWorkingDay(2, '14:00', usFederal, { zone: 'America/New_York' })],
  read,
}
