import { dayMs, isoDay, minuteMs, parseInstant } from '../../../lib/time/instant.ts'
import { FeedFault, headerFault } from '../../reading/fault.ts'
import { tableOf } from '../../reading/text.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from '../publisher.ts'
import { type Collected, collected, grouped } from '../series.ts'
import { addAt, sentSince, startOf, timesOfDay } from './reading.ts'

const intervalMs = 5 * minuteMs
/** Before it prices were of half hours. */
const fiveMinutesSince = Date.UTC(2021, 9, 1)

/** Prices or demand of a month: `SETTLEMENTDATE` is the end of five minutes on clocks of UTC+10. */
export function addMonth(
  series: Collected,
  bytes: Uint8Array,
  { region, name }: { region: string; name: string },
  from: number,
): void {
  const { header, rows } = tableOf(bytes, 'the month')
  const column = (name: string) => {
    const at = header.indexOf(name)
    if (at < 0) throw headerFault('the month', name)
    return at
  }
  const [place, time, value] = [column('REGION'), column('SETTLEMENTDATE'), column(name)]
  for (const row of rows) {
    if (row[place] !== region) continue
    const [date = '', clock = ''] = (row[time] ?? '').replaceAll('/', '-').split(' ')
    const end = parseInstant(`${date}T${clock}+10:00`) ?? Number.NaN
    if (end - intervalMs < from) continue
    addAt(series, end - intervalMs, row[value])
  }
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  // A file has the prices and the demand of a region.
  for (const entries of grouped(reading.entries, entry => entry.sourceId)) {
    const region = entries[0]!.sourceId
    const all = entries.map(entry => ({ entry, series: collected() }))
    const from = Math.max(
      Math.min(...entries.map(entry => startOf(reading, entry))),
      fiveMinutesSince,
    )
    for (const month of monthsBetween(from, reading.now)) {
      const bytes = await fileOf(client, month, region, reading.now)
      if (!bytes) continue
      for (const { entry, series } of all) addMonth(series, bytes, { region, name: entry.at }, from)
    }
    for (const { entry, series } of all)
      yield* sentSince([entry], new Map([[region, series]]), from)
  }
}

/** The months of UTC+10 in which anything of `[from, to)` ends. */
function monthsBetween(from: number, to: number): string[] {
  const months = new Set<string>()
  for (let at = from; at <= to + dayMs; at += dayMs) months.add(isoDay(at).slice(0, 7))
  return [...months]
}

/** The file of a month; that of a month that has just begun may not be there yet. */
async function fileOf(client: PublisherClient, month: string, region: string, now: number) {
  const name = `PRICE_AND_DEMAND_${month.replace('-', '')}_${region}.csv`
  try {
    const url = `https://aemo.com.au/aemo/data/nem/priceanddemand/${name}`
    return (await client.get({ url })).bytes
  } catch (error) {
    const isNew = month >= isoDay(now).slice(0, 7)
    if (error instanceof FeedFault && error.status === 404 && isNew) return undefined
    throw error
  }
}

export const aemo: Publisher = {
  name: 'aemo',
  title: 'Prices and demand of the Australian National Electricity Market',
  publisher: 'Australian Energy Market Operator',
  homepage:
    'https://aemo.com.au/energy-systems/electricity/national-electricity-market-nem/data-nem/aggregated-data',
  licenseClass: 'view',
  attribution: 'Source: Australian Energy Market Operator (AEMO)',
  key: 'none',
  guide: {
    content: 'prices of the five Australian regions by five minutes',
    terms: 'check the terms of AEMO',
    format:
      '`REGION`, `SETTLEMENTDATE`, `RRP`; the date is the end of a five-minute period in UTC+10',
  },
  hosts: ['aemo.com.au'],
  requestsPerSecond: 2,
  rereadDays: 3,
  calendar: timesOfDay('Australia/Brisbane', ['00:20', '06:20', '12:20', '18:20']),
  read,
}
