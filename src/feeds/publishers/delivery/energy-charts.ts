import { isObject } from '../../../lib/text/json.ts'
import { dayMs, isoDay, secondMs } from '../../../lib/time/instant.ts'
import { headerFault } from '../../reading/fault.ts'
import { jsonOf } from '../../reading/text.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from '../publisher.ts'
import { type Collected, collected } from '../series.ts'
import { addAt, sentSince, startOf, timesOfDay } from './reading.ts'

/** Prices as two lists of one length. */
function addListed(series: Collected, bytes: Uint8Array): void {
  const body = jsonOf(bytes, 'the prices')
  if (!isObject(body)) throw headerFault('the prices', 'unix_seconds')
  const { unix_seconds: times, price, unit } = body
  if (!Array.isArray(times)) throw headerFault('the prices', 'unix_seconds')
  if (!Array.isArray(price) || price.length !== times.length)
    throw headerFault('the prices', 'price for each time')
  series.state(typeof unit === 'string' ? unit : '')
  for (const [i, seconds] of times.entries()) addAt(series, Number(seconds) * secondMs, price[i])
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  for (const entry of reading.entries) {
    const series = collected()
    const from = startOf(reading, entry)
    const url = new URL('https://api.energy-charts.info/price')
    url.searchParams.set('bzn', entry.sourceId)
    url.searchParams.set('start', isoDay(from))
    url.searchParams.set('end', isoDay(reading.now + 2 * dayMs))
    addListed(series, (await client.get({ url: url.href })).bytes)
    yield* sentSince([entry], new Map([[entry.sourceId, series]]), from)
  }
}

export const energyCharts: Publisher = {
  name: 'energy_charts',
  title: 'Day-ahead prices by bidding zone',
  publisher: 'Fraunhofer ISE, Energy-Charts',
  homepage: 'https://www.energy-charts.info/',
  licenseClass: 'view',
  attribution: 'Source: Energy-Charts, Fraunhofer ISE',
  key: 'none',
  guide: {
    content: 'day-ahead power of European bidding zones',
    terms: 'check the terms of Energy-Charts',
    format: '`unix_seconds`, `price` and `unit`. A return to longer periods is held',
  },
  hosts: ['api.energy-charts.info'],
  requestsPerSecond: 2,
  rereadDays: 3,
  calendar: timesOfDay('Europe/Berlin', ['13:10', '14:40', '18:10']),
  read,
}
