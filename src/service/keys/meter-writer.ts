import type { Clock } from '../../lib/time/clock.ts'
import type { UsageStore } from '../../store/keys/usage.ts'
import { type Count, counterOf, dayOf, emptyHours, hoursToWrite } from './meter-counts.ts'
import type { RunningCounts } from './running-counts.ts'

/** What waits to be written of the counts in memory, and the writing of it. */
export interface MeterWriter {
  /** Notes that something of a count waits. */
  mark(count: Count): void
  /** Writes what waits of one key, now, or throws. */
  write(count: Count): void
  /** Writes everything that waits. */
  flush(): void
  /** Writes what waits of some keys; answers how many keys still wait. */
  flushSome(keysMax: number): number
  /**
   * For reports on keys: what can not be written now is missing from them, and the next flush tries
   * again.
   */
  settle(keyIds: readonly string[]): void
  /** Forgets what waits without writing it. */
  reset(): void
}

const tallyMs = 30_000

/** `written` hears of every count that was written. */
export function createMeterWriter(
  store: UsageStore,
  counts: Pick<RunningCounts, 'find'>,
  clock: Clock,
  written: (count: Count) => void,
): MeterWriter {
  const dirty = new Set<Count>()
  /** Keys of which only the tally of the day waits. */
  const talliesDirty = new Set<Count>()
  let talliesAt = clock.monotonic()
  /** Keys that waited when a round of writing began and have not had their turn. */
  let round: { withDays: boolean; counts: Count[] } = { withDays: false, counts: [] }

  const write = (batch: readonly Count[], withDays: boolean) => {
    store.write({
      counters: batch.flatMap(countersOf),
      hours: batch.flatMap(hoursToWrite),
      days: batch.flatMap(count =>
        withDays && count.tallyDirty ? [...count.pastDays, dayOf(count)] : count.pastDays,
      ),
    })
    for (const count of batch) {
      settleCount(count, withDays)
      count.waits = false
      dirty.delete(count)
      if (count.tallyDirty) talliesDirty.add(count)
      else talliesDirty.delete(count)
    }
    for (const count of batch) written(count)
  }

  /**
   * By key, as the tables that count them are: neighbours share pages, so that a round writes each
   * page once and not once a slice.
   */
  const inOrder = (waiting: Iterable<Count>): Count[] =>
    Array.from(waiting, count => count.keyId)
      .sort()
      .map(keyId => counts.find(keyId)!)

  return {
    // Three times a request, and nearly always it waits already.
    mark(count) {
      if (count.waits) return
      count.waits = true
      dirty.add(count)
    },
    write: count => write([count], false),
    flush() {
      const waiting = new Set([...dirty, ...talliesDirty])
      if (waiting.size > 0) write([...waiting], true)
      talliesDirty.clear()
      talliesAt = clock.monotonic()
    },
    flushSome(keysMax) {
      if (round.counts.length === 0) {
        // How sparingly a key asked is a report, not a count: it is written every half minute,
        // because it changes with every request.
        const withDays = clock.monotonic() - talliesAt >= tallyMs
        const waiting = withDays ? new Set([...dirty, ...talliesDirty]) : dirty
        round = { withDays, counts: inOrder(waiting) }
      }
      const batch = round.counts.splice(0, keysMax)
      if (batch.length > 0) write(batch, round.withDays)
      if (round.withDays && round.counts.length === 0) talliesAt = clock.monotonic()
      return Math.max(dirty.size, round.counts.length)
    },
    settle(keyIds) {
      const waiting = keyIds
        .map(id => counts.find(id))
        .filter(count => count !== undefined && (dirty.has(count) || talliesDirty.has(count)))
      if (waiting.length === 0) return
      try {
        write(waiting as Count[], true)
      } catch {}
    },
    reset() {
      round.counts = []
      dirty.clear()
      talliesDirty.clear()
    },
  }
}

const countersOf = ({ past, dirty, period, keyId, used, ahead, lastUsedAt }: Count) =>
  period && (dirty || lastUsedAt > 0)
    ? [...past, counterOf(keyId, period.window, Math.max(used, ahead), lastUsedAt)]
    : past

/** Nothing of the count waits any more, but for the tally of a day that was not written with it. */
function settleCount(count: Count, withDays: boolean) {
  count.dirty = false
  if (count.past.length > 0) count.past = []
  if (count.pastDays.length > 0) count.pastDays = []
  if (withDays) count.tallyDirty = false
  emptyHours(count)
  count.lastUsedAt = 0
}
