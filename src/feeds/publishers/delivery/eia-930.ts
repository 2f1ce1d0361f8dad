import { isObject } from '../../../lib/text/json.ts'
import { hourMs, isoDay, isoInstant, parseInstant } from '../../../lib/time/instant.ts'
import { FeedFault, unreadable } from '../../reading/fault.ts'
import { jsonOf } from '../../reading/text.ts'
import { eiaAttribution } from '../eia.ts'
import { type Page, readPages } from '../paged.ts'
import type {
  Publisher,
  PublisherClient,
  PublisherRequest,
  Reading,
  SentSeries,
} from '../publisher.ts'
import { collections, grouped } from '../series.ts'
import { addAt, sentSince, startOf, timesOfDay } from './reading.ts'

const host = 'api.eia.gov'
const lengthMax = 5000

interface DemandRow {
  id: string
  period: string
  value: unknown
  unit: string
}

/** One page of hourly demand; a period is named by the hour in UTC at which it ends. */
function demandPage(bytes: Uint8Array): Page<DemandRow> {
  const body = jsonOf(bytes, 'the hourly demand')
  const response = isObject(body) ? body.response : undefined
  if (!isObject(response) || !Array.isArray(response.data)) throw unreadable('the hourly demand')
  const rows = response.data.map((row: unknown): DemandRow => {
    if (!isObject(row) || typeof row.period !== 'string') throw unreadable('a row of the demand')
    if (!('value' in row))
      throw new FeedFault('unexpected_header', 'the rows of the demand have no value')
    const unit = row['value-units']
    return {
      id: String(row.respondent),
      period: row.period,
      value: row.value,
      unit: typeof unit === 'string' ? unit : '',
    }
  })
  return { total: Number(response.total), rows, truncated: Array.isArray(response.warnings) }
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  for (const entries of grouped(reading.entries, entry => isoDay(startOf(reading, entry)))) {
    const from = startOf(reading, entries[0]!)
    const page = async (offset: number, length: number) => {
      const request = requestOf(
        entries.map(entry => entry.sourceId),
        from,
        reading.key ?? '',
        offset,
        length,
      )
      return demandPage((await client.get(request)).bytes)
    }
    const series = collections(entries)
    for (const row of await readPages(page, ({ id, period }) => `${id} ${period}`, lengthMax)) {
      const collectedSeries = series.get(row.id)
      if (!collectedSeries) continue
      collectedSeries.state(row.unit)
      const end = parseInstant(`${row.period}:00Z`) ?? Number.NaN
      addAt(collectedSeries, end - hourMs, row.value)
    }
    yield* sentSince(entries, series, from)
  }
}

function requestOf(
  respondents: readonly string[],
  from: number,
  key: string,
  offset: number,
  length: number,
): PublisherRequest {
  const url = new URL(`https://${host}/v2/electricity/rto/region-data/data/`)
  const add = (name: string, value: string) => url.searchParams.append(name, value)
  add('frequency', 'hourly')
  add('data[0]', 'value')
  add('facets[type][]', 'D')
  for (const respondent of respondents) add('facets[respondent][]', respondent)
  add('start', isoInstant(from + hourMs).slice(0, 13))
  add('sort[0][column]', 'period')
  add('sort[0][direction]', 'asc')
  add('sort[1][column]', 'respondent')
  add('sort[1][direction]', 'asc')
  add('offset', String(offset))
  add('length', String(length))
  return { url: url.href, secret: { name: 'api_key', value: key } }
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
  hosts: [host],
  requestsPerSecond: 5,
  rereadDays: 30,
  calendar: timesOfDay('America/New_York', ['01:40', '07:40', '13:40', '19:40']),
  read,
}
