import type { Runtime } from '../../../config/runtime.ts'
import { checksumsOf } from '../../../database/checkpoint.ts'
import { createLateCommits, promptCommits } from '../../../database/late-commits.ts'
import { isLogged } from '../../../replication/store/change-log.ts'
import { createAdminTokenStore } from '../store/admin-tokens.ts'
import { createAuditStore } from '../store/audit.ts'
import { settingsStore } from '../store/settings.ts'
import { createAdminTokens } from './admin-tokens.ts'
import { createAudit } from './audit.ts'
import { createBackupRecord } from './backup-record.ts'
import { createDisk } from './disk.ts'
import { createRetentionGuard } from './retention-guard.ts'
import { createScrub } from './scrub.ts'
import { createTally } from './tally.ts'
import { createVitalsHistory } from './vitals-history.ts'

export type OperatorServices = ReturnType<typeof openOperator>

export function openOperator({
  db,
  clock,
  ids,
  log,
  config,
}: Pick<Runtime, 'db' | 'clock' | 'ids' | 'log' | 'config'>) {
  const settings = settingsStore(db)
  const tally = createTally()
  return {
    settings,
    adminTokens: createAdminTokens(createAdminTokenStore(db), clock, ids),
    /** The audit trail. */
    audit: createAudit({
      store: createAuditStore(db),
      clock,
      log,
      keepDays: config.audit.keepDays,
    }),
    disk: createDisk({ settings, clock, log }),
    /**
     * For requests with many writes. With replication they commit at once, because published
     * changes must not be lost.
     */
    lateCommits: isLogged(db) ? promptCommits : createLateCommits(db),
    /** People move the clock of a demo instance, so it waits for nothing. */
    retention:
      config.mode === 'dev' ? { mayForget: () => true } : createRetentionGuard({ settings, clock }),
    /** The record of scheduled backups. */
    backupRecord: createBackupRecord(settings),
    /** The weekly check of the database pages. */
    scrub: createScrub({ checksums: checksumsOf(db), settings, clock, log }),
    tally,
    /** The last day in minutes and the last month in hours. */
    vitalsHistory: createVitalsHistory({ tally, clock, log }),
  }
}
