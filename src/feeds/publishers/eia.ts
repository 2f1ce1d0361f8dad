import { isObject } from '../../lib/text/json.ts'
import { dayMs, hourMs, isoDay } from '../../lib/time/instant.ts'
import { usFederal } from '../../topics/calendars/math/holidays.ts'
import { outlookPublishedAt } from '../../topics/fundamentals/math/outlook.ts'
import { FeedFault, unreadable } from '../reading/fault.ts'
import { type PeriodKind, periodOf, periodWith } from '../reading/periods.ts'
import { jsonOf } from '../reading/text.ts'
import {
  type Calendar,
  everyDay,
  lastRelease,
  type ReleaseRule,
  weeklyBroughtForward,
  weeklyHeldBack,
} from './calendar.ts'
import type { MapEntry } from './map.ts'
import { type Page, readPages } from './paged.ts'
import type {
  Publisher,
  PublisherClient,
  PublisherRequest,
  Reading,
  SentSeries,
} from './publisher.ts'
import { collections, grouped, sentSeries } from './series.ts'

export const eiaHost = 'api.eia.gov'
/** The most rows of one JSON answer. */
const lengthMax = 5000
export const eastern = { zone: 'America/New_York' }

const frequencies: Readonly<Record<PeriodKind, string>> = {
  instant: 'hourly',
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  quarter: 'quarterly',
  year: 'annual',
}

/** Weekly petroleum, gas in store, diesel twice, the outlook on its first Tuesday and a week later. */
const outlookRule: ReleaseRule = {
  ...eastern,
  time: '12:00',
  isOn: day => {
    const published = outlookPublishedAt(isoDay(day * dayMs).slice(0, 7))
    const on = Math.floor(published / dayMs)
    return day === on || day === on + 7
  },
  windowMs: 3 * hourMs,
  lateAfterMs: 8 * dayMs,
}

/** When the outlook that is in force was published. */
export const outlookRelease = (now: number): number => lastRelease([outlookRule], now)?.at ?? now

const eiaCalendar: Calendar = [
  weeklyHeldBack(3, '10:30', usFederal, eastern),
  // Prices of spot markets are posted in one batch a week, some hours after the stocks.
  weeklyHeldBack(3, '13:30', usFederal, eastern),
  weeklyBroughtForward(4, '10:30', usFederal, { ...eastern, earlierTime: '12:00' }),
  weeklyHeldBack(1, '17:00', usFederal, eastern),
  weeklyHeldBack(2, '10:00', usFederal, eastern),
  outlookRule,
]

/** The release calendar of the bulk archives, which are rebuilt twice a day. */
export const eiaBulkCalendar: Calendar = [everyDay('05:15', eastern), everyDay('15:15', eastern)]

export const eiaAttribution = 'Source: U.S. Energy Information Administration'

/** One row as every route sends it, without unused fields. */
interface EiaRow {
  id: string
  period: string
  value: unknown
  unit: string
}

interface EiaQuery {
  route: string
  kind: PeriodKind
  facets: Iterable<readonly [facet: string, values: Iterable<string>]>
  /** Bounds are compared as text, so it has the form of the periods. */
  start: string | undefined
  /** The columns after the period that rows are sorted by. */
  order: readonly string[]
  key: string
}

/** A page of one route. */
function eiaRequest(
  { route, kind, facets, start, order, key }: EiaQuery,
  offset: number,
  length: number,
): PublisherRequest {
  const url = new URL(`https://${eiaHost}/v2/${route}/data/`)
  const add = (name: string, value: string) => url.searchParams.append(name, value)
  add('frequency', frequencies[kind])
  add('data[0]', 'value')
  for (const [facet, values] of facets) for (const value of values) add(`facets[${facet}][]`, value)
  if (start !== undefined) add('start', start)
  for (const [i, column] of ['period', ...order].entries()) {
    add(`sort[${i}][column]`, column)
    add(`sort[${i}][direction]`, 'asc')
  }
  add('offset', String(offset))
  add('length', String(length))
  return { url: url.href, secret: { name: 'api_key', value: key } }
}

const orderOf = (route: string): string =>
  route === 'steo' ? 'seriesId' : route === 'international' ? 'countryRegionId' : 'series'

function facetsOf(route: string, entries: readonly MapEntry[]): Map<string, Set<string>> {
  if (route !== 'international') {
    return new Map([[orderOf(route), new Set(entries.map(entry => entry.sourceId))]])
  }
  const facets = new Map<string, Set<string>>()
  const names = ['productId', 'activityId', 'countryRegionId', 'unit']
  for (const { sourceId } of entries) {
    for (const [i, value] of partsOf(sourceId).entries()) {
      facets.set(names[i]!, (facets.get(names[i]!) ?? new Set()).add(value))
    }
  }
  return facets
}

/** Product, activity, country and unit of `INTL.57-1-SAU-TBPD.M`, as the archives name such a series. */
const partsOf = (sourceId: string): string[] => sourceId.replace(/^INTL\.|\.[MQA]$/g, '').split('-')

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

export function eiaPage(bytes: Uint8Array, route: string, kind: PeriodKind): Page<EiaRow> {
  const body = jsonOf(bytes, `the answer of ${route}`)
  const response = isObject(body) ? body.response : undefined
  if (!isObject(response) || !Array.isArray(response.data))
    throw unreadable(`the answer of ${route}`)
  const rows = response.data.map((row: unknown): EiaRow => {
    if (!isObject(row) || typeof row.period !== 'string') throw unreadable(`a row of ${route}`)
    if (!('value' in row)) {
      throw new FeedFault(
        'unexpected_header',
        `the rows of ${route} have no value: their form has changed`,
      )
    }
    return {
      id: idOf(row, route),
      period: periodOf(row.period, kind) ?? row.period,
      value: row.value,
      unit: text(row.units) || text(row.unit) || text(row['value-units']),
    }
  })
  const warned = [body, response].some(part => isObject(part) && hasWarning(part))
  return { total: Number(response.total), rows, truncated: warned }
}

/** The rows of all pages of a query. */
export const eiaRows = async (client: PublisherClient, query: EiaQuery): Promise<EiaRow[]> =>
  await readPages(
    async (offset, length) => {
      const { bytes } = await client.get(eiaRequest(query, offset, length))
      return eiaPage(bytes, query.route, query.kind)
    },
    row => `${row.id} ${row.period}`,
    lengthMax,
  )

function idOf(row: Readonly<Record<string, unknown>>, route: string): string {
  if (route === 'international') {
    const parts = [row.productId, row.activityId, row.countryRegionId, row.unit]
    return `INTL.${parts.join('-')}.M`
  }
  return text(row.series) || text(row.seriesId) || text(row.respondent)
}

function hasWarning(part: Readonly<Record<string, unknown>>): boolean {
  if (typeof part.warning === 'string') return true
  return Array.isArray(part.warnings) && part.warnings.length > 0
}

/** An address has no room for all series of a route. */
const seriesMax = 20

/** Entries in parts of so many series; entries of one series stay together. */
function inParts(entries: readonly MapEntry[]): MapEntry[][] {
  const bySeries = [...Map.groupBy(entries, entry => entry.sourceId).values()]
  const parts: MapEntry[][] = []
  for (let at = 0; at < bySeries.length; at += seriesMax) {
    parts.push(bySeries.slice(at, at + seriesMax).flat())
  }
  return parts
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  const key = reading.key ?? ''
  const groups = grouped(
    reading.entries,
    entry => `${entry.at} ${entry.kind} ${reading.since(entry) ?? ''}`,
  )
  for (const entries of groups.flatMap(inParts)) {
    const { at, kind } = entries[0]!
    const since = reading.since(entries[0]!)
    const series = collections(entries)
    for (const row of await rowsOf(client, entries, since, key)) {
      const collected = series.get(row.id)
      if (!collected) continue
      collected.state(row.unit)
      collected.add(row.period, row.value)
    }
    for (const sent of sentSeries(entries, series, since)) {
      yield at === 'steo' ? outlookOf(sent, kind, reading.now) : sent
    }
  }
}

async function rowsOf(
  client: PublisherClient,
  entries: readonly MapEntry[],
  since: string | undefined,
  key: string,
): Promise<EiaRow[]> {
  const { at: route, kind } = entries[0]!
  const order = entries.length > 1 ? [orderOf(route)] : []
  const start = since === undefined ? undefined : periodWith(since, kind)
  try {
    return await eiaRows(client, {
      route,
      kind,
      facets: facetsOf(route, entries),
      start,
      order,
      key,
    })
  } catch (error) {
    // A missing route counts as a series without rows, and is judged as such.
    if (error instanceof FeedFault && error.status === 404) return []
    throw error
  }
}

/**
 * The outlook mixes history and forecasts in one series. As a forecast it keeps all rows from the
 * previous year on, as the report prints them; every other target takes only completed periods.
 */
export function outlookOf(sent: SentSeries, kind: PeriodKind, now: number): SentSeries {
  const today = isoDay(now)
  const isForecast = 'dataset' in sent.entry.target && sent.entry.target.dataset === 'outlooks'
  const first = periodWith(`${Number(today.slice(0, 4)) - 1}-01-01`, kind)
  const running = periodWith(today, kind)
  const rows = sent.rows.filter(({ period }) => (isForecast ? period >= first : period < running))
  if (!isForecast) return { ...sent, rows }
  const covers = `${Number(today.slice(0, 4)) - 1}-01-01`
  return { ...sent, rows, covers: sent.covers && sent.covers > covers ? sent.covers : covers }
}

export const eia: Publisher = {
  name: 'eia',
  title: 'EIA open data',
  publisher: 'U.S. Energy Information Administration',
  homepage: 'https://www.eia.gov/opendata/',
  licenseClass: 'open',
  attribution: eiaAttribution,
  key: 'needed',
  guide: {
    content:
      'US spot prices, stocks, retail fuels, rigs, the Short-Term Energy Outlook, OPEC production, drilling',
    terms: 'public domain; name EIA; the key is free',
    format:
      'routes, facets and column names in `eia.ts`. If a series moved, change `source_id` or `at` in the map; a missing route is reported as `series_empty`. Use `eia_bulk` in the meantime',
  },
  hosts: [eiaHost],
  requestsPerSecond: 5,
  rereadDays: 60,
  calendar: eiaCalendar,
  read,
}
