import { firstNotBefore } from '../../../lib/sorted.ts'
import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import { bucketStart, type Observation } from '../../prices/math/bars.ts'

/** The values of a code that a formula reads, with functions to look them up. */
export type Input = ReturnType<typeof createInput>

/** Where the values of a code are read. */
export interface Source {
  /** Those of `[from, to)`, oldest first. */
  read: Read
  /** The newest of `[from, to)`, without others. */
  newest(from: number, to: number): Observation | undefined
  /** Whether a few values, and closes, are found one by one: a day has many, or each is computed. */
  isDense: boolean
  /** So many values more are in memory. */
  onGrow?(count: number): void
}

type Read = (from: number, to: number) => readonly Observation[]

export const dayNumber = (at: number): number => Math.floor(at / dayMs)

/** The mean of closes, and when the latest of them was recorded. */
export interface Mean {
  value: number
  recordedAt: number
}

/** The mean of some closes, in their order: it depends on nothing else. */
export function meanOf(closes: readonly Observation[], first: number, end: number): Mean {
  let [sum, recordedAt] = [0, Number.NEGATIVE_INFINITY]
  for (let i = first; i < end; i += 1) {
    const close = closes[i]!
    sum += close.value
    if (close.recordedAt > recordedAt) recordedAt = close.recordedAt
  }
  return { value: sum / (end - first), recordedAt }
}

/** The last value of each UTC day. */
const closesOf = (rows: readonly Observation[]): Observation[] =>
  rows.filter((row, i) => {
    const next = rows[i + 1]
    return !next || bucketStart('day', next.observedAt) !== bucketStart('day', row.observedAt)
  })

/** The places of the rows of `[from, to)`. */
const within = (rows: readonly Observation[], from: number, to: number): [number, number] => [
  firstNotBefore(rows, row => row.observedAt < from),
  to === latest ? rows.length : firstNotBefore(rows, row => row.observedAt < to),
]

const [earliest, latest] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
/** No value is as old. */
const oldest = Date.UTC(1000, 0, 1)
/** How much is read before the first time that is wanted; each further part is longer. */
const firstSpanMs = dayMs
const spanGrowth = 4
/** Beyond so long a part, all that is left is read. */
const spanMaxMs = 4 * 366 * dayMs
/** Values that are found one by one and stay in memory. */
const foundMax = 10_000
/** A window that would grow longer begins with what is wanted instead. */
const windowMaxMs = 80 * dayMs

/**
 * Values from some midnight to another, which are read when they are first looked up: nearly all
 * lookups are those of newest values, and some codes have a million values before them. All but a
 * window reach to the end.
 */
function createTail(
  read: Read,
  { isWindow = false, onGrow }: { isWindow?: boolean; onGrow?: Source['onGrow'] } = {},
) {
  let rows: Observation[] = []
  /** The values of `[begin, end)` are in memory; both are midnights. */
  let [begin, end] = [latest, latest]
  let spanMs = firstSpanMs
  const restart = (at: number) => {
    onGrow?.(-rows.length)
    rows = []
    begin = at
    end = at
    spanMs = firstSpanMs
  }
  const has = (from: number, to: number) => begin <= from && to <= end
  const fill = (from: number, to: number) => {
    if (end < to) {
      const later = read(end, to)
      end = to
      for (const row of later) rows.push(row)
      onGrow?.(later.length)
    }
    if (from >= begin) return
    const first = from < oldest || spanMs > spanMaxMs ? earliest : startOfDay(from)
    const earlier = read(first, begin)
    begin = first
    spanMs *= spanGrowth
    rows = earlier.concat(rows)
    onGrow?.(earlier.length)
  }
  return {
    get rows(): readonly Observation[] {
      return rows
    },
    get begin() {
      return begin
    },
    get isWhole() {
      return begin === earliest
    },
    has,
    /** Makes sure that the values of `[from, to)` are there. */
    reach(from: number, to: number) {
      const stop = isWindow && to < latest ? startOfDay(to - 1) + dayMs : latest
      if (has(Math.max(from, earliest), stop)) return
      if (!isWindow) return fill(from < begin ? from - spanMs : from, latest)
      const lengthMs = Math.max(stop, end) - Math.min(from, begin)
      if (stop < begin || end < from || lengthMs > windowMaxMs) restart(stop)
      fill(from, stop)
    },
    /** Reads one part more before the first value. */
    extend() {
      fill(begin - spanMs, end)
    },
    forget(midnight: number) {
      if (midnight >= end) return
      if (midnight <= begin) return restart(latest)
      const dropped = rows.splice(firstNotBefore(rows, row => row.observedAt < midnight))
      onGrow?.(-dropped.length)
      end = midnight
    },
  }
}

/** The values of a code, of which those that are looked up are read. */
export function createInput({ read, newest, isDense, onGrow }: Source) {
  const tail = createTail(read, { isWindow: isDense, onGrow })
  /** Values that were found one by one, by the time of the lookup and by their own. */
  const found = new Map<number, { since: number; row: Observation | undefined }>()
  const forgetFound = (from = earliest) => {
    const sizeBefore = found.size
    for (const at of found.keys()) if (at >= from) found.delete(at)
    onGrow?.(found.size - sizeBefore)
  }
  const find = (at: number, since: number): Observation | undefined => {
    const known = found.get(at)
    if (known?.row) return known.row.observedAt >= since ? known.row : undefined
    if (known && known.since <= since) return undefined
    const row = newest(since, at + 1)
    if (found.size >= foundMax) forgetFound()
    const sizeBefore = found.size
    found.set(at, { since, row })
    if (row) found.set(row.observedAt, { since, row })
    onGrow?.(found.size - sizeBefore)
    return row
  }
  /** The place of the newest value in memory at or before a time. */
  const placeAt = (at: number): number => firstNotBefore(tail.rows, row => row.observedAt <= at) - 1
  const between = (from: number, to: number): Observation[] => {
    tail.reach(from, to)
    return tail.rows.slice(...within(tail.rows, from, to))
  }
  const readCloses = (from: number, to: number): readonly Observation[] => {
    if (!isDense || tail.has(from, to)) return closesOf(between(from, to))
    const closes: Observation[] = []
    for (let end = to; ; end = startOfDay(closes.at(-1)!.observedAt)) {
      const close = newest(from, end)
      if (!close) return closes.reverse()
      closes.push(close)
    }
  }
  const days = createTail(readCloses)
  return {
    /** The values of `[from, to)`, oldest first. */
    between,
    /** Whether all values of `[from, to)` are in memory. */
    has: tail.has,
    /**
     * The newest value at or before a time that was observed at `since` or later, or the one that is
     * so many before it.
     */
    newest(at: number, since: number, before = 0): Observation | undefined {
      if (!tail.has(at, at + 1)) {
        if (isDense && before === 0) return find(at, since)
        const first = isDense || since <= earliest ? newest(since, at + 1)?.observedAt : since
        if (isDense && first === undefined) return undefined
        tail.reach(first ?? earliest, at + 1)
      }
      for (;;) {
        const place = placeAt(at)
        const row = tail.rows[place]
        if (row && row.observedAt < since) return undefined
        if (row && before <= place) return tail.rows[place - before]
        if (tail.isWhole || (!row && tail.begin <= since)) return undefined
        if (isDense && !row && before === 0) return find(at, since)
        tail.extend()
      }
    },
    /** The last value of each UTC day from the day of a time on. */
    closes(from: number): readonly Observation[] {
      days.reach(from, latest)
      return days.rows.slice(...within(days.rows, from, latest))
    },
    /** The mean of the closes of `[from, to)`, in days since 1970. */
    mean(from: number, to: number): Mean | undefined {
      days.reach(from * dayMs, latest)
      const [first, end] = within(days.rows, from * dayMs, to * dayMs)
      return first === end ? undefined : meanOf(days.rows, first, end)
    },
    /**
     * The closes before a day, its own if there is one, and those after it, so many of each;
     * undefined: there are fewer.
     */
    around(day: number, before: number, after: number): readonly Observation[] | undefined {
      for (days.reach(day * dayMs, latest); ; days.extend()) {
        const closes = days.rows
        const own = firstNotBefore(closes, ({ observedAt }) => observedAt < day * dayMs)
        const hasOwn = closes[own] !== undefined && dayNumber(closes[own].observedAt) === day
        const stop = own + (hasOwn ? 1 : 0) + after
        if (own >= before)
          return stop > closes.length ? undefined : closes.slice(own - before, stop)
        if (days.isWhole) return undefined
      }
    },
    /** Values that were observed on the day of a time or later are read again. */
    forget(from: number) {
      const midnight = startOfDay(from)
      forgetFound(midnight)
      tail.forget(midnight)
      days.forget(midnight)
    },
  }
}
