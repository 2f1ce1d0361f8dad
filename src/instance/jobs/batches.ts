import type { Batches } from '../../topics/prices/service/batches.ts'
import type { Job } from './job.ts'

/** Forgets what it takes to undo batches of datasets that are too old for it. */
export const createBatchesJob = (batches: Batches): Job => ({
  name: 'batches',
  pass: () => batches.prune(),
})
