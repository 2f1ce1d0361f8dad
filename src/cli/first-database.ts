import { existsSync, mkdirSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { openDatabase } from '../database/database.ts'
import { schemaVersion } from '../database/migrations.ts'
import { databasePath } from '../instance/services/directory.ts'
import { embeddedFile, readShippedFile, shippedFile } from '../lib/files/shipped-file.ts'
import { writeSideFile } from '../lib/files/side-file.ts'
import { hasShippedNames } from '../topics/catalogue/files/shipped.ts'
import { renewFirstLine } from '../topics/changes/store/log.ts'

/**
 * The database that a new directory begins with: tables, and the shipped catalogue in them. Making
 * it statement by statement takes a fifth of a first start.
 */
export const firstDatabaseName = 'first-database'

/** Copies the shipped database into a new directory, if its catalogue has the configured names. */
export async function takeFirstDatabase(
  dir: string,
  { brand }: Pick<Config, 'brand'>,
  shipped: Blob | undefined = embeddedFile(firstDatabaseName),
): Promise<boolean> {
  if (!shipped || !hasShippedNames(brand.exchangeWords) || existsSync(databasePath(dir)))
    return false
  const { line, content } = await readShippedFile(shipped)
  if (line !== String(schemaVersion)) return false
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  // The file is synced before anything is written to it: the WAL would be useless next to half of
  // it.
  writeSideFile(databasePath(dir), content())
  const db = openDatabase(databasePath(dir))
  renewFirstLine(db)
  db.close()
  return true
}

/** A database of this version to begin with. */
export const firstDatabaseOf = (database: Uint8Array<ArrayBuffer>): Blob =>
  shippedFile(String(schemaVersion), database)
