import { type Clock, createSystemClock, every } from '../time/clock.ts'

/** Reports whether an event loop is overloaded, measured by how late a regular beat is. */
export interface LoopLag {
  isOverloaded(): boolean
  /** The longest wait of the last half to whole minute, regardless of who made it. */
  waitMs(): number
  /** Begins again and forgets what was, an overload too. */
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
 * The length of one measurement; its value is the longest wait in it. A single beat would not do:
 * when pauses of 300 ms follow one another, work that falls due at the end of one hardly waits.
 */
const measurementMs = 500
const lagMaxMs = 250
/**
 * The share of a wait that this thread must have spent working for the wait to count as its own.
 * Not half: on a machine that is shared, a busy thread gets less than that.
 */
const ownShare = 0.25
const overloadedAfterMs = 5_000
/** How long after an overload the next one begins sooner, because its load is known. */
const rememberedMs = 30_000
const overloadedAgainAfterMs = 1_000
/** The most that one measurement adds to it, however long its pause. */
const addedMaxMs = 1_000
/** Anyone who was refused is answered within a second of the end of the work. */
const calmAfterMs = 750
const waitsMs = 30_000

/** Milliseconds for which this thread has had a processor. */
export type ThreadTime = () => number

/**
 * Overloaded when every measurement of 5 s after a late one was late as well, that is had a wait
 * over 250 ms of which this thread worked for a quarter at least; of 1 s where an overload ended less
 * than 30 s ago. No longer so 750 ms after the last such wait. A machine that is busy with something
 * else makes waits too, but refusing work does not end those. A pause is one measurement: alone it
 * adds nothing, whatever its length, and after others a second at most.
 */
export function createLagRecord(
  clock: Pick<Clock, 'monotonic'>,
  worked: ThreadTime,
  changed: LagChange = () => {},
): LagRecord {
  let beatAt = clock.monotonic()
  let workedAt = worked()
  let begunAt = beatAt
  let longestMs = 0
  /** Since the first late measurement of a run of them; undefined: the last one was not late. */
  let lateMs: number | undefined
  let lastWaitAt = Number.NEGATIVE_INFINITY
  let endedAt = Number.NEGATIVE_INFINITY
  let overloaded = false
  /** The longest wait of this half minute, and of the one before. */
  let waits = [0, 0] as [now: number, before: number]
  let waitsAt = beatAt

  const noteWait = (at: number, waitMs: number) => {
    if (at - waitsAt >= waitsMs) {
      waits = [0, waits[0]]
      waitsAt = at
    }
    waits[0] = Math.max(waits[0], waitMs)
  }
  const become = (isOverloaded: boolean, lagMs: number) => {
    overloaded = isOverloaded
    if (!isOverloaded) {
      endedAt = beatAt
      lateMs = undefined
    }
    changed(isOverloaded, lagMs)
  }
  const take = (lagMs: number, tookMs: number) => {
    if (lagMs <= lagMaxMs) lateMs = undefined
    else lateMs = lateMs === undefined ? 0 : lateMs + Math.min(tookMs, addedMaxMs)
    const neededMs = beatAt - endedAt < rememberedMs ? overloadedAgainAfterMs : overloadedAfterMs
    if (!overloaded && lateMs !== undefined && lateMs >= neededMs) become(true, lagMs)
  }
  const begin = () => {
    begunAt = beatAt
    longestMs = 0
  }
  return {
    isOverloaded: () => overloaded,
    waitMs: () => Math.max(...waits),
    beat() {
      const [at, workedMs] = [clock.monotonic(), worked()]
      const [tookMs, ownMs] = [at - beatAt, workedMs - workedAt]
      noteWait(at, tookMs - beatMs)
      const lagMs = ownMs >= tookMs * ownShare ? tookMs - beatMs : 0
      beatAt = at
      workedAt = workedMs
      longestMs = Math.max(longestMs, lagMs)
      if (lagMs > lagMaxMs) lastWaitAt = at
      if (overloaded && at - lastWaitAt >= calmAfterMs) become(false, longestMs)
      const measuredMs = at - begunAt
      if (measuredMs < measurementMs) return
      take(longestMs, measuredMs)
      begin()
    },
    restart() {
      beatAt = clock.monotonic()
      workedAt = worked()
      lateMs = undefined
      begin()
      if (overloaded) become(false, 0)
      endedAt = Number.NEGATIVE_INFINITY
    },
  }
}

/** The processor time of the calling thread. */
const threadTimeMs: ThreadTime = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Watches the event loop of this process until stopped, by real time, because people move the clock
 * of a demo instance.
 */
export function watchLoop(changed: LagChange): LagWatch {
  const { beat, ...lag } = createLagRecord(createSystemClock(), threadTimeMs, changed)
  return { ...lag, stop: every(beatMs, beat) }
}
