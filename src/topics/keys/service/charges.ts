import type { Clock } from '../../../lib/time/clock.ts'
import type { Count, RunningCount } from './meter-counts.ts'
import type { MeterWriter } from './meter-writer.ts'

/** Reports which changes other instances have. */
export interface ChargedStream {
  /** The last change that is committed here. */
  sequence(): number
  has(change: number): boolean
}

/**
 * Requests that are written as used in advance: at first, and at most one in `share`. Half of them
 * are enough for `lastMs`, while a lost NATS server delays the confirmation of writes.
 */
const aheadSteps = { first: 16, share: 100, lastMs: 10_000 }

/** So many writes of a counter may be on their way to the stream. */
const writtenMax = 100

/** Counters written at once, for other instances, instead of with the next flush. */
export type Charges = ReturnType<typeof createCharges>

export function createCharges(clock: Clock, writer: Pick<MeterWriter, 'write'>) {
  let stream: ChargedStream | undefined

  const takeConfirmed = ({ has }: ChargedStream, count: Count) => {
    while (count.written.length > 0 && has(count.written[0]!.change))
      count.streamed = count.written.shift()!.used
  }

  /** Writes a counter now, or throws. */
  const write = (count: Count) => {
    writer.write(count)
    if (!stream) return
    takeConfirmed(stream, count)
    count.written.push({ used: Math.max(count.used, count.ahead), change: stream.sequence() })
    if (count.written.length > writtenMax) count.written.shift()
  }

  /** The requests to write in advance, fewer where the last ones lasted long. */
  const nextStep = (count: Count, limit: number, now: number): number => {
    const isFast = now - count.aheadAt < aheadSteps.lastMs
    const stepMax = Math.max(aheadSteps.first, Math.floor(limit / aheadSteps.share))
    const step = isFast ? count.aheadStep * 2 : Math.floor(count.aheadStep / 2)
    return Math.min(stepMax, Math.max(aheadSteps.first, step))
  }

  return {
    write,
    /** Keeps the written count at least half a step above the used one. */
    writeAhead(count: Count, limit: number) {
      if (count.ahead >= limit || count.used + count.aheadStep / 2 < count.ahead) return
      const before = count.ahead
      const now = clock.monotonic()
      count.aheadStep = nextStep(count, limit, now)
      count.aheadAt = now
      count.ahead = Math.min(limit, count.used + count.aheadStep)
      try {
        write(count)
      } catch (error) {
        count.ahead = before
        // On a full disk it is counted in memory, and written when there is room. An instance that
        // may not write must not answer requests that another one may be answering.
        if (isReadonly(error) && count.used > before) {
          count.used -= 1
          throw error
        }
      }
    },
    /**
     * From here on a request counts as charged once the stream of changes has the charge, so that an
     * instance that takes over does not grant it again.
     */
    follow(followed: ChargedStream) {
      stream = followed
    },
    /** Whether every request of the running window so far is charged. */
    isCharged(count: RunningCount): boolean {
      if (!stream) return true
      if (count.used > count.streamed) takeConfirmed(stream, count)
      return count.period.window.limit === null || count.used <= count.streamed
    },
  }
}

const isReadonly = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'SQLITE_READONLY'
