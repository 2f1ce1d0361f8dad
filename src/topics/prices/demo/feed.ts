import { type Clock, createSystemClock } from '../../../lib/time/clock.ts'
import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import { isIntraday } from '../../catalogue/math/catalogue.ts'
import { type depthOf, isMainCode, leadingCodes, newestFrom } from './history-depth.ts'
import { createPriceProgress, type Progress } from './progress.ts'
import { createPublication, type StoredSeries, type WorldPoint } from './publication.ts'
import type { World } from './world.ts'

/**
 * Takes points in one transaction, all or none; the same value for the same instant again changes
 * nothing.
 */
export interface Writer {
  write(points: readonly WorldPoint[], recordedAt: number): unknown
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
  /** As `beginQuotes`, of one series; of more than a few, of all. */
  quote(seriesId: number): void
  /** Whether the newest observation of a series before `before` is there: one of these. */
  hasNewest(seriesId: number, before: number): boolean
  /** Whether the newest stretch of a series is still to be written. */
  isUnwritten(seriesId: number): boolean
  /** Writes the history of a code, whatever is there of it already. */
  fill(code: string): void
  /**
   * Sees to it that all observations of a series made at `from` or later are there; false where they
   * were.
   */
  supply(seriesId: number, from: number): boolean
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
const earlyCodesMax = 100

/** So many codes are quoted one by one; whoever reads more reads lists of all. */
const quotedAloneMax = 100

/** The longest history of a code fits, so that it is written in one transaction. */
const pointsPerWrite = 12_000
/**
 * A long absence is made up for in spans that fit into memory; inside one, code by code, which a
 * database takes several times faster than point by point in time.
 */
const sliceMs = 30 * dayMs

/**
 * Of a copy that began with an image: what was published since is all of a code that is missing, and
 * where that is little, it is written sooner than a quote is found.
 */
const caughtUpMaxMs = ({ cadence }: StoredSeries): number =>
  isIntraday(cadence) ? 2 * hourMs : 14 * dayMs

export function createPriceFeed(deps: {
  world: World
  series: readonly StoredSeries[]
  ingest: Writer
  settings: Progress
  clock: Clock
  /** What a copy holds of a code. */
  depth?: typeof depthOf
  /** Codes whose records are numbered together: they begin with their whole history. */
  together?: readonly string[]
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Clock
}): PriceFeed {
  const { world, ingest, clock, stopwatch = createSystemClock() } = deps
  const progress = createPriceProgress(deps.settings, clock)
  const publication = createPublication(world, deps.depth)
  const together = new Set(deps.together)
  const order = fillOrder(deps.series)
  const byId = new Map(order.map(series => [series.id, series]))
  const byCode = new Map(order.map(series => [series.code, series]))
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

  /** False where all of them had begun. */
  function beginSome(some: readonly StoredSeries[]): boolean {
    if (progress.hasBegun()) return false
    const start = progress.startedAt()
    const done = progress.filled()
    const missing = some.filter(series => !done.has(series.code) && !isEarly(series, start))
    if (missing.length === 0) return false
    if (missing.some(series => together.has(series.code))) beginTogether(start)
    const alone = missing.filter(series => !together.has(series.code))
    if (early.askedCount + alone.length > earlyCodesMax) {
      begin()
      return true
    }
    beginAlone(alone, start)
    early.askedCount += alone.length
    return true
  }

  function beginAlone(some: readonly StoredSeries[], start: number): void {
    const span = { start, to: progress.filledTo() ?? start, imagedTo: progress.imagedTo() }
    write(some.flatMap(series => publication.newest(series, span)))
    for (const { code } of some) early.codes.add(code)
  }

  function write(points: readonly WorldPoint[]): void {
    const now = clock.now()
    for (let i = 0; i < points.length; i += pointsPerWrite)
      ingest.write(points.slice(i, i + pointsPerWrite), now)
  }

  const isUnquoted = ({ code, id }: StoredSeries): boolean => {
    const { codes, quoted } = earlyAt(progress.startedAt())
    return !progress.filled().has(code) && !codes.has(code) && !quoted.has(id)
  }

  const beginQuotes = (): void => quoteSome(order)

  function quoteSome(some: readonly StoredSeries[]): void {
    if (progress.hasBegun()) return
    const start = progress.startedAt()
    const { quoted } = earlyAt(start)
    const missing = some.filter(isUnquoted)
    if (missing.length === 0) return
    if (missing.some(({ code }) => together.has(code))) beginTogether(start)
    const alone = missing.filter(({ code }) => !together.has(code))
    const imagedTo = progress.imagedTo()
    const isRecent = (series: StoredSeries) =>
      imagedTo !== undefined && start - imagedTo <= caughtUpMaxMs(series)
    beginAlone(alone.filter(isRecent), start)
    const quotedSeries = alone
      .filter(series => !isRecent(series))
      .map(series => ({ series, quotes: publication.quotes(series, { start, imagedTo }) }))
    write(quotedSeries.flatMap(({ quotes }) => quotes.points))
    for (const { series, quotes } of quotedSeries) quoted.set(series.id, quotes.moments)
  }

  /** Codes that are numbered together are written at once and whole; false where they were there. */
  function beginTogether(start: number): boolean {
    const done = progress.filled()
    const whole = order.filter(({ code }) => together.has(code) && !done.has(code))
    if (whole.length === 0) return false
    const to = progress.filledTo() ?? start
    const imagedTo = progress.imagedTo()
    write(
      whole.flatMap(series =>
        imagedTo === undefined
          ? [...publication.older(series, { start }), ...publication.newest(series, { start, to })]
          : publication.between(series, imagedTo, to, to),
      ),
    )
    markFilled(whole)
    return true
  }

  const markFilled = (some: readonly StoredSeries[]) =>
    progress.addFilled(some.map(series => series.code))

  /** Goes on with the beginning until `until`; false once it is made. */
  function beginUntil(until: number): boolean {
    if (progress.hasBegun()) return false
    const start = progress.startedAt()
    if (beginTogether(start) && stopwatch.monotonic() >= until) return true
    const to = progress.filledTo() ?? start
    const imagedTo = progress.imagedTo()
    const done = progress.filled()
    const missing = order.filter(series => !done.has(series.code) && !isEarly(series, start))
    let batch: StoredSeries[] = []
    let points: WorldPoint[] = []
    const writeBatch = () => {
      write(points)
      for (const series of batch) early.codes.add(series.code)
      batch = []
      points = []
    }
    for (const series of missing) {
      const own = publication.newest(series, { start, to, imagedTo })
      if (points.length + own.length > pointsPerWrite) writeBatch()
      batch.push(series)
      for (const point of own) points.push(point)
      if (stopwatch.monotonic() < until) continue
      writeBatch()
      return true
    }
    writeBatch()
    progress.setBegun()
    return false
  }

  const begin = (): void => void beginUntil(Number.POSITIVE_INFINITY)

  /** Writes the history of the first codes that fit into one transaction; how many they are. */
  function fillSome(missing: readonly StoredSeries[]): number {
    const beginning = {
      start: progress.startedAt(),
      imagedTo: progress.imagedTo(),
      imagedWhole: progress.imagedWhole(),
    }
    let count = 0
    let points: WorldPoint[] = []
    for (const series of missing) {
      const own = publication.older(series, beginning)
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
    if (!series || progress.filled().has(code)) return
    beginSome([series])
    if (!progress.filled().has(code)) fillSome([series])
  }

  function supply(seriesId: number, from: number): boolean {
    const series = byId.get(seriesId)
    if (!series || progress.filled().has(series.code)) return false
    const hasBegun = beginSome([series])
    if (from >= newestFrom(series, progress.startedAt())) return hasBegun
    fill(series.code)
    return true
  }

  return {
    total: order.length,
    begin,
    beginStep: budgetMs => beginUntil(stopwatch.monotonic() + budgetMs),
    beginWith: codes => beginSome(codes.flatMap(code => byCode.get(code) ?? [])),
    beginQuotes,
    quote(seriesId) {
      const series = byId.get(seriesId)
      // A list of all codes asks this of each of them, most of which are there.
      if (!series || progress.hasBegun() || !isUnquoted(series)) return
      const { quoted, codes } = early
      quoteSome(quoted.size + codes.size < quotedAloneMax ? [series] : order)
    },
    hasNewest(seriesId, before) {
      const start = progress.begunAt()
      return start !== undefined && (earlyAt(start).quoted.get(seriesId)?.has(before) ?? false)
    },
    isUnwritten(seriesId) {
      const series = byId.get(seriesId)
      const start = progress.begunAt()
      if (!series || start === undefined || progress.hasBegun()) return false
      return !progress.filled().has(series.code) && !isEarly(series, start)
    },
    fill,
    filled: progress.filled,
    supply,
    step(budgetMs) {
      const until = stopwatch.monotonic() + budgetMs
      if (beginUntil(until)) return true
      let missing = order.filter(series => !progress.filled().has(series.code))
      while (missing.length > 0) {
        missing = missing.slice(fillSome(missing))
        if (stopwatch.monotonic() >= until) break
      }
      return missing.length > 0
    },
    advance(now) {
      const since = progress.filledTo()
      if (since === undefined || progress.paused || !progress.hasBegun()) return 0
      let count = 0
      for (let from = since; from < now; from += sliceMs) {
        const to = Math.min(now, from + sliceMs)
        const points = order.flatMap(series => publication.between(series, from, to, now))
        if (points.length === 0) continue
        write(points)
        // After the points: a crash between the two writes them again, which changes nothing. Not
        // without points: a span in which nothing was published can be asked again, and a quiet
        // second should not cost a transaction.
        progress.setFilledTo(to)
        count += points.length
      }
      return count
    },
    get paused() {
      return progress.paused
    },
    set paused(on) {
      progress.paused = on
    },
  }
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
