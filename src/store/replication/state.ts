import type { Database } from 'bun:sqlite'
import { lazy } from '../statement.ts'

/**
 * What a copy knows of itself: `applied`, the change it is at; `lineage`, whose commits it has;
 * `previous_lineage`, the one before a restored
 * backup; `continues`, the one that it took over from; `replaced_by`, why it may not write.
 */
export type StateName = 'applied' | 'lineage' | 'previous_lineage' | 'continues' | 'replaced_by'

export interface ReplicationState {
  get(name: StateName): string | undefined
  set(name: StateName, value: string): void
}

export function createReplicationState(db: Database): ReplicationState {
  const get = lazy<{ value: string }, [string]>(
    db,
    'SELECT value FROM replication_state WHERE name = ?',
  )
  const set = lazy(
    db,
    `INSERT INTO replication_state (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
  return {
    get: name => get.get(name)?.value,
    set: (name, value) => void set.run(name, value),
  }
}
