import { isObject } from '../../../lib/text/json.ts'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import { headerFault, unreadable } from '../../reading/fault.ts'
import { jsonOf } from '../../reading/text.ts'
import type { Line, Publisher, Reading, SentSeries } from '../publisher.ts'
import { type Collected, collected, sentSeries } from '../series.ts'
import { timesOfDay } from './reading.ts'

/** The most rows of a page. */
const pageSize = 300
const firstDays = 365

/** Adds a page of filling levels; how many pages there are. */
export function addStorage(series: Collected, bytes: Uint8Array): number {
  const body = jsonOf(bytes, 'the storage')
  if (!isObject(body) || !Array.isArray(body.data)) throw headerFault('the storage', 'data')
  for (const row of body.data as unknown[]) {
    if (!isObject(row) || typeof row.gasDayStart !== 'string') throw unreadable('a day of storage')
    if (!('full' in row)) throw headerFault('the storage', 'full')
    series.add(row.gasDayStart, row.full)
  }
  return Number(body.last_page)
}

async function* read(line: Line, reading: Reading): AsyncIterable<SentSeries> {
  for (const one of reading.lines) {
    const series = collected()
    const from = reading.since(one) ?? isoDay(reading.now - firstDays * dayMs)
    let pages = 1
    for (let page = 1; page <= pages; page += 1) {
      const url = new URL(`https://agsi.gie.eu/api?${one.at}`)
      url.searchParams.set('from', from)
      url.searchParams.set('to', isoDay(reading.now))
      url.searchParams.set('page', String(page))
      url.searchParams.set('size', String(pageSize))
      const headers = { 'x-key': reading.key ?? '' }
      pages = addStorage(series, (await line.ask({ url: url.href, headers })).bytes)
    }
    yield* sentSeries([one], new Map([[one.sourceId, series]]), from)
  }
}

export const gie: Publisher = {
  name: 'gie',
  title: 'European gas storage (AGSI)',
  publisher: 'Gas Infrastructure Europe',
  homepage: 'https://agsi.gie.eu/',
  licenseClass: 'view',
  attribution: 'Source: GIE AGSI',
  key: 'needed',
  hosts: ['agsi.gie.eu'],
  requestsPerSecond: 1,
  rereadDays: 30,
  calendar: timesOfDay('Europe/Brussels', ['19:35', '23:35']),
  read,
}
