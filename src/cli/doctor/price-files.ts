import type { Config } from '../../config/config.ts'
import { hourMs, isoInstant } from '../../lib/time/instant.ts'
import { createPriceFiles, failureText } from '../../topics/prices/service/exports/price-files.ts'
import { doubtful, type Finding, faulty, fine, reasonOf } from './finding.ts'

const check = 'nightly files'
/** A night and some hours. */
const lateMs = 30 * hourMs

/** The list of the nightly files of all prices; no findings where none are made. */
export async function examinePriceFiles({ files }: Config, now: number): Promise<Finding[]> {
  const { directory } = files
  if (directory === '') return []
  try {
    const manifest = await createPriceFiles(directory, '', () => now).manifest()
    if (!manifest) return [fine(check, `none in ${directory} yet: they are made after 02:00 UTC`)]
    const { madeAt, failures } = manifest
    if (failures.length > 0)
      return failures.map(failure =>
        doubtful(
          check,
          failureText(failure),
          'fix the reported problem; the server tries again every hour',
        ),
      )
    const made = `${manifest.files.length} in ${directory}, made ${isoInstant(madeAt)}`
    return [
      now - madeAt > lateMs
        ? doubtful(check, made, 'see price_files_failed in the log of the server')
        : fine(check, made),
    ]
  } catch (error) {
    return [faulty(check, `their list cannot be read: ${reasonOf(error)}`, `check ${directory}`)]
  }
}
