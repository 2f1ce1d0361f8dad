import type { Settings } from '../store/settings.ts'

/** The status of scheduled backups; instants are Unix ms. */
export interface BackupStatus {
  madeAt: number | undefined
  checkedAt: number | undefined
  /** Why the last backup or verification failed. */
  fault: string | undefined
}

/** How a command of this program ended. */
export interface CommandOutcome {
  code: number
  out: string
  err: string
}

/** Codes of a process that SIGINT or SIGTERM has ended: those of a service go to its children too. */
const stoppedCodes: readonly number[] = [130, 143]

/** The last line of a text: what a command says last is why it failed. */
export const lastLine = (text: string): string => text.trim().split('\n').at(-1)!

export type BackupRecord = ReturnType<typeof createBackupRecord>

type StoredStatus = Partial<Omit<BackupStatus, 'fault'> & { trouble: string }>

const name = 'backups'

/** Kept in the database, so that a start knows when the next backup is due. */
export function createBackupRecord(settings: Settings) {
  const get = (): BackupStatus => {
    const { madeAt, checkedAt, trouble } = JSON.parse(settings.get(name) ?? '{}') as StoredStatus
    return { madeAt, checkedAt, fault: trouble }
  }
  const set = (change: Partial<BackupStatus>) => {
    const { fault: trouble, ...times } = { ...get(), ...change }
    settings.set(name, JSON.stringify({ ...times, trouble }))
  }
  return {
    get,
    set,
    /**
     * Notes what a backup command did, or why it failed, and returns the reason. A command that was
     * stopped, as with its server, did not fail: it is due again.
     */
    ended({ code, err }: CommandOutcome, done: Partial<BackupStatus>) {
      if (code === 0) {
        set({ ...done, fault: undefined })
        return undefined
      }
      const isStopped = stoppedCodes.includes(code)
      const fault = isStopped ? 'it was stopped' : lastLine(err) || `exit code ${code}`
      if (!isStopped) set({ fault })
      return { fault, isStopped }
    },
  }
}
