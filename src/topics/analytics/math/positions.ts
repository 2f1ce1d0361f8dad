import { dayMs, isoDay, parseDay, startOfWeek } from '../../../lib/time/instant.ts'
import { addTradingDays, isTradingDay } from '../../calendars/math/calendar.ts'

/**
 * A market of the Commitments of Traders, and the code of the catalogue whose price it is about.
 */
export interface CotMarket {
  market: string
  code: string
  /** The agency's contract market code. */
  contractMarketCode: string
}

export const cotMarkets: readonly CotMarket[] = [
  { market: 'WTI', code: 'WTI_USD', contractMarketCode: '067651' },
  { market: 'BRENT', code: 'BRENT_CRUDE_USD', contractMarketCode: '06765T' },
  { market: 'NATURAL_GAS', code: 'NATURAL_GAS_USD', contractMarketCode: '023651' },
  { market: 'RBOB', code: 'GASOLINE_USD', contractMarketCode: '111659' },
  { market: 'HEATING_OIL', code: 'HEATING_OIL_USD', contractMarketCode: '022651' },
]

const byMarket = new Map(cotMarkets.map(market => [market.market, market]))
const byNumber = new Map(cotMarkets.map(market => [market.contractMarketCode, market]))

/**
 * The code of the catalogue that a market is about; undefined for markets that are not of energy.
 */
export const codeOfMarket = (market: string): string | undefined => byMarket.get(market)?.code

/**
 * The stored name of a market: `Natural Gas` and the agency's 023651 are NATURAL_GAS; any other name
 * keeps its words.
 */
export function marketOfCot(text: string): string {
  const name = text.trim().toUpperCase()
  return byNumber.get(name)?.market ?? name.replaceAll(/[\s-]+/g, '_')
}

const tuesdayAfterMondayDays = 1
const releaseDays = 3
const releaseTime = '15:30'
const zone = 'America/New_York'

/**
 * The days that reports are of, in the weeks from `from` to `to` (days, both inclusive): Tuesdays,
 * and Mondays where the Tuesday is a federal holiday.
 */
export function reportDays(from: string, to: string): string[] {
  const days: string[] = []
  for (let monday = startOfWeek(parseDay(from)!); monday <= parseDay(to)!; monday += 7 * dayMs) {
    const tuesday = monday + tuesdayAfterMondayDays * dayMs
    days.push(isoDay(isTradingDay('us_government', tuesday) ? tuesday : monday))
  }
  return days.filter(day => day >= from && day <= to)
}

/**
 * When a report is published: 15:30 in New York on the third business day of the government after
 * its Tuesday, a Friday but for holidays.
 */
export function cotReleasedAt(reportedOn: string): number {
  const tuesday = startOfWeek(parseDay(reportedOn)!) + tuesdayAfterMondayDays * dayMs
  const day = isoDay(addTradingDays('us_government', tuesday, releaseDays))
  return Temporal.ZonedDateTime.from(`${day}T${releaseTime}[${zone}]`).epochMilliseconds
}
