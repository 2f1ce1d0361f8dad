import type { Log } from '../../../lib/log/log.ts'
import { type Clock, createSystemClock, every } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'

/**
 * Why the service ends a stream: it stops, the client reads too slowly, or a request like the one
 * that opened it would be refused now.
 */
export type Ending = { by: 'stop' } | { by: 'overload' } | { by: 'refusal'; reason: string }

/** An open stream, as its keeper knows it. */
export interface OpenStream {
  /** Why the gate would refuse the request now that opened the stream; undefined: it would not. */
  refusal(): string | undefined
  /** Four times a second of real time. */
  beat?(): void
  /** Ends the stream; it is not called again. */
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
  /** Real time: a client waits for its pings also where the clock of the instance stands still. */
  stopwatch?: Pick<Clock, 'monotonic'>
}

const beatMs = 250
/** How long a stream may outlive the rights that it was opened with. */
const lookEachMs = secondMs

export function createStreams({ log, perKey, stopwatch = createSystemClock() }: StreamsDeps) {
  const open = new Set<OpenStream>()
  const places = new Map<string, number>()
  let stopSchedule: (() => void) | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  let stopped = false

  const care = (stream: OpenStream, impersonations: boolean) => {
    try {
      const reason = impersonations ? stream.refusal() : undefined
      if (reason !== undefined) stream.end({ by: 'refusal', reason })
      else stream.beat?.()
    } catch (error) {
      log.error('stream_failed', { message: 'A stream could not be kept up.', error })
    }
  }
  /** One beat; by itself it comes while anything is open. */
  const beat = () => {
    const now = stopwatch.monotonic()
    const impersonations = now - lookedAt >= lookEachMs
    if (impersonations) lookedAt = now
    for (const stream of [...open]) care(stream, impersonations)
  }

  return {
    /**
     * Returns how to give the place back; `full` when the key has as many of this kind as it may,
     * `stopped` when the instance is stopping.
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
