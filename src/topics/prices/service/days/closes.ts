import { firstNotBefore } from '../../../../lib/sorted.ts'
import { dayMs, isoDay, startOfDay } from '../../../../lib/time/instant.ts'
import type { Observation } from '../../math/bars.ts'
import type { Close } from '../../math/window.ts'
import type { CloseStore } from '../../store/closes.ts'
import type { ObservationStore } from '../../store/observations.ts'
import type { QuarantineList } from '../quarantine.ts'

/** The daily closes of every series, cached from the first read until the series changes. */
export type Closes = ReturnType<typeof createCloses>

/** Closes cached in all: some 40 bytes each, so 2 MB at most, which is 15 series of ten years. */
const closesMax = 40_000

/** Results cached: matrices and the like, under a kilobyte each. */
const derivedMax = 1000
/** Beyond so long a span, all closes are read. */
const spanMaxMs = 8 * 366 * dayMs

/**
 * How much of the closes of a series is needed. Of a computed series no more is read, because each
 * of its closes takes as long as a hundred recorded ones.
 */
export interface ClosesReach {
  /** Calendar days up to the newest close before `before`, or the newest of all. */
  days: number
  before?: number | undefined
  /** At least so many closes before it, in any number of days. */
  least?: number
}

/** When a reach begins; before all times if the series has no value. */
export function reachFrom(
  { days, before = Number.MAX_SAFE_INTEGER }: ClosesReach,
  newest: (before: number) => Pick<Observation, 'observedAt'> | undefined,
): number {
  const last = newest(before)
  return last ? startOfDay(last.observedAt) - days * dayMs : always
}

const always = Number.MIN_SAFE_INTEGER

export interface ClosesDeps {
  store: CloseStore
  quarantine: QuarantineList
  observations: Pick<ObservationStore, 'after' | 'newest'>
  /** Values of later times are left out, those of delivery periods that have not begun too. */
  now(): number
  isComputed?(seriesId: number): boolean
  countMax?: number
}

export function createCloses(deps: ClosesDeps) {
  const { store, quarantine, observations, now, countMax = closesMax } = deps
  const { isComputed = () => false } = deps
  const read = createClosesReader(store, quarantine)
  /** When the time of the next value comes, of series that have one in the future. */
  const nextAt = new Map<number, number>()
  // A Map keeps the order of insertion, so the first entry is the least recently used.
  const closesBySeries = new Map<number, { closes: readonly Close[]; from: number }>()
  let closesCount = 0
  /** How often each series has changed. */
  const changes = new Map<number, number>()
  const results = new Map<string, { after: string; value: unknown }>()

  const drop = (seriesId: number) => {
    closesCount -= closesBySeries.get(seriesId)?.closes.length ?? 0
    closesBySeries.delete(seriesId)
  }

  const forget = (seriesId: number) => {
    drop(seriesId)
    nextAt.delete(seriesId)
    changes.set(seriesId, (changes.get(seriesId) ?? 0) + 1)
  }

  /** Drops the closes of a series to which the passing of time has added a value. */
  const renew = (seriesId: number) => {
    const next = nextAt.get(seriesId)
    if (next !== undefined && next <= now()) forget(seriesId)
  }

  /** Leaves out values in the future: the close of a day that has begun is its newest value so far. */
  const readPast = (seriesId: number, from: number): readonly Close[] => {
    const closes = read(seriesId, from)
    const end = now() + 1
    const today = isoDay(end - 1)
    if (closes.length === 0 || closes.at(-1)!.day < today) return closes
    const [next] = observations.after(seriesId, end - 1, 1)
    if (!next) return closes
    nextAt.set(seriesId, next.observedAt)
    const newest = observations.newest(seriesId, end)
    return closes.flatMap(close => {
      if (close.day < today) return close
      const isSoFar = close.day === today && newest && isoDay(newest.observedAt) === today
      return isSoFar ? { day: today, value: newest.value } : []
    })
  }

  /** Reads closes, ever further back until there are enough. */
  const readFrom = (seriesId: number, first: number, { before, least = 0 }: ClosesReach) => {
    const day = before === undefined ? undefined : isoDay(before)
    for (let [from, spanMs] = [first, least * dayMs]; ; spanMs *= 4) {
      const closes = readPast(seriesId, from)
      const count = firstNotBefore(closes, close => day === undefined || close.day < day)
      if (count >= least || from === always) return { closes, from }
      from = spanMs > spanMaxMs ? always : from - spanMs
    }
  }

  const closesOf = (seriesId: number, reach?: ClosesReach): readonly Close[] => {
    renew(seriesId)
    let known = closesBySeries.get(seriesId)
    if (!known || known.from > always) {
      const from =
        reach && isComputed(seriesId)
          ? reachFrom(reach, before => observations.newest(seriesId, Math.min(before, now() + 1)))
          : always
      const isKnown = known && known.from <= from && !reach?.least
      if (!known || !isKnown)
        known = readFrom(seriesId, Math.min(from, known?.from ?? from), reach ?? { days: 0 })
    }
    const { closes } = known
    drop(seriesId)
    closesBySeries.set(seriesId, known)
    closesCount += closes.length
    for (const [oldest] of closesBySeries) {
      if (closesCount <= countMax || oldest === seriesId) break
      drop(oldest)
    }
    return closes
  }

  return {
    /**
     * The last current observation of each UTC day that has one outside quarantine, oldest first,
     * without those whose time has not come.
     * The same array until the series changes: callers must not alter it. At least those of a reach.
     */
    of: closesOf,
    /**
     * The result of `make` over the closes of these series, cached until one of them changes. `name`
     * identifies the computation.
     */
    derived<T>(
      name: string,
      seriesIds: readonly number[],
      make: (closes: (readonly Close[])[]) => T,
    ): T {
      const key = `${name} ${seriesIds.join(' ')}`
      for (const id of seriesIds) renew(id)
      const after = seriesIds.map(id => changes.get(id) ?? 0).join(' ')
      const cached = results.get(key)
      if (cached?.after === after) return cached.value as T
      const value = make(seriesIds.map(id => closesOf(id)))
      results.delete(key)
      if (results.size >= derivedMax) results.delete(results.keys().next().value!)
      results.set(key, { after, value })
      return value
    },
    /**
     * When the newest correction of an observation made in `[from, to)` was recorded; undefined where
     * nothing was corrected.
     */
    revisedAt: store.revisedAt,
    /** Drops the closes of a series that has changed. */
    forget,
  }
}

/** Reads the closes of a series outside quarantine, oldest first. */
function createClosesReader(store: CloseStore, quarantine: QuarantineList) {
  const days = new Map<number, string>()

  /**
   * One text a day for all series: they are compared far more often than made, and the same text
   * compares at once.
   */
  const dayOf = (startsAt: number): string => {
    const text = days.get(startsAt) ?? isoDay(startsAt)
    days.set(startsAt, text)
    return text
  }

  return (seriesId: number, from: number): Close[] => {
    const all = store.all(seriesId, from)
    const [first, last] = [all[0], all.at(-1)]
    if (!first || !last) return []
    const stretches = quarantine.clear(seriesId, first.startsAt, last.startsAt + dayMs)
    const closes: Close[] = []
    let at = 0
    for (const { startsAt, value } of all) {
      while (at < stretches.length && stretches[at]!.to <= startsAt) at += 1
      const stretch = stretches[at]
      if (!stretch) break
      if (startsAt >= stretch.from) closes.push({ day: dayOf(startsAt), value })
    }
    return closes
  }
}
