import type { Settings } from '../store/settings.ts'

/** The status of scheduled backups; instants are Unix ms. */
export interface BackupStatus {
  madeAt: number | undefined
  checkedAt: number | undefined
  /** Why the last backup or verification failed. */
  trouble: string | undefined
}

export type BackupRecord = ReturnType<typeof createBackupRecord>

const name = 'backups'

/** Kept in the database, so that a start knows when the next backup is due. */
export function createBackupRecord(settings: Settings) {
  const get = (): BackupStatus => {
    const { madeAt, checkedAt, trouble } = JSON.parse(
      settings.get(name) ?? '{}',
    ) as Partial<BackupStatus>
    return { madeAt, checkedAt, trouble }
  }
  return {
    get,
    set: (change: Partial<BackupStatus>) =>
      void settings.set(name, JSON.stringify({ ...get(), ...change })),
  }
}
