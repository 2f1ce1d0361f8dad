import type { Settings } from '../store/settings.ts'

/** What is known of scheduled backups; instants are Unix ms. */
export interface BackupStatus {
  madeAt: number | undefined
  checkedAt: number | undefined
  /** Why the last backup or verification failed. */
  trouble: string | undefined
}

export interface BackupRecord {
  get(): BackupStatus
  set(change: Partial<BackupStatus>): void
}

const name = 'backups'

/** Kept in the database, so that a start knows when the next backup is due. */
export function createBackupRecord(settings: Settings): BackupRecord {
  const get = (): BackupStatus => {
    const { madeAt, checkedAt, trouble } = JSON.parse(
      settings.get(name) ?? '{}',
    ) as Partial<BackupStatus>
    return { madeAt, checkedAt, trouble }
  }
  return {
    get,
    set: change => settings.set(name, JSON.stringify({ ...get(), ...change })),
  }
}
