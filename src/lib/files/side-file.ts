import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Log } from '../log/log.ts'
import { privateMode } from './private-file.ts'

/**
 * Writes a file that stands beside the database. It is on the disk, whole and under its name, when
 * this returns; whatever ends it before leaves the file that was there.
 */
export function writeSideFile(path: string, content: string | Uint8Array): void {
  const part = `${path}.part`
  // A part that an earlier process left may belong to someone else, or let others read it.
  rmSync(part, { force: true })
  const file = openSync(part, 'wx', privateMode)
  try {
    writeFileSync(file, content)
    fsyncSync(file)
  } catch (error) {
    closeSync(file)
    rmSync(part, { force: true })
    throw error
  }
  closeSync(file)
  renameSync(part, path)
  syncToDisk(dirname(path))
}

/** Writes a file of a running process, which is worth nothing once that ends: readers find it whole. */
export function writeStateFile(path: string, content: string): void {
  const part = `${path}.part`
  rmSync(part, { force: true })
  writeFileSync(part, content, { flag: 'wx', mode: privateMode })
  renameSync(part, path)
}

/** Returns when the disk has a file, or the names in a directory. */
export function syncToDisk(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * What a file holds that may be lost: undefined where there is none, and where it is damaged, which
 * never stops a start. A damaged one is moved aside under the name `<path>.damaged`, and told.
 */
export function readDisposable<T>(
  path: string,
  parse: (text: string) => T,
  log: Log,
): T | undefined {
  if (!existsSync(path)) return undefined
  try {
    return parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const aside = `${path}.damaged`
    try {
      renameSync(path, aside)
    } catch {
      // A directory that cannot be written is told by whatever must be written there.
    }
    log.warn('side_file_damaged', {
      path,
      moved_to: aside,
      error,
      message: 'An optional file could not be read; starting without it.',
    })
    return undefined
  }
}
