import type { Job } from './job.ts'

/** Compares the pages of the database with their checksums, all of them once a week. */
export const createScrubJob = (scrub: { pass(): void }): Job => ({
  name: 'scrub',
  pass: scrub.pass,
})
