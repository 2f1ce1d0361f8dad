import type { Runtime } from '../../../config/runtime.ts'
import { checksumsOf } from '../../../database/checkpoint.ts'
import {
  createLateCommits,
  type LateCommits,
  promptCommits,
} from '../../../database/late-commits.ts'
import { isLogged } from '../../../replication/store/change-log.ts'
import { createAdminTokenStore } from '../store/admin-tokens.ts'
import { createAuditStore } from '../store/audit.ts'
import { type Settings, settingsStore } from '../store/settings.ts'
import { type AdminTokens, createAdminTokens } from './admin-tokens.ts'
import { type Audit, createAudit } from './audit.ts'
import { type BackupRecord, createBackupRecord } from './backup-record.ts'
import { createDisk, type Disk } from './disk.ts'
import { createScrub, type Scrub } from './scrub.ts'
import { createTally, type Tally } from './tally.ts'

export interface OperatorServices {
  settings: Settings
  adminTokens: AdminTokens
  /** Who did what. */
  audit: Audit
  disk: Disk
  /** For requests that write much. */
  lateCommits: LateCommits
  /** Of scheduled backups. */
  backupRecord: BackupRecord
  /** Of the pages of the database. */
  scrub: Scrub
  tally: Tally
}

export function openOperator({
  db,
  clock,
  ids,
  log,
  config,
}: Pick<Runtime, 'db' | 'clock' | 'ids' | 'log' | 'config'>): OperatorServices {
  const settings = settingsStore(db)
  return {
    settings,
    adminTokens: createAdminTokens(createAdminTokenStore(db), clock, ids),
    audit: createAudit({
      store: createAuditStore(db),
      clock,
      log,
      keepDays: config.audit.keepDays,
    }),
    disk: createDisk({ settings, clock, log }),
    // What is published must not be taken back.
    lateCommits: isLogged(db) ? promptCommits : createLateCommits(db),
    backupRecord: createBackupRecord(settings),
    scrub: createScrub({ checksums: checksumsOf(db), settings, clock, log }),
    tally: createTally(),
  }
}
