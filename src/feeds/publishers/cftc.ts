import { isObject } from '../../lib/text/json.ts'
import { dayMs, hourMs, isoDay, startOfWeek } from '../../lib/time/instant.ts'
import { cotReleasedAt } from '../../topics/analytics/math/positions.ts'
import { FeedFault, headerFault, unreadable } from '../reading/fault.ts'
import { leadingDay } from '../reading/periods.ts'
import { jsonOf } from '../reading/text.ts'
import type { ReleaseRule } from './calendar.ts'
import type {
  Publisher,
  PublisherClient,
  PublisherRequest,
  Reading,
  SentSeries,
} from './publisher.ts'
import { collections, grouped, sentSeries } from './series.ts'

/** Disaggregated reports, futures only. */
const url = 'https://publicreporting.cftc.gov/resource/72hh-3qpy.json'
const lengthMax = 1000
const dateField = 'report_date_as_yyyy_mm_dd'
const contractField = 'cftc_contract_market_code'

function reportsRequest(
  contract: string,
  since: string | undefined,
  offset: number,
  length: number,
): PublisherRequest {
  const address = new URL(url)
  const from = since === undefined ? '' : ` AND ${dateField} >= '${since}T00:00:00.000'`
  address.searchParams.append('$where', `${contractField}='${contract}'${from}`)
  address.searchParams.append('$order', dateField)
  address.searchParams.append('$limit', String(length))
  address.searchParams.append('$offset', String(offset))
  return { url: address.href }
}

type Report = Readonly<Record<string, unknown>>

function reportsPage(bytes: Uint8Array, contract: string): Report[] {
  const body = jsonOf(bytes, `the reports of ${contract}`)
  if (!Array.isArray(body)) throw unreadable(`the reports of ${contract}`)
  return body.map((report: unknown) => {
    if (!isObject(report) || typeof report[dateField] !== 'string') {
      throw headerFault(`a report of ${contract}`, dateField)
    }
    return report
  })
}

/** All reports of a contract. The answers name no total: they end with a page that is not full. */
async function reportsOf(
  client: PublisherClient,
  contract: string,
  since: string | undefined,
): Promise<Report[]> {
  const reports: Report[] = []
  const days = new Set<unknown>()
  for (;;) {
    const request = reportsRequest(contract, since, reports.length, lengthMax)
    const page = reportsPage((await client.get(request)).bytes, contract)
    for (const report of page) {
      if (days.has(report[dateField])) {
        throw new FeedFault('changed_while_read', `${contract} has two reports of one day`)
      }
      days.add(report[dateField])
      reports.push(report)
    }
    if (page.length < lengthMax) return reports
  }
}

/** Contract and field of `067651/m_money_positions_long_all`. */
const partsOf = (sourceId: string): [contract: string, field: string] => {
  const [contract = '', field = ''] = sourceId.split('/')
  return [contract, field]
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  for (const entries of grouped(reading.entries, entry => partsOf(entry.sourceId)[0])) {
    const [contract] = partsOf(entries[0]!.sourceId)
    const since = reading.since(entries[0]!)
    const series = collections(entries)
    for (const report of await reportsOf(client, contract, since)) {
      if (String(report[contractField] ?? contract) !== contract) continue
      const written = String(report[dateField])
      for (const [id, values] of series) {
        const [, field] = partsOf(id)
        if (!(field in report)) throw headerFault(`a report of ${contract}`, field)
        values.add(leadingDay(written) ?? written, report[field])
      }
    }
    yield* sentSeries(entries, series, since)
  }
}

/** Friday at 15:30; each holiday of the week delays it by a day. */
const releaseRule: ReleaseRule = {
  zone: 'America/New_York',
  time: '15:30',
  isOn: day => {
    // Held back over a weekend it falls into the next week.
    return [0, 7].some(back => {
      const monday = startOfWeek((day - back) * dayMs)
      return Math.floor(cotReleasedAt(isoDay(monday + dayMs)) / dayMs) === day
    })
  },
  windowMs: 2 * hourMs,
  lateAfterMs: dayMs,
}

export const cftc: Publisher = {
  name: 'cftc',
  title: 'Commitments of Traders, disaggregated, futures only',
  publisher: 'U.S. Commodity Futures Trading Commission',
  homepage: 'https://www.cftc.gov/MarketReports/CommitmentsofTraders/index.htm',
  licenseClass: 'open',
  attribution: 'Source: U.S. Commodity Futures Trading Commission',
  key: 'none',
  guide: {
    content: 'positions of managed money',
    terms: 'public domain',
    format: 'the number of the data set and its field names, including their misspellings',
  },
  hosts: ['publicreporting.cftc.gov'],
  requestsPerSecond: 2,
  rereadDays: 56,
  calendar: [releaseRule],
  read,
}
