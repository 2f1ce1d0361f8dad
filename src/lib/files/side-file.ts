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
 * Writes a file next to the database atomically. When this returns, the complete file is on disk
 * under its name; a crash before then leaves the previous file intact.
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

/** Writes a file that is only valid while this process runs; it always has complete content. */
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
 * Reads a file that may be lost. Undefined where there is none or it is damaged: neither may stop a
 * start. A damaged file is renamed to `<path>.damaged` and logged.
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
      // The next required write reports a directory that cannot be written.
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
