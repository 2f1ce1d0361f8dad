import { isObject } from '../../../lib/text/json.ts'
import { dayMs, isoInstant, parseInstant } from '../../../lib/time/instant.ts'
import { headerFault, unreadable } from '../../reading/fault.ts'
import { jsonOf } from '../../reading/text.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from '../publisher.ts'
import { type Collected, collected } from '../series.ts'
import { addAt, sentSince, startOf, timesOfDay } from './reading.ts'

/** The longest span of one request. */
const spanMs = 7 * dayMs

/** Prices of one provider, by the start of their settlement period. */
export function addIndexPrices(series: Collected, bytes: Uint8Array, provider: string): void {
  const body = jsonOf(bytes, 'the market index')
  if (!isObject(body) || !Array.isArray(body.data)) throw headerFault('the market index', 'data')
  for (const row of body.data as unknown[]) {
    if (!isObject(row)) throw unreadable('a row of the market index')
    if (row.dataProvider !== provider) continue
    if (!('price' in row)) throw headerFault('the market index', 'price')
    if (typeof row.startTime !== 'string') throw headerFault('the market index', 'startTime')
    addAt(series, parseInstant(row.startTime) ?? Number.NaN, row.price)
  }
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  for (const entry of reading.entries) {
    const series = collected()
    const from = startOf(reading, entry)
    for (let at = from; at < reading.now; at += spanMs) {
      const url = new URL('https://data.elexon.co.uk/bmrs/api/v1/balancing/pricing/market-index')
      url.searchParams.set('from', isoInstant(at))
      // Both ends are included: the last one is the first of the next request.
      url.searchParams.set('to', isoInstant(Math.min(at + spanMs, reading.now) - 1000))
      url.searchParams.set('dataProviders', entry.sourceId)
      addIndexPrices(series, (await client.get({ url: url.href })).bytes, entry.sourceId)
    }
    yield* sentSince([entry], new Map([[entry.sourceId, series]]), from)
  }
}

export const elexon: Publisher = {
  name: 'elexon',
  title: 'Market index prices of Great Britain',
  publisher: 'Elexon',
  homepage: 'https://bmrs.elexon.co.uk/market-index-prices',
  licenseClass: 'view',
  attribution: 'Contains BMRS data © Elexon Limited copyright and database right',
  key: 'none',
  guide: {
    content: 'market index price of Great Britain by half hours',
    terms: 'check the terms of Elexon',
    format: '`startTime` and `price` of a provider (`source_id`)',
  },
  hosts: ['data.elexon.co.uk'],
  requestsPerSecond: 5,
  rereadDays: 7,
  calendar: timesOfDay('Europe/London', ['01:10', '05:10', '09:10', '13:10', '17:10', '21:10']),
  read,
}
