import { type Clock, createSystemClock, every } from './clock.ts'

/**
 * Whether an event loop has more to do than it gets done, told by how late a rhythm comes that it
 * has to keep.
 */
export interface LoopLag {
  isOverloaded(): boolean
  /** Begins anew and forgets what was, an overload too. */
  restart(): void
}

export interface LagRecord extends LoopLag {
  /** To be called every `beatMs`, as nearly as the loop can. */
  beat(): void
}

export interface LagWatch extends LoopLag {
  stop(): void
}

/** `lagMs`: the longest wait of the measurement that made the change. */
export type LagChange = (isOverloaded: boolean, lagMs: number) => void

/** A pause is seen at most one beat shorter than it is. */
export const beatMs = 25
/**
 * Of a measurement, which is the longest wait in it. A single beat would not do: of pauses of 300
 * ms, one after the other, what falls due at their ends hardly waits.
 */
const measurementMs = 500
const lagMaxMs = 250
const overloadedAfterMs = 5_000
/** What one measurement adds to that at most, however long its pause. */
const addedMaxMs = 1_000
/** Longer than an overload takes to be one: what was refused comes back at its end. */
const calmAfterMs = 10_000

/**
 * Overloaded when every measurement of 5 s after a late one was late as well, that is had a wait
 * over 250 ms; no longer so when none of 10 s was. A pause is one measurement: alone it adds
 * nothing, whatever its length, and after others a second at most.
 */
export function createLagRecord(
  clock: Pick<Clock, 'monotonic'>,
  changed: LagChange = () => {},
): LagRecord {
  let beatAt = clock.monotonic()
  let begunAt = beatAt
  let longestMs = 0
  /** Since the first late measurement of a run of them; undefined: the last one was not late. */
  let lateMs: number | undefined
  let calmMs = 0
  let overloaded = false

  const take = (lagMs: number, tookMs: number) => {
    if (lagMs > lagMaxMs) {
      lateMs = lateMs === undefined ? 0 : lateMs + Math.min(tookMs, addedMaxMs)
      calmMs = 0
    } else {
      lateMs = undefined
      calmMs += tookMs
    }
    const changes = overloaded ? calmMs >= calmAfterMs : (lateMs ?? 0) >= overloadedAfterMs
    if (!changes) return
    overloaded = !overloaded
    changed(overloaded, lagMs)
  }
  return {
    isOverloaded: () => overloaded,
    beat() {
      const at = clock.monotonic()
      longestMs = Math.max(longestMs, at - beatAt - beatMs)
      beatAt = at
      const tookMs = at - begunAt
      if (tookMs < measurementMs) return
      take(longestMs, tookMs)
      begunAt = at
      longestMs = 0
    },
    restart() {
      beatAt = clock.monotonic()
      begunAt = beatAt
      longestMs = 0
      lateMs = undefined
      calmMs = 0
      if (!overloaded) return
      overloaded = false
      changed(overloaded, 0)
    },
  }
}

/**
 * Watches the loop of this process until it is stopped, by real time: the clock of an evaluation
 * copy is moved by people.
 */
export function watchLoop(changed: LagChange): LagWatch {
  const { beat, ...lag } = createLagRecord(createSystemClock(), changed)
  return { ...lag, stop: every(beatMs, beat) }
}
