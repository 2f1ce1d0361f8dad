import { isObject } from '../../lib/text/json.ts'
import { londonBank } from '../../topics/calendars/math/holidays.ts'
import { cellOf } from '../reading/decimal.ts'
import { headerFault, unreadable } from '../reading/fault.ts'
import { americanDay, leadingDay } from '../reading/periods.ts'
import { jsonOf } from '../reading/text.ts'
import { everyWorkingDay } from './calendar.ts'
import type { MapEntry } from './map.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from './publisher.ts'
import { type Collected, collections, grouped, sentSeries } from './series.ts'

/** The order of the three prices of a day. */
const currencies = ['USD', 'GBP', 'EUR'] as const

/**
 * The prices of one auction by currency: series `gold_am/USD`. A 0 means that there was none, as
 * for the euro before 1999.
 */
function auction(
  bytes: Uint8Array,
  file: string,
  entries: readonly MapEntry[],
): Map<string, Collected> {
  const body = jsonOf(bytes, file)
  if (!Array.isArray(body)) throw unreadable(file)
  const series = collections(entries)
  for (const day of body as unknown[]) {
    if (!isObject(day) || typeof day.d !== 'string' || !Array.isArray(day.v)) {
      throw headerFault(`a day of ${file}`, 'd and v')
    }
    // Old editions of the file write days in the American order.
    const on = leadingDay(day.d) ?? americanDay(day.d) ?? day.d
    for (const [i, currency] of currencies.entries()) {
      const written: unknown = day.v[i]
      const cell = cellOf(written)
      const isNone = cell.kind === 'value' && Number(cell.text) === 0
      series.get(`${file}/${currency}`)?.add(on, isNone ? null : written)
    }
  }
  return series
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  for (const entries of grouped(reading.entries, entry => entry.at)) {
    const file = entries[0]!.at
    const url = `https://prices.lbma.org.uk/json/${file}.json`
    const answer = await client.get({ url, ifChanged: true })
    if (answer) yield* sentSeries(entries, auction(answer.bytes, file, entries), undefined)
  }
}

export const lbma: Publisher = {
  name: 'lbma',
  title: 'London gold and silver auctions',
  publisher: 'ICE Benchmark Administration, shown by the London Bullion Market Association',
  homepage: 'https://www.lbma.org.uk/prices-and-data/precious-metal-prices',
  licenseClass: 'view',
  attribution:
    'LBMA gold and silver prices of ICE Benchmark Administration; licence needed to pass on',
  key: 'none',
  guide: {
    content: 'gold and silver auctions in London',
    terms: 'needs a licence of IBA',
    format: 'may close to the public at any time; then import the data of your licence',
  },
  hosts: ['prices.lbma.org.uk'],
  requestsPerSecond: 1,
  rereadDays: 0,
  calendar: ['11:00', '12:30', '15:30'].map(time =>
    everyWorkingDay(time, londonBank, { zone: 'Europe/London' }),
  ),
  read,
}
