import type { Runtime } from '../../runtime.ts'
import { createAdminTokenStore } from '../../store/operator/admin-tokens.ts'
import { type Settings, settingsStore } from '../../store/operator/settings.ts'
import { type AdminTokens, createAdminTokens } from './admin-tokens.ts'
import { type BackupRecord, createBackupRecord } from './backup-record.ts'
import { createDisk, type Disk } from './disk.ts'
import { createTally, type Tally } from './tally.ts'

export interface OperatorServices {
  settings: Settings
  adminTokens: AdminTokens
  disk: Disk
  /** Of scheduled backups. */
  backupRecord: BackupRecord
  tally: Tally
}

export function openOperator({
  db,
  clock,
  ids,
  log,
}: Pick<Runtime, 'db' | 'clock' | 'ids' | 'log'>): OperatorServices {
  const settings = settingsStore(db)
  return {
    settings,
    adminTokens: createAdminTokens(createAdminTokenStore(db), clock, ids),
    disk: createDisk({ settings, clock, log }),
    backupRecord: createBackupRecord(settings),
    tally: createTally(),
  }
}
