import { existsSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../../config/config.ts'
import { openDatabase, removeDatabase } from '../../database/database.ts'
import { makeDirectory } from '../../instance/services/directory.ts'
import { checksumPath, writeChecksum } from '../../lib/files/checksum-file.ts'
import { errorText } from '../../lib/files/error-text.ts'
import { bytesOf, requireSpace } from '../../lib/files/free-space.ts'
import { openSealedFile, sealFile } from '../../lib/files/sealed-file.ts'
import { workingFile } from '../../lib/files/working-file.ts'
import { wrongValue } from '../../lib/text/wrong-value.ts'
import { createSystemClock } from '../../lib/time/clock.ts'
import { hourMs, isoInstant, parseInstant } from '../../lib/time/instant.ts'
import { backupName, outlived, type Retention } from '../../plans/backup-retention.ts'
import {
  type BackupPlace,
  bucketPlace,
  directoryPlace,
  type StoredBackup,
} from '../../send/backups/places.ts'
import { databaseBeganAt, settingsStore } from '../../topics/operator/store/settings.ts'
import { tableLines } from '../table.ts'
import { backup, verifyFile } from './backup.ts'

const sealedEnding = '.sealed'

/** The configured places for backups; without any, backups are only made on demand. */
export function placesOf({ backups }: Config): BackupPlace[] {
  const prefix = backups.s3Prefix === '' ? '' : `${backups.s3Prefix.replace(/\/$/, '')}/`
  return [
    ...(backups.directory === '' ? [] : [directoryPlace(backups.directory)]),
    ...(backups.s3Bucket === ''
      ? []
      : [
          bucketPlace({
            bucket: backups.s3Bucket,
            prefix,
            endpoint: backups.s3Endpoint,
            region: backups.s3Region,
            accessKey: backups.s3AccessKey.reveal(),
            secretKey: backups.s3SecretKey.reveal(),
          }),
        ]),
  ]
}

const noPlace = 'no backup destination: name a FILE, or set backups.directory or backups.s3_bucket'

export interface MadeBackup {
  name: string
  bytes: number
  places: string[]
  /** The number of older backups that were deleted. */
  removed: number
}

/**
 * Makes a verified copy of the database, encrypted where there is a key, stores it in every place,
 * and deletes backups there that are older than the retention. Fails when any place fails, after
 * all were tried.
 */
export async function makeBackup(config: Config, at: number): Promise<MadeBackup> {
  const places = placesOf(config)
  if (places.length === 0) throw new Error(noPlace)
  const { dir } = config.data
  const key = config.backups.key.reveal()
  const name = backupName(at, key !== '')
  const copy = workingFile(dir, name)
  const sealed = copy + sealedEnding
  let removed = 0
  const complete: string[] = []
  const failures: string[] = []
  try {
    backup(dir, copy)
    const beganAt = beganAtOf(copy)
    // Encrypted backups are authenticated, and need no checksum.
    if (key === '') writeChecksum(copy, name)
    else {
      requireSpace(dir, bytesOf(copy), 'an encrypted backup')
      sealFile(copy, sealed, key)
      rmSync(copy)
    }
    const path = key === '' ? copy : sealed
    const bytes = statSync(path).size
    for (const place of places) {
      try {
        if (key === '') await place.put(checksumPath(copy), checksumPath(name))
        await place.put(path, name).catch(async error => {
          // A checksum of nothing would stay: retention deletes those of backups.
          if (key === '') await place.remove(checksumPath(name)).catch(() => undefined)
          throw error
        })
        complete.push(place.label)
        removed += await thin(place, at, beganAt, config)
      } catch (error) {
        failures.push(`${place.label}: ${errorText(error)}`)
      }
    }
    if (failures.length > 0) {
      const rest = complete.length > 0 ? `; ${name} is complete in ${complete.join(' and ')}` : ''
      throw new Error(failures.join('; ') + rest)
    }
    return { name, bytes, places: complete, removed }
  } finally {
    for (const path of [copy, checksumPath(copy), sealed]) rmSync(path, { force: true })
  }
}

/** When the database of a backup was created, Unix ms; 0 where it is not recorded. */
function beganAtOf(copy: string): number {
  const db = openDatabase(copy, { readonly: true })
  try {
    return Number(settingsStore(db).get(databaseBeganAt) ?? 0)
  } finally {
    db.close()
  }
}

/**
 * Deletes backups that are past the retention. Only those of this database: backups of an earlier
 * database in the same place may be the only ones left of it.
 */
async function thin(
  place: BackupPlace,
  now: number,
  beganAt: number,
  { backups }: Config,
): Promise<number> {
  const retention: Retention = {
    keepAllMs: backups.keepAllMs,
    keepDays: backups.keepDays,
    keepWeeks: backups.keepWeeks,
  }
  const stored = (await place.list()).filter(each => each.at >= beganAt)
  const over = new Set(
    outlived(
      stored.map(each => each.at),
      now,
      retention,
    ),
  )
  const leaving = stored.filter(each => over.has(each.at))
  for (const { name } of leaving) {
    await place.remove(name)
    if (!isSealed(name)) await place.remove(checksumPath(name))
  }
  return leaving.length
}

/** Clocks of two machines may differ by this. */
const clockSlackMs = hourMs

/**
 * The newest of backups, oldest first. One from the future is older than it says, because the clock
 * was wrong when it was made; it is taken where there is no other.
 */
function newestOf<B extends StoredBackup>(stored: readonly B[]): B | undefined {
  const until = createSystemClock().now() + clockSlackMs
  return stored.findLast(({ at }) => at <= until) ?? stored.at(-1)
}

interface ListedBackup extends StoredBackup {
  place: BackupPlace
}

/** The backups in every reachable place, oldest first; places that cannot be read are reported. */
async function allOf(config: Config, err: (line: string) => void): Promise<ListedBackup[]> {
  const places = placesOf(config)
  if (places.length === 0) throw new Error(noPlace)
  const lists = places.map(async place => {
    try {
      return (await place.list()).map(stored => ({ ...stored, place }))
    } catch (error) {
      err(`${place.label}: ${errorText(error)}`)
      return []
    }
  })
  return (await Promise.all(lists)).flat().sort((a, b) => a.at - b.at)
}

/** Prints what the reachable places hold, and fails when any other place cannot be read. */
export async function listBackups(
  config: Config,
  output: { out(line: string): void; json: boolean },
): Promise<void> {
  const failures: string[] = []
  const stored = await allOf(config, failure => failures.push(failure))
  if (stored.length > 0 || failures.length === 0) printBackups(stored, output)
  if (failures.length > 0) throw new Error(failures.join('; '))
}

function printBackups(
  stored: readonly ListedBackup[],
  { out, json }: { out(line: string): void; json: boolean },
): void {
  if (json) {
    const rows = stored.map(({ name, at, bytes, place }) => ({
      name,
      made_at: isoInstant(at),
      bytes,
      place: place.label,
    }))
    out(JSON.stringify(rows, null, 2))
    return
  }
  if (stored.length === 0) {
    out('No backups yet.')
    return
  }
  const rows = stored.map(({ name, at, bytes, place }) => [
    isoInstant(at),
    String(bytes),
    place.label,
    name,
  ])
  for (const line of tableLines(['MADE AT', 'BYTES', 'PLACE', 'NAME'], rows)) out(line)
}

/**
 * Writes the newest backup, or the newest one made by a given moment, to a file; places that do not
 * respond are skipped. Returns the backup's name.
 */
async function fetchBackup(
  config: Config,
  from: string,
  path: string,
  err: (line: string) => void,
): Promise<string> {
  const until = from === 'latest' ? Number.POSITIVE_INFINITY : parseInstant(from)
  if (until === undefined)
    throw new Error(wrongValue('--from', 'latest, or a time such as 2026-11-22T18:00:00Z', from))
  const stored = (await allOf(config, err)).filter(each => each.at <= until)
  const chosen = newestOf(stored)
  if (!chosen) {
    const places = placesOf(config).map(({ label }) => label)
    throw new Error(
      `no backup${from === 'latest' ? '' : ` from before ${from}`} found in ${places.join(', ')}`,
    )
  }
  try {
    await unsealed(config, chosen, path)
  } catch (error) {
    throw new Error(`${chosen.place.label}: ${errorText(error)}`)
  }
  return `${chosen.place.label}: ${chosen.name}`
}

async function unsealed(
  config: Config,
  { place, name }: ListedBackup,
  path: string,
): Promise<void> {
  if (!isSealed(name)) {
    await fetchChecksum(place, name, path)
    await place.fetch(name, path)
    return
  }
  const key = keyFor(config, name)
  const sealed = path + sealedEnding
  try {
    await place.fetch(name, sealed)
    openSealedFile(sealed, path, key, name)
  } finally {
    rmSync(sealed, { force: true })
  }
}

/** The checksum of a backup; one of an earlier version has none. */
async function fetchChecksum(place: BackupPlace, name: string, path: string): Promise<void> {
  try {
    if (await place.has(checksumPath(name)))
      await place.fetch(checksumPath(name), checksumPath(path))
    else rmSync(checksumPath(path), { force: true })
  } catch (error) {
    throw new Error(`the checksum of ${name} cannot be read: ${errorText(error)}`)
  }
}

function removeFetched(path: string): void {
  removeDatabase(path)
  rmSync(checksumPath(path), { force: true })
}

function keyFor({ backups }: Config, name: string): string {
  const key = backups.key.reveal()
  if (key === '')
    throw new Error(`${name} is encrypted: set backups.key to the key it was encrypted with`)
  return key
}

export const isSealed = (file: string): boolean => file.endsWith(sealedEnding)

/**
 * Runs work on a backup file. Where it is encrypted, it is decrypted for that into the data
 * directory, or next to it while there is none.
 */
export function withFile<T>(config: Config, file: string, work: (path: string) => T): T {
  if (!isSealed(file)) return work(file)
  const key = keyFor(config, file)
  const dir = existsSync(config.data.dir) ? config.data.dir : dirname(file)
  const path = workingFile(dir, 'backup-opened')
  requireSpace(dir, bytesOf(file), `the decrypted copy of ${file}`)
  try {
    openSealedFile(file, path, key)
    return work(path)
  } finally {
    removeDatabase(path)
  }
}

/** Fetches a backup, runs work on it, and returns its place and the result. */
export async function withFetched<T>(
  config: Config,
  from: string,
  err: (line: string) => void,
  work: (path: string) => T,
): Promise<readonly [source: string, result: T]> {
  const { dir } = config.data
  makeDirectory(dir)
  const path = workingFile(dir, 'backup-fetched')
  try {
    const source = await fetchBackup(config, from, path, err)
    return [source, work(path)]
  } finally {
    removeFetched(path)
  }
}

/** The newest backup of a destination, which was read and verified. */
export interface CheckedBackup {
  destination: string
  name: string
  /** When it was made, Unix ms. */
  at: number
  valid: true
}

/** Fetches the newest backup of every place and checks it as a restore would. */
export async function checkBackups(
  config: Config,
): Promise<{ checked: CheckedBackup[]; failures: string[] }> {
  const checked: CheckedBackup[] = []
  const failures: string[] = []
  const places = placesOf(config)
  if (places.length === 0) throw new Error(noPlace)
  for (const place of places) {
    try {
      checked.push(await checkedIn(place, config))
    } catch (error) {
      failures.push(`${place.label}: ${errorText(error)}`)
    }
  }
  return { checked, failures }
}

async function checkedIn(place: BackupPlace, config: Config): Promise<CheckedBackup> {
  const newest = newestOf(await place.list())
  if (!newest) throw new Error('it has no backup')
  const path = workingFile(config.data.dir, 'backup-checked')
  const files = isSealed(newest.name) ? 2 : 1
  requireSpace(config.data.dir, files * newest.bytes, `a check of ${newest.name}`)
  try {
    await unsealed(config, { ...newest, place }, path)
    const [fault] = verifyFile(path)
    if (fault !== undefined) throw new Error(`${newest.name}: ${fault}`)
  } finally {
    removeFetched(path)
  }
  return { destination: place.label, name: newest.name, at: newest.at, valid: true }
}
