import { dayMs, isoDay, minuteMs } from '../../../lib/time/instant.ts'
import {
  type DataStatus,
  type FreshUntil,
  freshUntil,
  statusAt,
} from '../../calendars/math/freshness.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { type GuardTerms, guardAction } from '../../prices/math/guards.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { LatestPrices } from '../../prices/service/reads/latest-prices.ts'
import type { ObservationStore } from '../../prices/store/observations.ts'

/** The range of a series' observations outside quarantine. */
export interface Reach {
  firstOn: string
  lastAt: number
}

export type FeedStatus = DataStatus | 'empty'

/** The series of one source in one category. */
export interface Feed {
  name: string
  status: FeedStatus
  lastObservationAt: number | undefined
  /** When the first of its cadences is no longer current without a new observation. */
  expectedBy: number | undefined
  /** Codes with data, and how many of them are stale. */
  codes: number
  staleCodes: number
}

/** How many of the codes that should have data have it, and how old it is. */
export interface Tally {
  total: number
  current: number
  delayed: number
  stale: number
  missing: number
}

export interface Overview extends Tally {
  byCategory: Map<string, Tally>
  newestAt: number | undefined
  /** The oldest observation among the current codes. */
  oldestCurrentAt: number | undefined
}

/**
 * How far and how fresh the data of the catalogue is; of a futures family, that of the contract
 * that answers for it. From memory, except for series whose newest or oldest days are quarantined.
 */
export type Freshness = ReturnType<typeof createFreshness>

export interface FreshnessDeps {
  catalogue: Catalogue
  quarantine: QuarantineList
  observations: ObservationStore
  latestPrices: LatestPrices
  now: () => number
}

/** A code that has data, and how old that is. */
interface CodeAge {
  series: Series
  lastAt: number
  until: FreshUntil
  status: DataStatus
}

/** The freshness of all codes, cached until it may have changed. */
interface AllFreshness {
  /** Another text after every write of prices and every change of the catalogue. */
  data: string
  quarantined: ReturnType<QuarantineList['all']>
  minute: number
  at: number
  /** When the first of them has another status, should nothing be written before. */
  validUntil: number
  overview: Overview
  feeds: readonly Feed[]
}

export function createFreshness({
  catalogue,
  quarantine,
  observations,
  latestPrices,
  now,
}: FreshnessDeps) {
  /** Undefined without an observation that reads may use. */
  const reach = (listed: Series): Reach | undefined => {
    const series = catalogue.resolve(listed.code, now())!.series
    const extent = catalogue.extent(series)
    if (!extent) return undefined
    const clear = quarantine.clear(series.id, extent.firstAt, extent.lastAt + 1)
    const endsAreClear = clear[0]?.from === extent.firstAt && clear.at(-1)!.to > extent.lastAt
    const isPast = series.delivery !== undefined || extent.lastAt <= now()
    if (endsAreClear && isPast) return { firstOn: isoDay(extent.firstAt), lastAt: extent.lastAt }
    const newest = latestPrices.newest(series)
    const first = observations
      .days(series.id)
      .find(day => quarantine.clear(series.id, day.startsAt, day.startsAt + dayMs).length > 0)
    return newest && first && { firstOn: isoDay(first.startsAt), lastAt: newest.observedAt }
  }

  const ageOf = (series: Series, at: number): CodeAge | undefined => {
    const lastAt = reach(series)?.lastAt
    if (lastAt === undefined) return undefined
    const until = freshUntil(series, lastAt)
    return { series, lastAt, until, status: statusAt(until, at) }
  }

  const isFreshWhenWritten = (listed: Series): boolean => {
    const { series } = catalogue.resolve(listed.code, now())!
    const extent = catalogue.extent(series)
    const writtenAt = extent && observations.newestWrittenAt(series.id)
    return (
      writtenAt !== undefined && statusAt(freshUntil(series, extent!.lastAt), writtenAt) !== 'stale'
    )
  }
  let origins = { data: '', codes: new Map<string, boolean>() }
  /**
   * Whether the newest value of a series came while it was fresh. That of an archive did not, and
   * nothing more is awaited of it.
   */
  const cameFresh = (series: Series): boolean => {
    if (origins.data !== dataNow()) origins = { data: dataNow(), codes: new Map() }
    const { codes } = origins
    return codes.getOrInsertComputed(series.code, () => isFreshWhenWritten(series))
  }

  const dataNow = () => `${catalogue.version} ${latestPrices.changes}`
  let last: AllFreshness | undefined
  const current = (): AllFreshness => {
    const at = now()
    // Families get other front contracts when exchanges open, on whole minutes.
    const minute = Math.floor(at / minuteMs)
    const quarantined = quarantine.all()
    if (
      last?.data === dataNow() &&
      last.quarantined === quarantined &&
      last.minute === minute &&
      last.at <= at &&
      at <= last.validUntil
    )
      return last
    const expected = catalogue.list().filter(series => series.unavailableReason === null)
    const ages = new Map(expected.map(series => [series, ageOf(series, at)]))
    const agesOf = (list: readonly Series[]) => list.flatMap(series => ages.get(series) ?? [])
    last = {
      data: dataNow(),
      quarantined,
      minute,
      at,
      validUntil: nextChangeAt([...ages.values()], at),
      overview: overviewOf(ages),
      feeds: [...Map.groupBy(expected, feedNameOf)]
        .map(([name, list]) => feedOf(name, agesOf(list)))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    }
    return last
  }

  return {
    reach,
    hasData: (series: Series) => catalogue.hasData(series) && reach(series) !== undefined,
    overview: () => current().overview,
    /** Every feed that the catalogue has a source for, by name. */
    feeds: () => current().feeds,
    cameFresh,
    /** The same of any series of a feed, by its name. */
    feedCameFresh: (name: string) =>
      catalogue.list().some(series => feedNameOf(series) === name && cameFresh(series)),
  }
}

/**
 * The last moment at which every status is still the same as at `at`, as long as there is no write.
 */
const nextChangeAt = (ages: readonly (CodeAge | undefined)[], at: number): number =>
  ages.reduce((first, age) => {
    const ends = age ? [age.until.currentUntil, age.until.delayedUntil] : []
    return Math.min(first, ...ends.filter(end => end >= at))
  }, Number.POSITIVE_INFINITY)

function overviewOf(ages: ReadonlyMap<Series, CodeAge | undefined>): Overview {
  const overview: Overview = {
    ...emptyTally(),
    byCategory: new Map(),
    newestAt: undefined,
    oldestCurrentAt: undefined,
  }
  for (const [series, age] of ages) {
    const status = age?.status ?? 'missing'
    const category = overview.byCategory.getOrInsertComputed(series.category, emptyTally)
    for (const tally of [overview, category]) {
      tally.total += 1
      tally[status] += 1
    }
    if (!age) continue
    const { lastAt } = age
    overview.newestAt = Math.max(overview.newestAt ?? lastAt, lastAt)
    if (status === 'current')
      overview.oldestCurrentAt = Math.min(overview.oldestCurrentAt ?? lastAt, lastAt)
  }
  return overview
}

/** Where the newest values come from, else the source that the catalogue expects, and the category. */
export const feedNameOf = (series: Series): string => `${sourceOf(series).name}/${series.category}`

const emptyTally = (): Tally => ({ total: 0, current: 0, delayed: 0, stale: 0, missing: 0 })

const worst: readonly DataStatus[] = ['stale', 'delayed', 'current']

/**
 * As late as the latest of its cadences: weekly publications must not hide that the daily codes
 * have stopped. Nor must one code that continues hide others of its cadence that have: with those
 * the feed is delayed at least.
 */
function feedOf(name: string, dated: readonly CodeAge[]): Feed {
  if (dated.length === 0)
    return {
      name,
      status: 'empty',
      lastObservationAt: undefined,
      expectedBy: undefined,
      codes: 0,
      staleCodes: 0,
    }
  // Discontinued series are not expected to have new values.
  const awaited = dated.filter(
    ({ series, status }) =>
      guardAction('stop', series.terms?.guards as GuardTerms | undefined) !== 'off' ||
      status !== 'stale',
  )
  const byCadence = [...Map.groupBy(awaited, ({ series }) => series.cadence).values()]
  const newest = byCadence.map(part =>
    part.reduce((best, age) => (age.lastAt > best.lastAt ? age : best)),
  )
  const statuses = new Set(newest.map(({ status }) => status))
  const staleCodes = awaited.filter(({ status }) => status === 'stale').length
  if (staleCodes > 0) statuses.add('delayed')
  return {
    name,
    status: worst.find(status => statuses.has(status)) ?? 'current',
    codes: dated.length,
    staleCodes,
    lastObservationAt: Math.max(...dated.map(({ lastAt }) => lastAt)),
    expectedBy:
      newest.length === 0 ? undefined : Math.min(...newest.map(({ until }) => until.currentUntil)),
  }
}
