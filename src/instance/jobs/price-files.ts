import type { Log } from '../../lib/log/log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { hourMs, isoDay, minuteMs } from '../../lib/time/instant.ts'
import type { FileKind, PriceFiles, YearOfPrices } from '../../topics/prices/service/price-files.ts'
import type { Job } from './job.ts'

export interface PriceFilesJobDeps {
  files: PriceFiles
  /** The years that have prices, oldest first. */
  years(): readonly number[]
  read(year: number, kind: FileKind): Promise<YearOfPrices>
  clock: Pick<Clock, 'now'>
  log: Log
}

/** After midnight UTC, when the day's last corrections are usually in. */
const hourOfNight = 2
const retryMs = 10 * minuteMs

/** Makes the files of all prices once a night. */
export function createPriceFilesJob({ files, years, read, clock, log }: PriceFilesJobDeps): Job {
  const nightOf = (at: number) => isoDay(at - hourOfNight * hourMs)
  let inProgress: Promise<void> | undefined
  let triedAt = Number.NEGATIVE_INFINITY

  const makeIfDue = async () => {
    const manifest = await files.manifest()
    if (manifest && nightOf(manifest.madeAt) === nightOf(clock.now())) return
    const written = await files.make(years(), read)
    const rows = written.files.reduce((sum, file) => sum + file.rows, 0)
    log.info('price_files_made', {
      files: written.files.length,
      rows,
      message: 'The nightly files of all prices are made.',
    })
  }

  return {
    name: 'price files',
    pass() {
      const now = clock.now()
      if (inProgress || now - triedAt < retryMs) return
      triedAt = now
      inProgress = makeIfDue()
        .catch(error => log.error('price_files_failed', { error }))
        .finally(() => {
          inProgress = undefined
        })
    },
    settled: async () => {
      await inProgress
    },
  }
}
