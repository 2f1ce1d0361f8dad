import { isObject } from '../../lib/text/json.ts'
import { isoDay, parseDay } from '../../lib/time/instant.ts'
import { usFederal } from '../../topics/calendars/math/holidays.ts'
import { FeedFault, headerFault, unreadable } from '../reading/fault.ts'
import { leadingDay } from '../reading/periods.ts'
import { jsonOf, tableOf } from '../reading/text.ts'
import { everyWorkingDay } from './calendar.ts'
import type { MapEntry } from './map.ts'
import { type Page, readPages } from './paged.ts'
import type {
  Publisher,
  PublisherClient,
  PublisherRequest,
  Reading,
  SentSeries,
} from './publisher.ts'
import { type Collected, collected, sentSeries } from './series.ts'

const lengthMax = 100_000
/** From before the first record to forever: all vintages. */
const always = { from: '1776-07-04', to: '9999-12-31' }
/** The archive began to keep what it published about then. */
const firstVintageYear = 2010
/** An answer may speak of 2,000 vintages: five years have 1,305 working days. */
const vintageYears = 5

/** A value as it stood from a day on. */
interface Vintage {
  day: string
  value: unknown
  since: string
}

interface Range {
  from: string
  to: string
}

function vintagesRequest(
  id: string,
  since: string | undefined,
  known: Range,
  key: string,
  offset: number,
  length: number,
): PublisherRequest {
  const url = new URL('https://api.stlouisfed.org/fred/series/observations')
  const add = (name: string, value: string) => url.searchParams.append(name, value)
  add('series_id', id)
  add('file_type', 'json')
  if (since !== undefined) add('observation_start', since)
  add('realtime_start', known.from)
  add('realtime_end', known.to)
  add('sort_order', 'asc')
  add('offset', String(offset))
  add('limit', String(length))
  return { url: url.href, secret: { name: 'api_key', value: key } }
}

function vintagesPage(bytes: Uint8Array, id: string): Page<Vintage> {
  const body = jsonOf(bytes, id)
  if (!isObject(body) || !Array.isArray(body.observations)) throw unreadable(`the answer of ${id}`)
  const rows = body.observations.map((row: unknown): Vintage => {
    if (!isObject(row) || typeof row.date !== 'string' || typeof row.realtime_start !== 'string') {
      throw headerFault(`a row of ${id}`, 'date and realtime_start')
    }
    return { day: row.date, value: row.value, since: row.realtime_start }
  })
  return { total: Number(body.count), rows, truncated: false }
}

function metadataRequest(id: string, key: string): PublisherRequest {
  const url = new URL('https://api.stlouisfed.org/fred/series')
  url.searchParams.append('series_id', id)
  url.searchParams.append('file_type', 'json')
  return { url: url.href, secret: { name: 'api_key', value: key } }
}

/** The unit of a series: `Dollars per Barrel`. */
export function unitOf(bytes: Uint8Array, id: string): string {
  const body = jsonOf(bytes, `the metadata of ${id}`)
  const [series] = isObject(body) && Array.isArray(body.seriess) ? (body.seriess as unknown[]) : []
  if (!isObject(series) || typeof series.units !== 'string')
    throw headerFault(`the metadata of ${id}`, 'units')
  return series.units
}

/** The table of a series that is read without a key: two columns, the second named like the series. */
function graphTable(bytes: Uint8Array, id: string): Collected {
  const { header, rows } = tableOf(bytes, id)
  const isDay = /^(observation_date|date)$/i.test(header[0] ?? '')
  if (!isDay || header[1] !== id) throw headerFault(id, `columns observation_date and ${id}`)
  const series = collected()
  for (const row of rows) series.add(leadingDay(row[0] ?? '') ?? row[0] ?? '', row[1])
  return series
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  for (const entries of Map.groupBy(reading.entries, entry => entry.sourceId).values()) {
    const [first] = entries as [MapEntry, ...MapEntry[]]
    const since = reading.since(first)
    const series = await (reading.key === undefined
      ? readGraph(client, first.sourceId, since)
      : readVintages(client, first.sourceId, since, reading.key, reading.now))
    yield* sentSeries(entries, new Map([[first.sourceId, series]]), since)
  }
}

async function readGraph(
  client: PublisherClient,
  id: string,
  since: string | undefined,
): Promise<Collected> {
  const url = new URL('https://fred.stlouisfed.org/graph/fredgraph.csv')
  url.searchParams.append('id', id)
  if (since !== undefined) url.searchParams.append('cosd', since)
  return graphTable((await client.get({ url: url.href })).bytes, id)
}

/** Undefined if a mirror has only the values. */
async function readUnit(
  client: PublisherClient,
  id: string,
  key: string,
): Promise<string | undefined> {
  try {
    return unitOf((await client.get(metadataRequest(id, key))).bytes, id)
  } catch (error) {
    if (error instanceof FeedFault && error.status === 404) return undefined
    throw error
  }
}

async function readVintages(
  client: PublisherClient,
  id: string,
  since: string | undefined,
  key: string,
  now: number,
): Promise<Collected> {
  const series = collected(await readUnit(client, id, key))
  const last = new Map<string, unknown>()
  const readRange = async (known: Range) => {
    const rows = await readPages(
      async (offset, length) => {
        const request = vintagesRequest(id, since, known, key, offset, length)
        return vintagesPage((await client.get(request)).bytes, id)
      },
      row => `${row.day} as of ${row.since}`,
      lengthMax,
    )
    const ordered = rows.toSorted(
      (a, b) => a.day.localeCompare(b.day) || a.since.localeCompare(b.since),
    )
    for (const { day, value, since: from } of ordered) {
      // The API repeats values from before the range on the first day of the range.
      if (last.get(day) === value) continue
      last.set(day, value)
      const publishedAt = parseDay(from)
      series.add(day, value, publishedAt === undefined ? {} : { publishedAt })
    }
  }
  try {
    await readRange(since === undefined ? always : { from: since, to: always.to })
  } catch (error) {
    if (!(error instanceof FeedFault && error.status === 400)) throw error
    for (const range of rangesUpTo(isoDay(now), since)) await readRange(range)
  }
  return series
}

/** The time of recording in parts that one answer may speak of. */
function rangesUpTo(today: string, since: string | undefined): Range[] {
  const begin = since ?? always.from
  const firstYear = Math.max(firstVintageYear, Number(begin.slice(0, 4)))
  const ranges: Range[] = []
  let from = begin
  for (let year = firstYear; year <= Number(today.slice(0, 4)); year += vintageYears) {
    ranges.push({ from, to: `${year + vintageYears - 1}-12-31` })
    from = `${year + vintageYears}-01-01`
  }
  ranges.at(-1)!.to = always.to
  return ranges
}

export const fred: Publisher = {
  name: 'fred',
  title: 'FRED, economic data of the Federal Reserve Bank of St. Louis',
  publisher: 'U.S. Energy Information Administration via FRED',
  homepage: 'https://fred.stlouisfed.org/',
  licenseClass: 'open',
  attribution:
    'Source: U.S. Energy Information Administration, retrieved from FRED, Federal Reserve Bank of St. Louis',
  key: 'optional',
  guide: {
    content: 'EIA spot prices as republished by FRED; with a key also every earlier vintage',
    terms: 'public domain; name the source',
    format:
      '`observation_date` and the id in the header of the CSV; with a key, JSON, and the unit from the metadata of the series (`/fred/series`). Remove a series that FRED no longer has: `eia` has it',
  },
  hosts: ['api.stlouisfed.org', 'fred.stlouisfed.org'],
  requestsPerSecond: 2,
  rereadDays: 60,
  calendar: [everyWorkingDay('15:30', usFederal, { zone: 'America/Chicago' })],
  read,
}
