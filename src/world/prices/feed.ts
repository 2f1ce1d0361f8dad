import { type Clock, createSystemClock } from '../../lib/clock.ts'
import { dayMs } from '../../lib/instant.ts'
import { isMainCode, leadingCodes } from './history-depth.ts'
import type { WorldSeries } from './series.ts'
import type { Observation, World } from './world.ts'

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
 * The data of an evaluation copy: its history first, then whatever the world publishes as the clock
 * moves.
 */
export interface WorldFeed {
  /**
   * Writes history for about `budgetMs`, at least one transaction; false once every code has its
   * own.
   */
  step(budgetMs: number): boolean
  /**
   * Writes what the world published since the last pass, for the codes that have their history,
   * each oldest first; answers how many points. Does nothing while paused.
   */
  advance(now: number): number
  /** Paused, data ages as the clock moves; afterwards the next pass catches up. */
  paused: boolean
  /**
   * The codes whose history is complete. Others may have rows already and must be treated as
   * without data.
   */
  filled(): ReadonlySet<string>
  /** How many codes the copy will have. */
  readonly total: number
}

/** The longest history of a code fits, so that a code appears whole or not at all. */
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
  paused: 'fixture.paused',
}

export function createPriceFeed(deps: {
  world: World
  series: readonly StoredSeries[]
  ingest: Writer
  settings: Progress
  clock: Clock
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Clock
}): WorldFeed {
  const { world, ingest, settings, clock, stopwatch = createSystemClock() } = deps
  const order = fillOrder(deps.series)
  let known = { text: '', codes: new Set<string>() as ReadonlySet<string> }

  /** Read from the settings each time: they are what a restored copy was restored to. */
  function filled(): ReadonlySet<string> {
    const text = settings.get(names.filled) ?? ''
    if (text !== known.text) known = { text, codes: new Set(text.split(' ').filter(Boolean)) }
    return known.codes
  }

  function instant(name: string): number | undefined {
    const text = settings.get(name)
    return text === undefined ? undefined : Number(text)
  }

  function startedAt(): number {
    const known = instant(names.startedAt)
    if (known !== undefined) return known
    const now = clock.now()
    settings.set(names.startedAt, String(now))
    return now
  }

  const isPaused = (): boolean => settings.get(names.paused) === 'true'

  function write(points: readonly WorldPoint[]): void {
    const now = clock.now()
    for (let i = 0; i < points.length; i += pointsPerWrite)
      ingest.write(points.slice(i, i + pointsPerWrite), now)
  }

  /** Up to where the codes that are filled have everything. */
  const filledTo = (): number | undefined => instant(names.filledTo) ?? instant(names.startedAt)

  function pointsOf(series: StoredSeries, observations: readonly Observation[]): WorldPoint[] {
    return observations.map(one => ({ seriesId: series.id, ...one }))
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

  /** The next codes that fit into one transaction; a single one may need several. */
  function nextBatch(
    missing: readonly StoredSeries[],
    start: number,
  ): { codes: string[]; points: WorldPoint[] } {
    const codes: string[] = []
    let points: WorldPoint[] = []
    const to = filledTo() ?? start
    for (const series of missing) {
      const own = [
        ...pointsOf(series, world.history(series.code, start)),
        ...published(series, start, to, to),
      ]
      if (codes.length > 0 && points.length + own.length > pointsPerWrite) break
      codes.push(series.code)
      points = points.length === 0 ? own : [...points, ...own]
    }
    return { codes, points }
  }

  return {
    total: order.length,
    filled,
    step(budgetMs) {
      const start = startedAt()
      const until = stopwatch.monotonic() + budgetMs
      let missing = order.filter(one => !filled().has(one.code))
      while (missing.length > 0) {
        const { codes, points } = nextBatch(missing, start)
        write(points)
        settings.set(names.filled, [...filled(), ...codes].join(' '))
        missing = missing.slice(codes.length)
        if (stopwatch.monotonic() >= until) break
      }
      return missing.length > 0
    },
    advance(now) {
      const since = filledTo()
      if (since === undefined || isPaused()) return 0
      const done = filled()
      const series = order.filter(one => done.has(one.code))
      let count = 0
      for (let from = since; from < now; from += sliceMs) {
        const to = Math.min(now, from + sliceMs)
        const points = series.flatMap(one => published(one, from, to, now))
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

/**
 * The codes that answers name first, then those that are quoted all day, then the rest; those
 * without data not at all.
 */
function fillOrder(series: readonly StoredSeries[]): StoredSeries[] {
  const rank = (one: StoredSeries): number => {
    const leading = leadingCodes.indexOf(one.code)
    return leading >= 0 ? leading : leadingCodes.length + (isMainCode(one) ? 0 : 1)
  }
  return series
    .filter(one => one.available)
    .toSorted((a, b) => rank(a) - rank(b) || (a.code < b.code ? -1 : 1))
}
