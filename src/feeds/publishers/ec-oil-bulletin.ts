import { euroSettlement } from '../../topics/calendars/math/holidays.ts'
import { headerFault } from '../reading/fault.ts'
import { dayOf, sheetRows } from '../reading/workbook.ts'
import { weeklyHeldBack } from './calendar.ts'
import { type PageLink, readLinkedFile } from './links.ts'
import type { MapEntry } from './map.ts'
import type { Publisher } from './publisher.ts'
import { type Collected, collections } from './series.ts'

const pageUrl = 'https://energy.ec.europa.eu/data-and-analysis/weekly-oil-bulletin_en'
const headerRowsMax = 12

/** Between the titles and the weeks there are labels, and what a price is of: `1000 l`. */
const isUnit = (text: string): boolean =>
  text.length <= 20 && /(\b|\d)(l|hl|lit(re|er)s?|t|tonnes?|tons?|kg|gal(lons?)?|m3)\b/i.test(text)

/** Euros per 1,000 litres by the titles of the columns: `DE_price_with_tax_diesel`. */
export async function pricesWithTaxes(
  workbook: Uint8Array,
  entries: readonly MapEntry[],
): Promise<Map<string, Collected>> {
  const series = collections(entries)
  let columns: { column: number; values: Collected }[] | undefined
  const isSheet = (name: string) => /^prices with tax/i.test(name)
  for await (const { number, cells } of sheetRows(workbook, isSheet)) {
    if (!columns) {
      const namedColumns = [...cells.entries()].flatMap(([column, cell]) => {
        const values = typeof cell === 'string' ? series.get(cell.trim()) : undefined
        return values ? [{ column, values }] : []
      })
      if (namedColumns.length > 0) columns = namedColumns
      else if (number > headerRowsMax) break
      continue
    }
    const week = dayOf(cells[0])
    if (!week) {
      for (const { column, values } of columns) {
        const cell = cells[column]
        if (typeof cell === 'string' && isUnit(cell)) values.state(cell.trim())
      }
      continue
    }
    for (const { column, values } of columns) values.add(week, cells[column], { thousands: true })
  }
  if (!columns) throw headerFault('the sheet', 'titles such as DE_price_with_tax_diesel')
  return series
}

const isWorkbook = ({ url }: PageLink): boolean => /\.xlsx\b/i.test(url)

const read = readLinkedFile(
  [
    pageUrl,
    'the workbook of the history',
    [
      link => isWorkbook(link) && /history/i.test(link.url),
      link => isWorkbook(link) && /history|since 2005/i.test(link.text),
      isWorkbook,
    ],
  ],
  pricesWithTaxes,
)

export const ecOilBulletin: Publisher = {
  name: 'ec_oil_bulletin',
  title: 'Weekly Oil Bulletin',
  publisher: 'European Commission',
  homepage: pageUrl,
  licenseClass: 'open',
  attribution: 'Source: European Commission, Weekly Oil Bulletin, CC BY 4.0',
  key: 'none',
  guide: {
    content: 'diesel and Euro-super 95 at the pump by EU country, weekly',
    terms: 'CC BY 4.0',
    format:
      'the link on the page with `Prices_History` in its name; the sheet; column names such as `DE_price_with_tax_diesel`; the row above the weeks, with `1000 l`',
  },
  hosts: ['energy.ec.europa.eu'],
  requestsPerSecond: 1,
  rereadDays: 0,
  calendar: [weeklyHeldBack(4, '12:00', euroSettlement, { zone: 'Europe/Brussels' })],
  read,
}
