/**
 * Where time comes from. Wall time drives schedules and quotas; monotonic time drives windows and
 * leases.
 */
export type Clock = ReturnType<typeof createSystemClock>

export const createSystemClock = () => ({
  /** Unix milliseconds, UTC. */
  now: Date.now,
  /** Milliseconds since an arbitrary start; never goes back. */
  monotonic: () => performance.now(),
})

export interface ManualClock extends Clock {
  readonly frozen: boolean
  advance(ms: number): void
  set(now: number): void
  /** Let time run on from where it stands, or hold it there. */
  release(): void
  freeze(): void
}

/**
 * A clock that people can move. Frozen, it stands where it was put; released, it runs at the pace
 * of `base` from there. Monotonic time moves with it, so that an advance of 61 seconds empties a
 * 60-second window.
 */
export function createManualClock(
  start: number,
  base: Clock = createSystemClock(),
  frozen = true,
): ManualClock {
  let wall = start
  let mono = 0
  let since = base.monotonic()
  let stopped = frozen
  const elapsed = () => (stopped ? 0 : base.monotonic() - since)
  const settle = () => {
    const passed = elapsed()
    wall += passed
    mono += passed
    since = base.monotonic()
  }
  return {
    get frozen() {
      return stopped
    },
    now: () => Math.floor(wall + elapsed()),
    monotonic: () => mono + elapsed(),
    advance(ms) {
      settle()
      wall += ms
      mono += Math.max(0, ms)
    },
    set(now) {
      settle()
      mono += Math.max(0, now - wall)
      wall = now
    },
    release() {
      settle()
      stopped = false
    },
    freeze() {
      settle()
      stopped = true
    },
  }
}

/** Resolves after `ms` of real time; the one place that waits. */
export const sleep = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms))

/**
 * Runs `pass` every `ms` of real time until the returned function is called. A pass that throws
 * does not end the schedule.
 */
export function every(ms: number, pass: () => void): () => void {
  const timer = setInterval(pass, ms)
  timer.unref?.()
  return () => clearInterval(timer)
}

/** Calls `run` after `ms` of real time, unless the returned function is called before. */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/**
 * The result of `work`; undefined after `ms` of real time. The timer is cancelled when the work
 * ends, because a pending timer would keep the process alive.
 */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let forget = () => {}
  const late = new Promise<undefined>(done => {
    forget = after(ms, () => done(undefined))
  })
  try {
    return await Promise.race([work, late])
  } finally {
    forget()
  }
}

/** Calls `run` after the current work and the events that arrived during it. */
export const soon = (run: () => void): void => void setImmediate(run)
