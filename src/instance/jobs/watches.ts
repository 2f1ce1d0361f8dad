import type { WatchRuns } from '../../topics/watches/service/runs.ts'
import type { Job } from './job.ts'

/**
 * Runs the watches that are due and forgets what is past its time. A moved clock stops where a
 * watch is due.
 */
export const createWatchJob = (runs: WatchRuns): Job => ({
  name: 'watches',
  pass: runs.pass,
  nextStop: after => runs.dueAfter(after) ?? Number.POSITIVE_INFINITY,
})
