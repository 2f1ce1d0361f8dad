import type { Database } from 'bun:sqlite'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readDisposable } from '../lib/files/side-file.ts'
import type { Log } from '../lib/log/log.ts'
import { isoInstant } from '../lib/time/instant.ts'
import { followWal, readWal } from './write-ahead-log.ts'

/** The length of the WAL when it was last checked. */
interface Mark {
  salts: string
  frames: number
  /** Unix ms. */
  at: number
}

const pathIn = (dir: string) => join(dir, 'commit-mark')
const markBytes = 120

/**
 * Describes commits that are missing from a database that was not closed: its WAL had them, and the
 * next opening will not find them. SQLite reads a WAL up to its first damaged frame and does not
 * report the rest; a truncated WAL looks complete to it. Call this before the database is opened.
 */
export function missingCommits(dir: string, databasePath: string, log: Log): string | undefined {
  const mark = readDisposable(pathIn(dir), markFrom, log)
  const state = readWal(databasePath)
  const seen = mark && `${mark.frames} frames at ${isoInstant(mark.at)}`
  if (!state)
    return mark && mark.frames > 0
      ? `its WAL is missing or empty, and had ${seen}; unless another program has checkpointed it since, commits are lost`
      : undefined
  if (state.brokenAt === 0) return 'the header of its WAL is damaged, so all commits in it are lost'
  // The last transaction before a power cut may be torn; it was not acknowledged.
  if (state.brokenAt !== undefined && state.commitsAfter > 1)
    return `its WAL is damaged at frame ${state.brokenAt}: the ${state.commitsAfter} commits from there on are lost`
  if (mark && mark.salts === state.salts && mark.frames > state.frames)
    return `its WAL ends after ${state.frames} frames, and had ${seen}: the commits in between are lost`
  return undefined
}

function markFrom(text: string): Mark {
  const { salts, frames, at } = JSON.parse(text) as Partial<Mark>
  if (typeof salts !== 'string' || !Number.isSafeInteger(frames) || !Number.isSafeInteger(at))
    throw new Error('it is not a mark')
  return { salts, frames: frames!, at: at! }
}

export type CommitMark = ReturnType<typeof keepMark>

/**
 * Keeps the mark of an open database. The file is overwritten in place and not synced, unlike the
 * WAL: after a power cut the mark may be an older one, which claims too little and never too much.
 */
export function keepMark(dir: string, databasePath: string, db: Database) {
  const path = pathIn(dir)
  const endOfWal = followWal(db, databasePath)
  // A mark that cannot be written, on a full disk, prevents nothing else.
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch {
      return undefined
    }
  }
  let file = attempt(() => {
    // A new file: its name may be a link to any file, and a command may be root's.
    rmSync(path, { force: true })
    return openSync(path, 'wx', 0o600)
  })
  const write = (mark: Mark) => {
    const open = file
    if (open !== undefined)
      attempt(() => writeSync(open, `${JSON.stringify(mark).padEnd(markBytes)}\n`, 0))
  }
  // Before the first note, a killed process leaves a mark that claims nothing, and no empty file.
  write({ salts: '', frames: 0, at: 0 })
  return {
    /** Records the current length of the WAL. */
    note(at: number) {
      const end = file === undefined ? undefined : attempt(endOfWal)
      if (end) write({ salts: end.salts, frames: end.frames, at })
    },
    /** Call this before a database is closed regularly: later commits need no mark. */
    end() {
      if (file !== undefined) closeSync(file)
      file = undefined
      rmSync(path, { force: true })
    },
  }
}

/** Deletes the mark of a database that is about to be replaced. */
export const forgetMark = (dir: string): void => rmSync(pathIn(dir), { force: true })
