import type { Settings } from '../store/settings.ts'

/** The status of scheduled backups; instants are Unix ms. */
export interface BackupStatus {
  madeAt: number | undefined
  checkedAt: number | undefined
  /** Why the last backup or verification failed. */
  fault: string | undefined
}

export type BackupRecord = ReturnType<typeof createBackupRecord>

type StoredStatus = Partial<Omit<BackupStatus, 'fault'> & { trouble: string }>

const name = 'backups'

/** Kept in the database, so that a start knows when the next backup is due. */
export function createBackupRecord(settings: Settings) {
  const get = (): BackupStatus => {
    const { madeAt, checkedAt, trouble } = JSON.parse(settings.get(name) ?? '{}') as StoredStatus
    return { madeAt, checkedAt, fault: trouble }
  }
  return {
    get,
    set(change: Partial<BackupStatus>) {
      const { fault: trouble, ...times } = { ...get(), ...change }
      settings.set(name, JSON.stringify({ ...times, trouble }))
    },
  }
}
