import type { Clock } from '../../../lib/time/clock.ts'
import type { UsageStore } from '../store/usage.ts'
import {
  type Count,
  counterOf,
  dayOf,
  emptyHours,
  hoursToWrite,
  sliceCount,
} from './meter-counts.ts'
import type { RunningCounts } from './running-counts.ts'

const tallyMs = 30_000

interface Slice {
  /** Counts that changed since they were last written. */
  dirty: Set<Count>
  /** Counts that were written without their tally of the day. */
  waiting: Set<Count>
}

const createSlices = (): Slice[] =>
  Array.from({ length: sliceCount }, () => ({ dirty: new Set(), waiting: new Set() }))

export type MeterWriter = ReturnType<typeof createMeterWriter>

/** `written` is called for every count that was written. */
export function createMeterWriter(
  store: UsageStore,
  counts: Pick<RunningCounts, 'find'>,
  clock: Clock,
  written: (count: Count) => void,
) {
  let slices = createSlices()
  let talliesAt = clock.monotonic()
  /** Slices that waited when a round of writing began and are not written yet. */
  let round: { withDays: boolean; slices: Slice[] } = { withDays: false, slices: [] }

  const sliceWith = (count: Count): Slice => slices[count.slice]!

  /** Writes counts to their tables. */
  const write = (batch: readonly Count[], withDays: boolean) => {
    store.write({
      counters: batch.flatMap(countersOf),
      hours: batch.flatMap(hoursToWrite),
      days: batch.flatMap(count =>
        withDays && count.tallyDirty ? [...count.pastDays, dayOf(count)] : count.pastDays,
      ),
    })
    for (const count of batch) settleCount(sliceWith(count), count, withDays)
    for (const count of batch) written(count)
  }

  /** A round is of the slices with something to write. */
  const begin = () => {
    // Efficiency counts are for a report, not for quotas: they are written every half minute,
    // because they change with every request.
    const withDays = clock.monotonic() - talliesAt >= tallyMs
    const isDue = (slice: Slice) => slice.dirty.size > 0 || (withDays && slice.waiting.size > 0)
    round = { withDays, slices: slices.filter(isDue) }
  }

  return {
    /**
     * Notes that something of a count waits. Three times a request, and nearly always it waits
     * already.
     */
    markDirty(count: Count) {
      if (count.waits) return
      count.waits = true
      sliceWith(count).dirty.add(count)
    },
    /** Writes what waits of one key, now, or throws. */
    write: (count: Count) => write([count], false),
    /** Writes everything that waits. */
    flush() {
      const batch = slices.flatMap(allOf)
      if (batch.length > 0) write(batch, true)
      talliesAt = clock.monotonic()
    },
    /** Writes pending usage of some keys; returns how many keys still wait. */
    flushSome(keysMax: number) {
      if (round.slices.length === 0) begin()
      const batch: Count[] = []
      while (round.slices.length > 0 && batch.length < keysMax) {
        const slice = round.slices.shift()!
        batch.push(...inOrder(round.withDays ? allOf(slice) : slice.dirty))
      }
      if (batch.length > 0) write(batch, round.withDays)
      if (round.withDays && round.slices.length === 0) talliesAt = clock.monotonic()
      const sizes = round.withDays ? round.slices.map(slice => allOf(slice).length) : []
      return Math.max(sum(slices.map(({ dirty }) => dirty.size)), sum(sizes))
    },
    /**
     * For reports on keys: what cannot be written now is missing from them, and the next flush
     * tries again.
     */
    settle(keyIds: readonly string[]) {
      const batch = keyIds
        .map(id => counts.find(id))
        .filter(count => count !== undefined)
        .filter(count => count.waits || sliceWith(count).waiting.has(count))
      if (batch.length === 0) return
      try {
        write(batch, true)
      } catch {}
    },
    /** Forgets what waits without writing it. */
    reset() {
      slices = createSlices()
      round.slices = []
    },
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0)

const allOf = ({ dirty, waiting }: Slice): Count[] => [...dirty.union(waiting)]

const inOrder = (counts: Iterable<Count>): Count[] =>
  [...counts].sort((a, b) => (a.keyId < b.keyId ? -1 : 1))

const countersOf = ({ past, dirty, period, keyId, used, ahead, lastUsedAt }: Count) =>
  period && (dirty || lastUsedAt > 0)
    ? [...past, counterOf(keyId, period.window, Math.max(used, ahead), lastUsedAt)]
    : past

/** Nothing of the count waits any more, but for the tally of a day that was not written with it. */
function settleCount({ dirty, waiting }: Slice, count: Count, withDays: boolean): void {
  count.waits = false
  dirty.delete(count)
  count.dirty = false
  if (count.past.length > 0) count.past = []
  if (count.pastDays.length > 0) count.pastDays = []
  if (withDays) count.tallyDirty = false
  emptyHours(count)
  count.lastUsedAt = 0
  if (count.tallyDirty) waiting.add(count)
  else waiting.delete(count)
}
