import { isObject } from '../../../lib/text/json.ts'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import { headerFault, unreadable } from '../../reading/fault.ts'
import { jsonOf } from '../../reading/text.ts'
import type { MapEntry } from '../map.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from '../publisher.ts'
import { type Collected, collected, earliest, grouped, sentSeries } from '../series.ts'
import { timesOfDay } from './reading.ts'

/** The most rows of a page. */
const pageSize = 300
const firstDays = 365

/** Adds a page of days to each series, by the field that it has; how many pages there are. */
function addStorage(byField: ReadonlyMap<string, Collected>, bytes: Uint8Array): number {
  const body = jsonOf(bytes, 'the storage')
  if (!isObject(body) || !Array.isArray(body.data)) throw headerFault('the storage', 'data')
  for (const row of body.data as unknown[]) {
    if (!isObject(row) || typeof row.gasDayStart !== 'string') throw unreadable('a day of storage')
    for (const [field, series] of byField) {
      if (!(field in row)) throw headerFault('the storage', field)
      series.add(row.gasDayStart, row[field])
    }
  }
  return Number(body.last_page)
}

/** `DE` is the filling level in percent, `DE/gasInStorage` the volume in TWh. */
const fieldOf = ({ sourceId }: MapEntry): string => sourceId.split('/')[1] ?? 'full'

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  // The answer for a country has its filling level and its volume.
  for (const entries of grouped(reading.entries, entry => entry.at)) {
    const byField = new Map(entries.map(entry => [fieldOf(entry), collected()]))
    const since = earliest(entries.map(entry => reading.since(entry)))
    const from = since ?? isoDay(reading.now - firstDays * dayMs)
    let pages = 1
    for (let page = 1; page <= pages; page += 1) {
      const url = new URL(`https://agsi.gie.eu/api?${entries[0]!.at}`)
      url.searchParams.set('from', from)
      url.searchParams.set('to', isoDay(reading.now))
      url.searchParams.set('page', String(page))
      url.searchParams.set('size', String(pageSize))
      const headers = { 'x-key': reading.key ?? '' }
      pages = addStorage(byField, (await client.get({ url: url.href, headers })).bytes)
    }
    for (const entry of entries)
      yield* sentSeries([entry], new Map([[entry.sourceId, byField.get(fieldOf(entry))!]]), from)
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
  guide: {
    content: 'gas storage of the EU and six countries (AGSI)',
    terms: 'check the terms of GIE; the key is free',
    format: '`gasDayStart` and `full`, in pages',
  },
  hosts: ['agsi.gie.eu'],
  requestsPerSecond: 1,
  rereadDays: 30,
  calendar: timesOfDay('Europe/Brussels', ['19:35', '23:35']),
  read,
}
