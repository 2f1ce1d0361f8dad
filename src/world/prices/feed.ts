import { type Clock, createSystemClock } from '../../lib/clock.ts'
import { dayMs } from '../../lib/instant.ts'
import { type Cadence, isIntraday } from '../../market/catalogue/catalogue.ts'
import { changeBases } from '../../market/prices/change.ts'
import { type Depth, depthOf, isMainCode, leadingCodes, newestFrom } from './history-depth.ts'
import type { WorldSeries } from './series.ts'
import { longestDelayDays, type Observation, type World } from './world.ts'

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

/**
 * Takes points in one transaction, all or none; the same value for the same instant again changes
 * nothing.
 */
export interface Writer {
  write(points: readonly WorldPoint[], recordedAt: number): unknown
}

/**
 * Where progress is kept, beside the data, so that a copy that is restored goes on from where it
 * was.
 */
export interface Progress {
  get(name: string): string | undefined
  set(name: string, value: string): void
}

/**
 * The prices of an evaluation copy: the newest of every code at once, its history when it is asked
 * for or in the background, then whatever the world publishes as the clock moves.
 */
export interface PriceFeed {
  /**
   * Writes the newest stretch of every code, as far as lists of all codes look back, and the first
   * observation of each: from then on every code is known with its whole reach. Once.
   */
  begin(): void
  /** Goes on with that for about `budgetMs`; false once it is done. */
  beginStep(budgetMs: number): boolean
  /**
   * As `begin`, of these codes only and of those that are numbered with them; of more than a few,
   * of all: together they take less than one by one.
   */
  beginWith(codes: readonly string[]): void
  /**
   * Writes the newest observation of every code, those that its changes are against and the first
   * one: what lists of prices are made of, and known with its whole reach too.
   */
  beginQuotes(): void
  /** Whether the newest observation of a series before `before` is there: one of these. */
  hasNewest(seriesId: number, before: number): boolean
  /** Writes the history of a code, whatever is there of it already. */
  fill(code: string): void
  /** Sees to it that all observations of a series made at `from` or later are there. */
  supply(seriesId: number, from: number): void
  /**
   * Writes history for about `budgetMs`, at least one transaction; false once every code has its
   * own.
   */
  step(budgetMs: number): boolean
  /**
   * Writes what the world published since the last pass, for the codes that have begun, each oldest
   * first; answers how many points. Does nothing while paused.
   */
  advance(now: number): number
  /** Paused, data ages as the clock moves; afterwards the next pass catches up. */
  paused: boolean
  /** The codes whose history is complete. */
  filled(): ReadonlySet<string>
  /** How many codes the copy will have. */
  readonly total: number
}

/** So many codes begin by themselves; whoever reads more reads lists of all. */
const earlyCodesMax = 12

/** The longest history of a code fits, so that it is written in one transaction. */
const pointsPerWrite = 12_000
/**
 * A clock that is moved by more than this gets closes instead of every five minutes for what lies
 * further back.
 */
const denseDays = 40

/**
 * A long absence is made up for in spans that fit into memory; inside one, code by code, which a
 * database takes several times faster than point by point in time.
 */
const sliceMs = 30 * dayMs

const names = {
  startedAt: 'fixture.started_at',
  filledTo: 'fixture.filled_to',
  filled: 'fixture.filled',
  /** The newest stretch of every code is there. */
  begun: 'fixture.begun',
  paused: 'fixture.paused',
}

export function createPriceFeed(deps: {
  world: World
  series: readonly StoredSeries[]
  ingest: Writer
  settings: Progress
  clock: Clock
  /** Codes whose records are numbered together: they begin with their whole history. */
  together?: readonly string[]
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Clock
}): PriceFeed {
  const { world, ingest, clock, stopwatch = createSystemClock() } = deps
  const settings = remembered(deps.settings)
  const together = new Set(deps.together)
  const order = fillOrder(deps.series)
  const byId = new Map(order.map(series => [series.id, series]))
  const byCode = new Map(order.map(series => [series.code, series]))
  let filledCodes = { text: '', codes: new Set<string>() as ReadonlySet<string> }

  function filled(): ReadonlySet<string> {
    const text = settings.get(names.filled) ?? ''
    if (text !== filledCodes.text)
      filledCodes = { text, codes: new Set(text.split(' ').filter(Boolean)) }
    return filledCodes.codes
  }

  function instant(name: string): number | undefined {
    const text = settings.get(name)
    return text === undefined ? undefined : Number(text)
  }

  function startedAt(): number {
    const stored = instant(names.startedAt)
    if (stored !== undefined) return stored
    const now = clock.now()
    settings.set(names.startedAt, String(now))
    return now
  }

  const isPaused = (): boolean => settings.get(names.paused) === 'true'
  const hasBegun = (): boolean => settings.get(names.begun) !== undefined
  /**
   * Codes that began by themselves, in this state of the copy: kept in memory only, because what is
   * written again changes nothing.
   */
  const early = {
    startedAt: Number.NaN,
    codes: new Set<string>(),
    askedCount: 0,
    /** By series, the moments before which the newest observation is there. */
    quoted: new Map<number, ReadonlySet<number>>(),
  }
  const earlyAt = (start: number): typeof early => {
    if (early.startedAt !== start) {
      early.startedAt = start
      early.codes.clear()
      early.askedCount = 0
      early.quoted.clear()
    }
    return early
  }
  const isEarly = (series: StoredSeries, start: number): boolean =>
    earlyAt(start).codes.has(series.code)

  function beginSome(some: readonly StoredSeries[]): void {
    if (hasBegun()) return
    const start = startedAt()
    const done = filled()
    const missing = some.filter(series => !done.has(series.code) && !isEarly(series, start))
    if (missing.length === 0) return
    if (missing.some(series => together.has(series.code))) beginTogether(start)
    const alone = missing.filter(series => !together.has(series.code))
    if (early.askedCount + alone.length > earlyCodesMax) {
      begin()
      return
    }
    const to = filledTo() ?? start
    write(alone.flatMap(series => newestOf(series, start, to)))
    for (const series of alone) early.codes.add(series.code)
    early.askedCount += alone.length
  }

  function write(points: readonly WorldPoint[]): void {
    const now = clock.now()
    for (let i = 0; i < points.length; i += pointsPerWrite)
      ingest.write(points.slice(i, i + pointsPerWrite), now)
  }

  /** Up to where the codes that have begun have everything. */
  const filledTo = (): number | undefined => instant(names.filledTo) ?? instant(names.startedAt)

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

  /** The first observation of a code and all that was published in its newest stretch. */
  function newestOf(series: StoredSeries, start: number, to: number): WorldPoint[] {
    const depth = depthOf(series, start)
    const from = newestFrom(series, start)
    const first = firstOf(world, series.code, depth, from)
    return pointsOf(series, [
      ...first,
      ...world
        .observations(series.code, Math.max(from, depth.from), start, depth)
        .filter(observation => observation.observedAt !== first[0]?.observedAt),
    ]).concat(published(series, start, to, to))
  }

  /** The newest observation of a code made before `before` that was published before `start`. */
  function newestBefore(
    series: StoredSeries,
    before: number,
    start: number,
    recent: Recent,
  ): Observation | undefined {
    const newest = recent.observations.findLast(({ observedAt }) => observedAt < before)
    // One that was observed earlier may have been published after a newer one.
    if (newest && newest.observedAt >= recent.from) return newest
    const depth = depthOf(series, start)
    const end = Math.min(before, start)
    for (let spanMs = quoteSpanMs; spanMs <= longestQuoteSpanMs; spanMs *= 3) {
      const from = end - spanMs
      const newest = world
        .observations(series.code, from, Math.min(start, end + longestDelayMs), depth)
        .findLast(({ observedAt }) => observedAt < before)
      if (newest && newest.observedAt >= from) return newest
    }
    return undefined
  }

  /** One span of all that quotes are looked for in, where that is not many observations. */
  function recentOf(series: StoredSeries, start: number): Recent {
    const from = start - recentDays[series.cadence] * dayMs
    const observations = isIntraday(series.cadence)
      ? []
      : world.observations(series.code, from, start, depthOf(series, start))
    return { from, observations }
  }

  /** What a code is quoted with, and the moments before which each is the newest. */
  function quotesOf(series: StoredSeries, start: number) {
    const points = firstOf(world, series.code, depthOf(series, start), newestFrom(series, start))
    const moments = new Set<number>()
    const recent = recentOf(series, start)
    const take = (before: number): Observation | undefined => {
      const newest = newestBefore(series, before, start, recent)
      if (!newest) return undefined
      moments.add(before)
      if (points.every(({ observedAt }) => observedAt !== newest.observedAt)) points.push(newest)
      return newest
    }
    const newest = take(Number.MAX_SAFE_INTEGER)
    if (newest)
      for (const [, before] of changeBases(series.cadence, newest.observedAt)) take(before)
    points.sort((a, b) => a.observedAt - b.observedAt)
    return { points: pointsOf(series, points), moments }
  }

  function beginQuotes(): void {
    if (hasBegun()) return
    const start = startedAt()
    const { codes, quoted } = earlyAt(start)
    const done = filled()
    const missing = order.filter(
      ({ code, id }) => !done.has(code) && !codes.has(code) && !quoted.has(id),
    )
    beginTogether(start)
    const quotedSeries = missing
      .filter(({ code }) => !together.has(code))
      .map(series => ({ series, quotes: quotesOf(series, start) }))
    write(quotedSeries.flatMap(({ quotes }) => quotes.points))
    for (const { series, quotes } of quotedSeries) quoted.set(series.id, quotes.moments)
  }

  /** Codes that are numbered together are written at once and whole. */
  function beginTogether(start: number): void {
    const done = filled()
    const whole = order.filter(({ code }) => together.has(code) && !done.has(code))
    if (whole.length === 0) return
    const to = filledTo() ?? start
    write(whole.flatMap(series => [...olderOf(series, start), ...newestOf(series, start, to)]))
    markFilled(whole)
  }

  const markFilled = (some: readonly StoredSeries[]) =>
    settings.set(names.filled, [...filled(), ...some.map(series => series.code)].join(' '))

  /** Goes on with the beginning until `until`; false once it is made. */
  function beginUntil(until: number): boolean {
    if (hasBegun()) return false
    const start = startedAt()
    const to = filledTo() ?? start
    const done = filled()
    const missing = order.filter(series => !done.has(series.code) && !isEarly(series, start))
    beginTogether(start)
    let batch: StoredSeries[] = []
    let points: WorldPoint[] = []
    const writeBatch = () => {
      write(points)
      for (const series of batch) early.codes.add(series.code)
      batch = []
      points = []
    }
    for (const series of missing) {
      if (together.has(series.code)) continue
      const own = newestOf(series, start, to)
      if (points.length + own.length > pointsPerWrite) writeBatch()
      batch.push(series)
      for (const point of own) points.push(point)
      if (stopwatch.monotonic() < until) continue
      writeBatch()
      return true
    }
    writeBatch()
    settings.set(names.begun, 'true')
    return false
  }

  const begin = (): void => void beginUntil(Number.POSITIVE_INFINITY)

  /** All that was published of a code before its newest stretch. */
  function olderOf(series: StoredSeries, start: number): WorldPoint[] {
    const depth = depthOf(series, start)
    const to = newestFrom(series, start)
    return pointsOf(series, world.observations(series.code, depth.from, to, depth))
  }

  /** Writes the history of the first codes that fit into one transaction; how many they are. */
  function fillSome(missing: readonly StoredSeries[]): number {
    const start = startedAt()
    let count = 0
    let points: WorldPoint[] = []
    for (const series of missing) {
      const own = olderOf(series, start)
      if (count > 0 && points.length + own.length > pointsPerWrite) break
      count += 1
      points = points.length === 0 ? own : [...points, ...own]
    }
    write(points)
    markFilled(missing.slice(0, count))
    return count
  }

  function fill(code: string): void {
    const series = byCode.get(code)
    if (!series || filled().has(code)) return
    beginSome([series])
    if (!filled().has(code)) fillSome([series])
  }

  return {
    total: order.length,
    begin,
    beginStep: budgetMs => beginUntil(stopwatch.monotonic() + budgetMs),
    beginWith: codes => beginSome(codes.flatMap(code => byCode.get(code) ?? [])),
    beginQuotes,
    hasNewest(seriesId, before) {
      const start = instant(names.startedAt)
      return start !== undefined && (earlyAt(start).quoted.get(seriesId)?.has(before) ?? false)
    },
    fill,
    filled,
    supply(seriesId, from) {
      const series = byId.get(seriesId)
      if (!series || filled().has(series.code)) return
      beginSome([series])
      if (from < newestFrom(series, startedAt())) fill(series.code)
    },
    step(budgetMs) {
      const until = stopwatch.monotonic() + budgetMs
      if (beginUntil(until)) return true
      let missing = order.filter(series => !filled().has(series.code))
      while (missing.length > 0) {
        missing = missing.slice(fillSome(missing))
        if (stopwatch.monotonic() >= until) break
      }
      return missing.length > 0
    },
    advance(now) {
      const since = filledTo()
      if (since === undefined || isPaused() || !hasBegun()) return 0
      let count = 0
      for (let from = since; from < now; from += sliceMs) {
        const to = Math.min(now, from + sliceMs)
        const points = order.flatMap(series => published(series, from, to, now))
        if (points.length === 0) continue
        write(points)
        // After the points: a crash between the two writes them again, which changes nothing. Not
        // without points: a span in which nothing was published can be asked again, and a quiet
        // second should not cost a transaction.
        settings.set(names.filledTo, String(to))
        count += points.length
      }
      return count
    },
    get paused() {
      return isPaused()
    },
    set paused(on) {
      settings.set(names.paused, String(on))
    },
  }
}

/** Every read of a series asks how far its code is, and nobody else writes it. */
function remembered(settings: Progress): Progress {
  const values = new Map<string, string | undefined>()
  return {
    get(name) {
      if (!values.has(name)) values.set(name, settings.get(name))
      return values.get(name)
    },
    set(name, value) {
      settings.set(name, value)
      values.set(name, value)
    },
  }
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
const quoteSpanMs = dayMs
const longestQuoteSpanMs = 243 * dayMs
/** From an observation to its publication. */
const longestDelayMs = longestDelayDays * dayMs

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

/**
 * The codes that answers name first, then those that are quoted all day, then the rest; those
 * without data not at all.
 */
function fillOrder(series: readonly StoredSeries[]): StoredSeries[] {
  const rank = (series: StoredSeries): number => {
    const leading = leadingCodes.indexOf(series.code)
    return leading >= 0 ? leading : leadingCodes.length + (isMainCode(series) ? 0 : 1)
  }
  return series
    .filter(series => series.available)
    .toSorted((a, b) => rank(a) - rank(b) || (a.code < b.code ? -1 : 1))
}
