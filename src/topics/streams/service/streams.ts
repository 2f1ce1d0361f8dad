import type { Log } from '../../../lib/log/log.ts'
import { type Clock, createSystemClock, every } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'

/**
 * Why the service ends a stream: it stops, the client reads too slowly, or a request like the one
 * that opened it would be refused now.
 */
export type Ending = { by: 'stop' } | { by: 'overload' } | { by: 'refusal'; reason: string }

/** The functions of an open stream that its keeper calls. */
export interface OpenStream {
  /** Why the gate would refuse the request now that opened the stream; undefined: it would not. */
  refusal(): string | undefined
  /** Four times a second of real time. */
  beat?(): void
  /** Ends the stream; no function is called after it. */
  end(ending: Ending): void
}

/**
 * Keeps the open streams: how many there are of a key, that they end when its rights do, and that
 * all end before the service does.
 */
export type Streams = ReturnType<typeof createStreams>

export interface StreamsDeps {
  log: Log
  /** Streams of a kind that a key may have open. */
  perKey: number
  /** Real time: clients need their pings also while the clock of a demo instance is stopped. */
  stopwatch?: Pick<Clock, 'monotonic'>
}

const beatMs = 250
/** How long a stream may outlive the rights that it was opened with. */
const recheckEachMs = secondMs

export function createStreams({ log, perKey, stopwatch = createSystemClock() }: StreamsDeps) {
  const open = new Set<OpenStream>()
  const places = new Map<string, number>()
  let stopSchedule: (() => void) | undefined
  let checkedAt = Number.NEGATIVE_INFINITY
  let stopped = false

  const care = (stream: OpenStream, isCheckDue: boolean) => {
    try {
      const reason = isCheckDue ? stream.refusal() : undefined
      if (reason !== undefined) stream.end({ by: 'refusal', reason })
      else stream.beat?.()
    } catch (error) {
      log.error('stream_failed', { message: 'A stream could not be kept up.', error })
    }
  }
  /** One beat; by itself it comes while anything is open. */
  const beat = () => {
    const now = stopwatch.monotonic()
    const isCheckDue = now - checkedAt >= recheckEachMs
    if (isCheckDue) checkedAt = now
    for (const stream of [...open]) care(stream, isCheckDue)
  }

  return {
    /**
     * Returns the function that releases the place; `full` when the key has its maximum of this
     * kind, `stopped` when the instance is stopping.
     */
    open(
      kind: 'events' | 'cable' | 'changes',
      keyId: string,
      stream: OpenStream,
    ): (() => void) | 'full' | 'stopped' {
      if (stopped) return 'stopped'
      const name = `${kind} ${keyId}`
      const openCount = places.get(name) ?? 0
      if (openCount >= perKey) return 'full'
      places.set(name, openCount + 1)
      open.add(stream)
      stopSchedule ??= every(beatMs, beat)
      return () => {
        if (!open.delete(stream)) return
        const remaining = places.get(name)! - 1
        if (remaining > 0) places.set(name, remaining)
        else places.delete(name)
        if (open.size > 0) return
        stopSchedule?.()
        stopSchedule = undefined
      }
    },
    beat,
    /** Ends all, permanently. */
    stop() {
      stopped = true
      for (const stream of [...open]) {
        try {
          stream.end({ by: 'stop' })
        } catch (error) {
          log.error('stream_end_failed', { message: 'A stream could not be ended.', error })
        }
      }
      stopSchedule?.()
      stopSchedule = undefined
    },
    get count() {
      return open.size
    },
    perKey,
  }
}
