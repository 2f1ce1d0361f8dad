import { hourMs, isoDay, isoInstant, parseInstant } from '../../../lib/time/instant.ts'
import { eiaAttribution, eiaHost, eiaRows } from '../eia.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from '../publisher.ts'
import { collections, grouped } from '../series.ts'
import { addAt, sentSince, startOf, timesOfDay } from './reading.ts'

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  for (const entries of grouped(reading.entries, entry => isoDay(startOf(reading, entry)))) {
    const from = startOf(reading, entries[0]!)
    const series = collections(entries)
    const rows = await eiaRows(client, {
      route: 'electricity/rto/region-data',
      kind: 'instant',
      facets: [
        ['type', ['D']],
        ['respondent', entries.map(entry => entry.sourceId)],
      ],
      // A period is named by the hour in UTC at which it ends.
      start: isoInstant(from + hourMs).slice(0, 13),
      order: ['respondent'],
      key: reading.key ?? '',
    })
    for (const row of rows) {
      const collected = series.get(row.id)
      if (!collected) continue
      collected.state(row.unit)
      const end = parseInstant(`${row.period}:00Z`) ?? Number.NaN
      addAt(collected, end - hourMs, row.value)
    }
    yield* sentSince(entries, series, from)
  }
}

export const eia930: Publisher = {
  name: 'eia_930',
  title: 'Hourly demand of the US grid',
  publisher: 'U.S. Energy Information Administration',
  homepage: 'https://www.eia.gov/electricity/gridmonitor/',
  licenseClass: 'open',
  attribution: eiaAttribution,
  key: 'needed',
  guide: {
    content: 'hourly load of seven US grids',
    terms: 'public domain; name EIA; the key of `eia`',
    format: '`period` (the hour in UTC at which it ends), `respondent`, `value`',
  },
  hosts: [eiaHost],
  requestsPerSecond: 5,
  rereadDays: 30,
  calendar: timesOfDay('America/New_York', ['01:40', '07:40', '13:40', '19:40']),
  read,
}
