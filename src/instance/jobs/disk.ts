import type { Job } from './job.ts'

/** Tries whether the data can be written while it cannot, and keeps room for bad times. */
export const createDiskJob = (disk: { pass(): void }): Job => ({
  name: 'disk',
  pass: disk.pass,
})
