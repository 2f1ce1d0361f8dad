import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { databasePath } from '../house.ts'
import { copyDatabase, integrityFaults, openDatabase, versionOf } from '../store/database.ts'
import { lockDataDir } from '../store/lock.ts'
import { observationStore } from '../store/observations.ts'

/** What is wrong with a database file: SQLite's own checks, references, and bars against their observations. Reads only, also beside a running server. */
export function verifyFile(path: string): string[] {
  const db = openDatabase(path, { readonly: true })
  try {
    return [...integrityFaults(db), ...(versionOf(db) === 0 ? [] : observationStore(db).faults())]
  } finally {
    db.close()
  }
}

/** A consistent copy of a database that may be in use, checked before it gets its name. */
export function backup(dir: string, target: string): void {
  if (existsSync(target)) throw new Error(`${target} exists already; a backup never overwrites`)
  const part = `${target}.part`
  rmSync(part, { force: true })
  copyDatabase(databasePath(dir), part)
  const faults = verifyFile(part)
  if (faults.length > 0) throw new Error(`the copy is not sound: ${faults[0]}`)
  renameSync(part, target)
}

/** Puts a checked backup in place of the database of a directory that no process uses. The database it replaces is kept beside it. */
export function restore(dir: string, source: string, at: number): { keptAs: string | undefined } {
  const faults = verifyFile(source)
  if (faults.length > 0) throw new Error(`${source} is not sound and was not restored: ${faults[0]}`)
  if (!existsSync(dir)) mkdirSync(dir, { recursive: true, mode: 0o700 })
  const lock = lockDataDir(dir, { pid: process.pid, role: 'restore', startedAt: at })
  if ('heldBy' in lock) throw new Error(`${dir} is in use; stop the server first`)
  try {
    const path = databasePath(dir)
    const keptAs = existsSync(path) ? `${path}.before-${at}` : undefined
    copyFileSync(source, `${path}.part`)
    if (keptAs) {
      openDatabase(path).close()
      renameSync(path, keptAs)
    }
    for (const tail of ['-wal', '-shm']) rmSync(path + tail, { force: true })
    renameSync(`${path}.part`, path)
    return { keptAs }
  } finally {
    lock.release()
  }
}
