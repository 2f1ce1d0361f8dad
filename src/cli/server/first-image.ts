import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { shippedSeed } from '../../demo/open.ts'
import { databasePath } from '../../instance/services/directory.ts'
import { privateMode } from '../../lib/files/private-file.ts'
import { embeddedFile, readShippedFile, shippedFile } from '../../lib/files/shipped-file.ts'
import { dayMs } from '../../lib/time/instant.ts'
import { hasShippedNames } from '../../topics/catalogue/files/shipped.ts'

/**
 * The image of an evaluation copy that the build puts into the binary: a line with the moment at
 * which it was made, Unix ms, then the database, packed.
 */
export const imageName = 'world-image'

/** From here on what a copy would have to make up for costs as much as beginning anew. */
const longestAgeMs = 400 * dayMs

/** A new directory of an evaluation copy begins with the image, where that is of the same world. */
export async function takeImage(
  dir: string,
  { mode, dev, brand }: Pick<Config, 'mode' | 'dev' | 'brand'>,
  now: number,
  image: Blob | undefined = embeddedFile(imageName),
): Promise<boolean> {
  if (!image || mode !== 'dev' || dev.world !== 'whole' || dev.seed !== shippedSeed) return false
  // The catalogue of the image has the names of a copy that was told none.
  if (!hasShippedNames(brand.exchangeWords) || existsSync(databasePath(dir))) return false
  const { line, content } = await readShippedFile(image)
  const madeAt = Number(line)
  if (now < madeAt || now > madeAt + longestAgeMs) return false
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  writeFileSync(databasePath(dir), content(), { mode: privateMode })
  return true
}

/** An image of a database that was made at `madeAt`. */
export const imageOf = (database: Uint8Array<ArrayBuffer>, madeAt: number): Blob =>
  shippedFile(String(madeAt), database)
