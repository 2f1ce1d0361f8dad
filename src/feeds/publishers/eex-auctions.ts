import { isoDay } from '../../lib/time/instant.ts'
import { europeExchange } from '../../topics/calendars/math/holidays.ts'
import { FeedFault, headerFault } from '../reading/fault.ts'
import { dayOf, type SheetCell, sheetRows } from '../reading/workbook.ts'
import { everyWorkingDay } from './calendar.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from './publisher.ts'
import { type Collected, collections, earliest, sentSeries } from './series.ts'

const folder = 'https://public.eex-group.com/eex/eua-auction-report'
/** The years before are in other workbooks. */
const firstYear = 2020
const headerRowsMax = 12
/** Where a day has several auctions, that of the common platform counts. */
const commonAuction = /CAP3 EU/i

const reportUrl = (year: number): string =>
  `${folder}/emission-spot-primary-market-auction-report-${year}-data.xlsx`

const titles = {
  date: /^date$/i,
  name: /^auction name$/i,
  contract: /^contract$/i,
  status: /^status$/i,
  // The sign of the euro does not survive every export.
  price: /^auction price/i,
}
type Column = keyof typeof titles

/** `€/tCO2` of `Auction Price €/tCO2`, also where the sign of the euro was lost. */
const unitOfTitle = (title: string): string =>
  title
    .replace(/^\s*auction price/i, '')
    .replaceAll(/[()\s]/g, '')
    .replace(/^([^\x20-\x7e£]+|\?)/, '€')

/** The price of each day's auction of a contract: of the common platform, else of the first that succeeded. */
export async function auctionPrices(
  workbook: Uint8Array,
  contract: string,
  year: number,
): Promise<{ unit: string; prices: Map<string, SheetCell> }> {
  const prices = new Map<string, { price: SheetCell; isCommon: boolean }>()
  let columns: Record<Column, number> | undefined
  let unit = ''
  const isSheet = (name: string) => /^primary market auction$/i.test(name.trim())
  for await (const { number, cells } of sheetRows(workbook, isSheet)) {
    if (!columns) {
      columns = columnsOf(cells, year)
      if (columns) unit = unitOfTitle(String(cells[columns.price]))
      if (!columns && number > headerRowsMax) break
      continue
    }
    const cell = (column: Column) => cells[columns![column]]
    const isSold = cell('contract') === contract && /^successful$/i.test(String(cell('status')))
    const day = dayOf(cell('date'))
    if (!isSold || !day) continue
    const isCommon = commonAuction.test(String(cell('name')))
    const before = prices.get(day)
    if (!before || (isCommon && !before.isCommon))
      prices.set(day, { price: cell('price'), isCommon })
  }
  if (!columns) throw headerFault(`the report of ${year}`, 'header with Date and Contract')
  return { unit, prices: new Map([...prices].map(([day, { price }]) => [day, price])) }
}

function columnsOf(cells: readonly SheetCell[], year: number): Record<Column, number> | undefined {
  const at = (pattern: RegExp) =>
    [...cells].findIndex(cell => typeof cell === 'string' && pattern.test(cell.trim()))
  if (at(titles.date) < 0 || at(titles.contract) < 0) return undefined
  return Object.fromEntries(
    Object.entries(titles).map(([name, pattern]) => {
      if (at(pattern) < 0) throw headerFault(`the report of ${year}`, `column ${name}`)
      return [name, at(pattern)]
    }),
  ) as Record<Column, number>
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  const { entries } = reading
  const running = Number(isoDay(reading.now).slice(0, 4))
  const since = earliest(entries.map(reading.since))
  const from = Math.max(firstYear, since === undefined ? 0 : Number(since.slice(0, 4)))
  const series = collections(entries)
  for (let year = from; year <= running; year++) await addYear(client, year, series)
  yield* sentSeries(entries, series, since === undefined ? undefined : `${from}-01-01`)
}

async function addYear(
  client: PublisherClient,
  year: number,
  series: ReadonlyMap<string, Collected>,
) {
  try {
    const { bytes } = await client.get({ url: reportUrl(year) })
    for (const [contract, values] of series) {
      const { unit, prices } = await auctionPrices(bytes, contract, year)
      if (unit !== '') values.state(unit)
      for (const day of [...prices.keys()].sort()) values.add(day, prices.get(day))
    }
  } catch (error) {
    // A year's workbook appears with its first auction.
    if (!(error instanceof FeedFault && error.status === 404)) throw error
  }
}

export const eexAuctions: Publisher = {
  name: 'eex_auctions',
  title: 'Auctions of European emission allowances',
  publisher: 'European Energy Exchange',
  homepage: 'https://www.eex.com/en/market-data/market-data-hub/environmentals',
  licenseClass: 'view',
  attribution: 'Source: European Energy Exchange AG; not to be copied or passed on',
  key: 'none',
  guide: {
    content: 'EU allowances at auction',
    terms: 'needs the consent of EEX',
    format:
      'the address with its year; the sheet; `Auction Price` in the header, with the unit after it. You can import a downloaded workbook instead',
  },
  hosts: ['public.eex-group.com'],
  requestsPerSecond: 1,
  rereadDays: 14,
  calendar: [everyWorkingDay('13:00', europeExchange, { zone: 'Europe/Berlin' })],
  read,
}
