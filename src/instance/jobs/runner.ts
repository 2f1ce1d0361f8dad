import { Cron } from 'croner'
import type { Log } from '../../lib/log/log.ts'
import { type Clock, createSystemClock, type ManualClock } from '../../lib/time/clock.ts'
import { inTrace } from '../../lib/trace.ts'
import type { Job } from './job.ts'

/** Runs the jobs: every second of real time, and step by step when the clock is moved. */
export type Runner = ReturnType<typeof createRunner>

export interface JobTiming {
  passes: number
  ms: number
  lastMs: number
}

/**
 * A job that passes before every other; while it holds them back, they do not pass.
 */
export interface Guard {
  job: Job
  holdsOthers(): boolean
}

export interface RunnerOptions {
  guard?: Guard | undefined
  /** Whether an error of a job is reported elsewhere. */
  isReported?: (error: unknown) => boolean
}

export function createRunner(
  jobs: readonly Job[],
  clock: Clock,
  log: Log,
  { guard, isReported = () => false }: RunnerOptions = {},
) {
  // Passes are measured in real time, because the clock of the instance may be stopped.
  const stopwatch = createSystemClock()
  let lastPassAt: number | undefined
  let heartbeat: Cron | undefined
  let running = Promise.resolve()
  const timings = new Map<string, JobTiming>()

  /** A job that fails is tried again at the next beat; the others continue. */
  const passOne = async (job: Job) => {
    const startedMs = stopwatch.monotonic()
    try {
      // A request that moves the clock does not cause what is due.
      await inTrace(null, () => job.pass())
    } catch (error) {
      if (!isReported(error)) log.error('job_failed', { job: job.name, error })
    }
    const lastMs = stopwatch.monotonic() - startedMs
    const before = timings.get(job.name)
    timings.set(job.name, {
      passes: (before?.passes ?? 0) + 1,
      ms: (before?.ms ?? 0) + lastMs,
      lastMs,
    })
  }
  const passAll = async (due: readonly Job[]) => {
    if (guard) await passOne(guard.job)
    if (!guard?.holdsOthers()) for (const job of due) await passOne(job)
    lastPassAt = clock.now()
  }
  const tick = (due = jobs) => {
    running = running.then(() => passAll(due))
    return running
  }
  return {
    /** One pass of every job. Passes never overlap, whatever triggers them. */
    tick: () => tick(),
    /** Moves the clock to `to`, stopping in order at each moment at which a pass matters. */
    async advance(manual: ManualClock, to: number) {
      const pass = async (due = jobs) => {
        await tick(due)
        for (const job of due) await job.settled?.()
      }
      for (;;) {
        const stops = jobs.map(job => ({ job, at: job.nextStop?.(manual.now()) ?? to }))
        const stop = Math.min(to, ...stops.map(({ at }) => at))
        if (stop >= to) break
        manual.set(stop)
        const due = stops.filter(({ at }) => at <= stop).map(({ job }) => job)
        await pass(due.every(({ isAlone }) => isAlone) ? due : jobs)
      }
      manual.set(to)
      await pass()
    },
    start() {
      // Only a heartbeat: jobs compute themselves what is due, because a cron schedule does not
      // catch up after a stall. A second is one in every zone; UTC needs no zone look-up, which
      // takes longer than opening the database.
      const options = {
        utcOffset: 0,
        protect: true,
        catch: (error: unknown) => log.error('heartbeat_failed', { error }),
      }
      heartbeat = new Cron('* * * * * *', options, () => tick())
    },
    stop() {
      heartbeat?.stop()
    },
    /** When the last passes ended, Unix ms. */
    lastPassAt: () => lastPassAt,
    /** How long the passes of each job have taken since the start. */
    timings: () => timings,
  }
}
