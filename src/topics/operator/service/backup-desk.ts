import type { Clock } from '../../../lib/time/clock.ts'
import { type BackupRecord, type CommandOutcome, lastLine } from './backup-record.ts'

/** A backup in one of the places of the configuration. */
export interface BackupFile {
  name: string
  made_at: string
  bytes: number
  place: string
}

/** The backup task of an operator, as far as it is known; instants are Unix ms. */
export interface DeskTask {
  what: 'make' | 'check'
  startedAt: number
  endedAt: number | undefined
  /** Its final message. */
  message: string | undefined
  isFine: boolean | undefined
}

export type BackupDesk = ReturnType<typeof createBackupDesk>

export interface BackupDeskDeps {
  /** Runs a command of this program on the data directory, in its own process. */
  command: ((...args: string[]) => Promise<CommandOutcome>) | undefined
  isConfigured: boolean
  record: BackupRecord
  clock: Pick<Clock, 'now'>
}

const commands = { make: ['backup'], check: ['backup', 'check'] } as const

/** Backups are made and read by commands in separate processes, so that they delay no response. */
export function createBackupDesk(deps: BackupDeskDeps) {
  const { command, isConfigured, record, clock } = deps
  let task: DeskTask | undefined

  const run = async (begun: DeskTask) => {
    const outcome = await command!(...commands[begun.what])
    const at = begun.startedAt
    const failed = record.ended(outcome, begun.what === 'make' ? { madeAt: at } : { checkedAt: at })
    begun.endedAt = clock.now()
    begun.isFine = failed === undefined
    begun.message = failed?.fault ?? outcome.out.trim()
  }
  return {
    /** Whether the configuration names a place, and this process can run the commands. */
    isReady: isConfigured && command !== undefined,
    status: record.get,
    /**
     * Those in the places that can be read, the newest first, and the fault of the others. One that
     * a person made by a command counts like one of the schedule.
     */
    async list() {
      const { code, out, err } = await command!('backup', 'list', '--json')
      const backups = out.trim() === '' ? [] : (JSON.parse(out) as BackupFile[]).reverse()
      const now = clock.now()
      const times = backups.map(({ made_at: at }) => Date.parse(at)).filter(at => at <= now)
      const newestAt = Math.max(...times)
      if (newestAt > (record.get().madeAt ?? 0)) record.set({ madeAt: newestAt })
      return { backups, fault: code === 0 ? null : lastLine(err) || `exit code ${code}` }
    },
    /** The last requested task since the start. */
    task: () => task,
    /** Begins it; false while another one is under way. */
    begin(what: DeskTask['what']) {
      if (task && task.endedAt === undefined) return false
      const begun: DeskTask = {
        what,
        startedAt: clock.now(),
        endedAt: undefined,
        message: undefined,
        isFine: undefined,
      }
      task = begun
      void run(begun).catch(error => {
        begun.endedAt = clock.now()
        begun.isFine = false
        begun.message = (error as Error).message
      })
      return true
    },
  }
}
