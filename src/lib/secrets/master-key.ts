import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeSideFile } from '../files/side-file.ts'
import type { Ids } from '../ids.ts'

export const masterKeyPath = (dir: string): string => join(dir, 'master.key')

/** A key of fewer characters could be guessed. */
const charactersMin = 16
/** A key with fewer different characters is refused: a damaged file often consists of NULs. */
const differentMin = 6

/**
 * The master key of the configuration, else that of the file next to the database; undefined:
 * neither exists. Throws for an invalid key; the message names the place and the remedy.
 */
export function storedMasterKey(dir: string, configured: string): string | undefined {
  if (configured !== '') return soundKey(configured, 'secrets.master_key')
  const path = masterKeyPath(dir)
  return existsSync(path) ? soundKey(readFileSync(path, 'utf8').trim(), path) : undefined
}

/**
 * The master key of the vault. Where there is none, one is made, and written and synced before
 * anything is sealed with it.
 */
export function masterKeyOf(dir: string, configured: string, ids: Ids): string {
  const stored = storedMasterKey(dir, configured)
  if (stored !== undefined) return stored
  const key = ids.token()
  writeSideFile(masterKeyPath(dir), `${key}\n`)
  return key
}

/** Reports that something is sealed and its key is gone. */
export const missingMasterKey = (dir: string): string =>
  `${masterKeyPath(dir)} is missing, and ${recovery}`

const recovery =
  'without it what is sealed in the database cannot be opened: the secrets of webhooks and the credentials of data sources. Put the copy of it back that is kept apart from the backups, or name it in secrets.master_key. If it is lost, start with --new-master-key: those secrets are given up then.'

function soundKey(key: string, place: string): string {
  const fault = faultOf(key)
  if (fault === undefined) return key
  throw new Error(
    `${place} ${fault}, so it cannot be a master key; ${recovery} Move a damaged file away first.`,
  )
}

function faultOf(key: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a damaged file is made of them
  if (/[\x00-\x1f\x7f]/.test(key)) return 'holds characters that no key has'
  if (key.length < charactersMin) return `has fewer than ${charactersMin} characters`
  if (new Set(key).size < differentMin) return 'is nearly all one character'
  return undefined
}
