import type { Log } from '../../lib/log/log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { dayMs, isDueAgain, minuteMs } from '../../lib/time/instant.ts'
import type {
  BackupRecord,
  BackupStatus,
  CommandOutcome,
} from '../../topics/operator/service/backup-record.ts'
import type { Job } from './job.ts'

export interface BackupJobDeps {
  everyMs: number
  /** Runs a command of this program in a separate process, so that a backup delays no response. */
  command(...args: string[]): Promise<CommandOutcome>
  record: BackupRecord
  clock: Pick<Clock, 'now' | 'monotonic'>
  log: Log
}

const checkEveryMs = 7 * dayMs
const retryMs = 10 * minuteMs

/** Makes backups when they are due and, once a week, opens the newest of them. */
export function createBackupJob(deps: BackupJobDeps): Job {
  const { everyMs, command, record, clock, log } = deps
  let inProgress: Promise<void> | undefined
  let triedAt = Number.NEGATIVE_INFINITY

  const perform = async (
    args: readonly string[],
    notified: 'backup_made' | 'backup_checked',
    done: Partial<BackupStatus>,
  ) => {
    const outcome = await command(...args)
    const failed = record.ended(outcome, done)
    if (!failed) log.info(notified, { message: outcome.out.trim() })
    else if (failed.isStopped) log.info('backup_stopped', { command: args.join(' ') })
    else log.error('backup_failed', { command: args.join(' '), message: failed.fault })
  }
  const begin = (work: Promise<void>) => {
    triedAt = clock.monotonic()
    inProgress = work
      .catch(error => log.error('backup_failed', { error }))
      .finally(() => {
        inProgress = undefined
      })
  }
  return {
    name: 'backups',
    pass() {
      const now = clock.now()
      if (inProgress || clock.monotonic() - triedAt < Math.min(everyMs, retryMs)) return
      const { madeAt, checkedAt } = record.get()
      if (isDueAgain(madeAt, everyMs, now))
        begin(perform(['backup'], 'backup_made', { madeAt: now }))
      else if (isDueAgain(checkedAt, checkEveryMs, now))
        begin(perform(['backup', 'check'], 'backup_checked', { checkedAt: now }))
    },
    settled: async () => {
      await inProgress
    },
  }
}
