import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ids } from './ids.ts'

/**
 * The key of the vault: from the configuration, else the one kept beside the database, made at the
 * first start (mode 0600).
 */
export function masterKeyOf(dir: string, configured: string, ids: Ids): string {
  if (configured !== '') return configured
  const path = join(dir, 'master.key')
  if (existsSync(path)) return readFileSync(path, 'utf8').trim()
  const made = ids.token()
  writeFileSync(path, `${made}\n`, { mode: 0o600, flag: 'wx' })
  return made
}
