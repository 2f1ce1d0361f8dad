import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { bytesOf, freeBytesOf, requireSpace } from '../lib/files/free-space.ts'
import { syncToDisk } from '../lib/files/side-file.ts'
import { copyDatabase, openDatabase, removeDatabase, versionOf } from './database.ts'
import { applicationId } from './identity.ts'
import { schemaVersion } from './migrations.ts'

/**
 * The size of the header of a database file, and the offsets of its version and its application id.
 */
const headerBytes = 100
const versionOffset = 60
const applicationIdOffset = 68

/** The schema version of a database file. */
function versionAt(path: string): number {
  const db = openDatabase(path, { readonly: true })
  try {
    return versionOf(db)
  } finally {
    db.close()
  }
}

/**
 * Whether the header of a database file has our application id and the current schema. A start
 * checks this first, which saves opening the database once more. The header does not include the
 * WAL.
 */
function isOfToday(path: string): boolean {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return false
  const header = Buffer.alloc(headerBytes)
  const file = openSync(path, 'r')
  try {
    readSync(file, header, 0, headerBytes, 0)
  } finally {
    closeSync(file)
  }
  return (
    header.readInt32BE(applicationIdOffset) === applicationId &&
    header.readInt32BE(versionOffset) === schemaVersion
  )
}

/** The schema version of a database that needs a migration; undefined: it needs none. */
export const olderAt = (path: string): number | undefined => {
  if (!existsSync(path) || isOfToday(path)) return undefined
  const version = versionAt(path)
  return version === 0 || version === schemaVersion ? undefined : version
}

/**
 * Copies a database of an older schema before it is migrated; returns the path of the copy. It
 * replaces an earlier one: after a rollback that lacks what the previous version has recorded since.
 * Where both do not fit on the disk, the earlier one goes first: the database still has that schema.
 */
export function keepBeforeUpgrade(
  path: string,
  freeBytes = freeBytesOf,
): { keptAs: string; from: number } | undefined {
  const from = olderAt(path)
  if (from === undefined) return undefined
  const dir = dirname(path)
  const keptAs = `${path}.schema-${from}`
  const part = `${keptAs}.part`
  removeDatabase(part)
  const needed = bytesOf(path) + bytesOf(`${path}-wal`)
  const missing = needed - freeBytes(dir)
  if (missing > 0 && missing <= bytesOf(keptAs)) removeDatabase(keptAs)
  requireSpace(dir, needed, `the copy of ${path} before its upgrade`, freeBytes)
  try {
    copyDatabase(path, part)
    syncToDisk(part)
    renameSync(part, keptAs)
    syncToDisk(dir)
  } finally {
    removeDatabase(part)
  }
  return { keptAs, from }
}
