import type { Meter } from '../service/meter.ts'
import type { Job } from './job.ts'

/** Writes counters and usage behind: what a crash can lose is what came in since the last beat. */
export const usageJob = (meter: Meter): Job => ({ name: 'usage', pass: () => meter.flush() })
