import { readDisposable, writeSideFile } from '../../../lib/files/side-file.ts'
import type { Log } from '../../../lib/log/log.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { hourMs } from '../../../lib/time/instant.ts'
import { latencyBounds, type Tally } from './tally.ts'

/** The health of the instance over a minute or an hour, which ended at `at`. */
export interface VitalsSample {
  /** Unix ms. */
  at: number
  requests: number
  serverErrors: number
  /** Seconds within which 95 of 100 requests were answered; null without requests. */
  p95: number | null
  memoryBytes: number
  loopWaitMs: number
  freeBytes: number | null
  outboxPending: number
}

/** Values that are read at the moment of a sample. */
export type VitalsNow = Pick<
  VitalsSample,
  'memoryBytes' | 'loopWaitMs' | 'freeBytes' | 'outboxPending'
>

const minutesMax = 24 * 60
const hoursMax = 30 * 24
const minutesInHour = 60

/** A day of minutes in memory and a month of hours, which a file keeps across restarts. */
export function createVitalsHistory({
  tally,
  clock,
  log,
}: {
  tally: Tally
  clock: Clock
  log: Log
}) {
  const minutes: VitalsSample[] = []
  let hours: VitalsSample[] = []
  let before = countsOf(tally)
  let path: string | undefined

  /** The counters since the sample before. */
  const passed = () => {
    const counts = countsOf(tally)
    const buckets = counts.buckets.map((count, i) => count - before.buckets[i]!)
    const requests = counts.requests - before.requests
    const serverErrors = counts.serverErrors - before.serverErrors
    before = counts
    return { requests, serverErrors, p95: percentileOf(buckets, requests) }
  }
  const endHour = () => {
    const last = minutes.slice(-minutesInHour)
    hours.push(summaryOf(last))
    hours = hours.slice(-hoursMax)
    if (path !== undefined) writeSideFile(path, JSON.stringify(hours))
  }
  return {
    /** Names the file of the hours, and reads what is in it. */
    attach(file: string) {
      path = file
      hours = readDisposable(file, text => JSON.parse(text) as VitalsSample[], log) ?? []
    },
    take(now: VitalsNow) {
      const at = clock.now()
      const previous = minutes.at(-1)?.at
      minutes.push({ at, ...passed(), ...now })
      if (minutes.length > minutesMax) minutes.shift()
      if (previous !== undefined && Math.floor(previous / hourMs) < Math.floor(at / hourMs))
        endHour()
    },
    minutes: (): readonly VitalsSample[] => minutes,
    hours: (): readonly VitalsSample[] => hours,
  }
}

function countsOf(tally: Tally) {
  const buckets = Array.from({ length: latencyBounds.length + 1 }, () => 0)
  let [requests, serverErrors] = [0, 0]
  for (const route of tally.routes().values()) {
    for (const [i, count] of route.buckets.entries()) buckets[i]! += count
    for (const [status, plans] of route.answers)
      for (const count of plans.values()) {
        requests += count
        if (status >= 500) serverErrors += count
      }
  }
  return { buckets, requests, serverErrors }
}

/** The upper end of the bucket in which the request of a percentile is. */
function percentileOf(buckets: readonly number[], total: number): number | null {
  if (total === 0) return null
  let seen = 0
  const index = buckets.findIndex(count => {
    seen += count
    return seen >= 0.95 * total
  })
  return latencyBounds[index] ?? latencyBounds.at(-1)!
}

/** An hour of minutes: sums of counters, and the worst of gauges. */
function summaryOf(samples: readonly VitalsSample[]): VitalsSample {
  const last = samples.at(-1)!
  const sum = (pick: (sample: VitalsSample) => number) =>
    samples.reduce((total, sample) => total + pick(sample), 0)
  const most = (pick: (sample: VitalsSample) => number) => Math.max(...samples.map(pick))
  const slowest = samples.flatMap(({ p95 }) => (p95 === null ? [] : [p95]))
  return {
    ...last,
    requests: sum(({ requests }) => requests),
    serverErrors: sum(({ serverErrors }) => serverErrors),
    p95: slowest.length > 0 ? Math.max(...slowest) : null,
    memoryBytes: most(({ memoryBytes }) => memoryBytes),
    loopWaitMs: most(({ loopWaitMs }) => loopWaitMs),
    outboxPending: most(({ outboxPending }) => outboxPending),
  }
}
