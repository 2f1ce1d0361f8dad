import { existsSync } from 'node:fs'
import { schemaVersion } from '../../database/migrations.ts'
import { olderAt } from '../../database/upgrade.ts'
import { databasePath } from '../../instance/services/directory.ts'
import { verifyFile } from './backup.ts'

/**
 * The result of migrating a copy: the schema before and after, which are the same where no
 * migration was needed.
 */
export interface UpgradeTrial {
  path: string
  from: number
  to: number
  seconds: number
}

/** Migrates a copy, verifies it and deletes it. Throws the first fault that `verify` reports. */
export function tryUpgrade(dir: string): UpgradeTrial {
  const path = databasePath(dir)
  if (!existsSync(path)) throw new Error(`${path} does not exist`)
  const from = olderAt(path)
  if (from === undefined) return { path, from: schemaVersion, to: schemaVersion, seconds: 0 }
  const startedAt = performance.now()
  const [fault] = verifyFile(path)
  if (fault !== undefined) throw new Error(`after the migration: ${fault}`)
  return { path, from, to: schemaVersion, seconds: (performance.now() - startedAt) / 1000 }
}
