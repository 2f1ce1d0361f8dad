import type { Clock } from '../../../lib/time/clock.ts'
import { createUsagePacking } from '../store/packed-usage.ts'
import type { UsageStore, WaitingSlice } from '../store/usage.ts'
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

/** A slice with so many active keys since the last beat is likely to have many in the next. */
const busyKeys = 16

interface Slice {
  number: number
  /** Counts that changed since they were last written. */
  dirty: Set<Count>
  /** Counts of which the tables have not everything: the row of the slice has it, or it is a tally. */
  waiting: Set<Count>
  /** Whether the database has a row of the waiting counts. */
  hasRow: boolean
}

const createSlices = (): Slice[] =>
  Array.from({ length: sliceCount }, (_, number) => ({
    number,
    dirty: new Set(),
    waiting: new Set(),
    hasRow: false,
  }))

export type MeterWriter = ReturnType<typeof createMeterWriter>

/**
 * `written` is called for every count that was written. `keepsRows`: with many active keys, their
 * usage is first written as one row per slice, and moved to its tables every half minute.
 */
export function createMeterWriter(
  store: UsageStore,
  counts: Pick<RunningCounts, 'find'>,
  clock: Clock,
  written: (count: Count) => void,
  keepsRows = true,
) {
  let slices = createSlices()
  let talliesAt = clock.monotonic()
  /** Slices that waited when a round of writing began and are not written yet. */
  let round: { withDays: boolean; slices: Slice[] } = { withDays: false, slices: [] }

  const sliceWith = (count: Count): Slice => slices[count.slice]!

  /**
   * Writes counts to their tables, and instead of the rows that had something of them what still
   * waits there. The slices of `packedSlices` are written as rows.
   */
  const write = (
    batch: readonly Count[],
    withDays: boolean,
    packedSlices: readonly Slice[] = [],
  ) => {
    const isWritten = new Set(batch)
    const rowsEnded = new Set(batch.map(sliceWith).filter(({ hasRow }) => hasRow))
    const rows = [...rowsEnded, ...packedSlices].map(slice => rowOf(slice, isWritten))
    store.write(
      {
        counters: batch.flatMap(countersOf),
        hours: batch.flatMap(hoursToWrite),
        days: batch.flatMap(count =>
          withDays && count.tallyDirty ? [...count.pastDays, dayOf(count)] : count.pastDays,
        ),
      },
      rows,
    )
    for (const { slice, packed } of rows) slices[slice]!.hasRow = packed !== undefined
    const changed = [...batch, ...packedSlices.flatMap(({ dirty }) => [...dirty])]
    for (const count of batch) settleCount(sliceWith(count), count, withDays)
    for (const slice of packedSlices) keepDirty(slice)
    for (const count of changed) written(count)
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
      const packedSlices: Slice[] = []
      let keys = 0
      while (round.slices.length > 0 && keys < keysMax) {
        const slice = round.slices.shift()!
        if (keepsRows && !round.withDays && isWorthARow(slice)) {
          packedSlices.push(slice)
          keys += slice.dirty.size
          continue
        }
        const writing = inOrder(round.withDays || slice.hasRow ? allOf(slice) : slice.dirty)
        batch.push(...writing)
        keys += writing.length
      }
      if (batch.length + packedSlices.length > 0) write(batch, round.withDays, packedSlices)
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

/** Most of what its row would hold has changed since the last beat. */
const isWorthARow = (slice: Slice): boolean =>
  slice.dirty.size >= busyKeys && slice.waiting.size <= 2 * slice.dirty.size

const allOf = ({ dirty, waiting }: Slice): Count[] => [...dirty.union(waiting)]

const inOrder = (counts: Iterable<Count>): Count[] =>
  [...counts].sort((a, b) => (a.keyId < b.keyId ? -1 : 1))

/** The pending usage of a slice, without counts that are written to their tables. */
function rowOf({ number, dirty, waiting }: Slice, isWritten: ReadonlySet<Count>): WaitingSlice {
  const packing = createUsagePacking()
  const add = (count: Count) => {
    if (!isWritten.has(count)) packing.add(count.keyId, countersOf(count), hoursToWrite(count))
  }
  for (const count of dirty) add(count)
  for (const count of waiting) if (!count.waits) add(count)
  return { slice: number, packed: packing.text() }
}

/** Writes changed counts to the row of the slice. */
function keepDirty(slice: Slice): void {
  for (const count of slice.dirty) {
    count.waits = false
    slice.waiting.add(count)
  }
  slice.dirty.clear()
}

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
