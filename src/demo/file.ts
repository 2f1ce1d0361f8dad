import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import type { ProcessRuntime } from '../config/runtime.ts'
import { checkpoint } from '../database/checkpoint.ts'
import { schemaVersion } from '../database/migrations.ts'
import { databasePath, openDirectory } from '../instance/services/directory.ts'
import { claimForDemo } from '../instance/services/refusals.ts'
import { privateMode } from '../lib/files/private-file.ts'
import { embeddedFile, readShippedFile, shippedFile } from '../lib/files/shipped-file.ts'
import { createManualClock, soon } from '../lib/time/clock.ts'
import { dayMs } from '../lib/time/instant.ts'
import { openDemoWorld } from './open.ts'

/** The name of the packed demo data in the binary. */
export const worldFileName = (world: Config['dev']['world']): string => `demo-${world}-world`

/** The label of packed demo data: a line before the database. */
interface WorldLabel {
  schemaVersion: number
  seed: number
  /** Up to where the history is complete, Unix ms. */
  generatedAt: number
}

/** Older files would take longer to bring up to date than to generate. */
const longestAgeMs = 60 * dayMs

export interface GeneratingOptions {
  /** Is called with how much is written, 0 to 1. */
  onProgress?(share: number): void
  /** Generating ends early, and there is no file. */
  isStopped?(): boolean
}

/**
 * Generates the demo data that the configuration names, up to now, as a database at `path`. Other
 * work of the process runs in between. False: it was stopped.
 */
export async function generateWorld(
  path: string,
  runtime: ProcessRuntime,
  { onProgress, isStopped }: GeneratingOptions = {},
): Promise<boolean> {
  for (const share of writeWorld(path, runtime)) {
    onProgress?.(share)
    await new Promise<void>(resolve => soon(resolve))
    if (isStopped?.()) return false
  }
  return true
}

/**
 * The same in steps; yields the share that is written, 0 to 1. The database is written next to its
 * final path first, so that an incomplete one never has that path.
 */
export function* writeWorld(path: string, runtime: ProcessRuntime): Generator<number> {
  const now = runtime.clock.now()
  const dir = `${path}.generating`
  rmSync(dir, { recursive: true, force: true })
  try {
    const { services } = openDirectory({
      runtime: { ...runtime, clock: createManualClock(now) },
      dir,
      serving: false,
    })
    const { db } = services
    try {
      // Nothing is lost with the power: the file would be generated again.
      db.run('PRAGMA synchronous = OFF')
      claimForDemo(services)
      yield* openDemoWorld(services).feed.generate(now)
      checkpoint(db)
    } finally {
      db.close()
    }
    renameSync(databasePath(dir), path)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Packs generated demo data as a file of the binary. */
export function packWorld(path: string, { seed }: Config['dev'], generatedAt: number): Blob {
  const compact = `${path}.compact`
  const db = new Database(path, { readonly: true })
  db.run('VACUUM INTO ?', [compact])
  db.close()
  logAhead(compact)
  const label: WorldLabel = { schemaVersion, seed, generatedAt }
  const packed = shippedFile(JSON.stringify(label), readFileSync(compact), packingLevel)
  rmSync(compact)
  return packed
}

/** A higher level takes longer than everything else of a build, for a tenth of the bytes. */
const packingLevel = 9

/** Makes SQLite write to a log ahead: a database that is switched at its start waits for the disk. */
function logAhead(path: string): void {
  const db = new Database(path)
  db.run('PRAGMA journal_mode = WAL')
  db.close()
}

/** Writes the packed database to `path` if it is the demo data that the configuration names. */
export async function unpackWorld(
  path: string,
  { dev }: Pick<Config, 'dev'>,
  now: number,
  file: Blob | undefined = embeddedFile(worldFileName(dev.world)),
): Promise<boolean> {
  if (!file || existsSync(path)) return false
  const { line, content } = await readShippedFile(file)
  const label = JSON.parse(line) as WorldLabel
  const ageMs = now - label.generatedAt
  if (label.schemaVersion !== schemaVersion || label.seed !== dev.seed) return false
  if (ageMs < 0 || ageMs > longestAgeMs) return false
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const unpacking = `${path}.unpacking`
  writeFileSync(unpacking, content(), { mode: privateMode })
  renameSync(unpacking, path)
  return true
}
