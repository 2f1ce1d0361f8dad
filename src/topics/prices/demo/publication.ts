import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import { type Cadence, isIntraday } from '../../catalogue/math/catalogue.ts'
import { changeBases } from '../math/change.ts'
import { type Depth, depthOf, newestFrom } from './history-depth.ts'
import type { WorldSeries } from './series.ts'
import { longestDelayMs, type Observation, type World } from './world.ts'

export interface StoredSeries extends WorldSeries {
  id: number
}

/**
 * An observation of the fixture world on its way to the database, with the time at which it counts
 * as recorded.
 */
export interface WorldPoint extends Observation {
  seriesId: number
}

/** What the world has published of a code, as a copy that was started at `start` keeps it. */
export interface Publication {
  /** What was published after `from`, up to `to`. */
  between(series: StoredSeries, from: number, to: number, now: number): WorldPoint[]
  /**
   * The first observation of a code and all that was published in its newest stretch; of a copy
   * that began with an image, what that has not.
   */
  newest(series: StoredSeries, span: Beginning & { to: number }): WorldPoint[]
  /** All that was published of a code before its newest stretch. */
  older(series: StoredSeries, span: Beginning): WorldPoint[]
  /** What a code is quoted with, and the moments before which each is the newest. */
  quotes(series: StoredSeries, span: Pick<Beginning, 'start' | 'imagedTo'>): Quotes
}

export interface Beginning {
  /** When the copy began. */
  start: number
  /** Up to where the image that it began with had prices. */
  imagedTo?: number | undefined
  /** The codes whose history the image had too. */
  imagedWhole?: ReadonlySet<string>
}

export interface Quotes {
  points: WorldPoint[]
  moments: ReadonlySet<number>
}

/**
 * A clock that is moved by more than this gets closes instead of every five minutes for what lies
 * further back.
 */
const denseDays = 40

export function createPublication(world: World, ofHistory = depthOf): Publication {
  function pointsOf(series: StoredSeries, observations: readonly Observation[]): WorldPoint[] {
    return observations.map(observation => ({ seriesId: series.id, ...observation }))
  }

  function published(series: StoredSeries, from: number, to: number, now: number): WorldPoint[] {
    const denseFrom = now - denseDays * dayMs
    return pointsOf(
      series,
      world.observations(series.code, from, to, {
        from: 0,
        hourlyFrom: denseFrom,
        rawFrom: denseFrom,
      }),
    )
  }

  function newestOf(
    series: StoredSeries,
    { start, to, imagedTo }: Parameters<Publication['newest']>[1],
  ): WorldPoint[] {
    const depth = ofHistory(series, start)
    const from = newestFrom(series, start)
    if (imagedTo !== undefined) {
      const since = world.observations(series.code, Math.max(from, imagedTo), start, depth)
      return pointsOf(series, since).concat(published(series, start, to, to))
    }
    const first = firstOf(world, series.code, depth, from)
    return pointsOf(series, [
      ...first,
      ...world
        .observations(series.code, Math.max(from, depth.from), start, depth)
        .filter(observation => observation.observedAt !== first[0]?.observedAt),
    ]).concat(published(series, start, to, to))
  }

  /**
   * The newest observation of a code made before `before` that was published between `since` and
   * `start`.
   */
  function newestBefore(
    series: StoredSeries,
    before: number,
    { start, since }: Search,
    recent: Recent,
  ): Observation | undefined {
    const newest = recent.observations.findLast(({ observedAt }) => observedAt < before)
    // One that was observed earlier may have been published after a newer one.
    if ((newest && newest.observedAt >= recent.from) || recent.from === since) return newest
    const depth = ofHistory(series, start)
    const end = Math.min(before, start)
    const publishedBy = Math.min(start, end + longestDelayMs(series.cadence))
    for (let spanMs = quoteSpanMs; spanMs <= longestQuoteSpanMs; spanMs *= 3) {
      const from = Math.max(since, end - spanMs)
      const newest = world
        .observations(series.code, from, publishedBy, depth)
        .findLast(({ observedAt }) => observedAt < before)
      if ((newest && newest.observedAt >= from) || from === since) return newest
    }
    return undefined
  }

  /** One span of all that quotes are looked for in, where that is not many observations. */
  function recentOf(series: StoredSeries, { start, since }: Search): Recent {
    if (isIntraday(series.cadence)) return { from: start, observations: [] }
    const from = Math.max(since, start - recentDays[series.cadence] * dayMs)
    const depth = ofHistory(series, start)
    return { from, observations: world.observations(series.code, from, start, depth) }
  }

  /**
   * The newest observation of a code and those that its changes are against, as far as they were
   * published since; undefined where nothing was.
   */
  function quotedSince(
    series: StoredSeries,
    search: Search,
  ): (Pick<Quotes, 'moments'> & { observations: Observation[] }) | undefined {
    const recent = recentOf(series, search)
    const newest = newestBefore(series, Number.MAX_SAFE_INTEGER, search, recent)
    if (!newest) return undefined
    const observations = [newest]
    const moments = new Set([Number.MAX_SAFE_INTEGER])
    for (const [, before] of changeBases(series.cadence, newest.observedAt)) {
      const base = newestBefore(series, before, search, recent)
      if (base) observations.push(base)
      // What was published before an image is there.
      if (base || search.since > 0) moments.add(before)
    }
    return { observations, moments }
  }

  /** What a code is quoted with, and the moments before which each is the newest. */
  function quotesOf(
    series: StoredSeries,
    { start, imagedTo }: Pick<Beginning, 'start' | 'imagedTo'>,
  ): Quotes {
    // An image has the first observation.
    const first =
      imagedTo === undefined
        ? firstOf(world, series.code, ofHistory(series, start), newestFrom(series, start))
        : []
    const quoted =
      (imagedTo !== undefined && quotedSince(series, { start, since: imagedTo })) ||
      quotedSince(series, { start, since: 0 })
    if (!quoted) return { points: pointsOf(series, first), moments: new Set() }
    const isMissing = ({ recordedAt }: Observation) => recordedAt >= (imagedTo ?? 0)
    const missing = [...first, ...quoted.observations.filter(isMissing)]
    const byTime = new Map(missing.map(one => [one.observedAt, one]))
    const inOrder = [...byTime.values()].sort((a, b) => a.observedAt - b.observedAt)
    return { points: pointsOf(series, inOrder), moments: quoted.moments }
  }

  function olderOf(
    series: StoredSeries,
    { start, imagedTo = start, imagedWhole }: Beginning,
  ): WorldPoint[] {
    // An image has the first observation of its own reach, and what follows must not be missing.
    const depth = { ...ofHistory(series, start), from: ofHistory(series, imagedTo).from }
    const from = imagedWhole?.has(series.code) ? imagedTo : depth.from
    const to = newestFrom(series, start)
    return from < to ? pointsOf(series, world.observations(series.code, from, to, depth)) : []
  }

  return { between: published, newest: newestOf, older: olderOf, quotes: quotesOf }
}

/** What is looked at: what was published since an image, or 0, and before the copy began, Unix ms. */
interface Search {
  start: number
  since: number
}

/** What was published of a code from `from` on. */
interface Recent {
  from: number
  observations: readonly Observation[]
}

/** Changes go back 90 days, and the observation that they are against may be a period older. */
const recentDays: Readonly<Record<Cadence, number>> = {
  intraday_2_5m: 0,
  intraday_5m: 0,
  twice_daily: 100,
  daily: 100,
  weekly: 120,
  monthly: 200,
}

/** Where the newest observation before a moment is looked for; longer while there is none. */
const quoteSpanMs = 3 * hourMs
const longestQuoteSpanMs = 274 * dayMs

/** A first observation is looked for in spans of these lengths, from the beginning on. */
const firstSpansDays = [8, 60, 240, Number.POSITIVE_INFINITY]

/** The first observation of a history, if it is published before `before`. */
function firstOf(world: World, code: string, depth: Depth, before: number): Observation[] {
  for (const days of firstSpansDays) {
    const to = Math.min(depth.from + days * dayMs, before)
    const some = world.observations(code, depth.from, to, depth)
    if (some.length > 0) return some.slice(0, 1)
    if (to === before) break
  }
  return []
}
