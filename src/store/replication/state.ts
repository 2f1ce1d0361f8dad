import { Database } from 'bun:sqlite'
import { lazy } from '../statement.ts'

/**
 * What a copy knows of itself: `applied`, the change it is at; `lineage`, whose commits it has;
 * `previous_lineage`, those before a restored backup or a gap in the log, the newest first;
 * `continues`, the one that it took over from; `replaced_by`, why it may not write; `restored`, that
 * a backup was put in its place since it last published; `unlogged`, that a server has written since
 * then without the log; `replica_at`, of a replica: the message of the stream that it is at.
 */
export type StateName =
  | 'applied'
  | 'lineage'
  | 'previous_lineage'
  | 'continues'
  | 'replaced_by'
  | 'restored'
  | 'unlogged'
  | 'replica_at'

export interface ReplicationState {
  get(name: StateName): string | undefined
  set(name: StateName, value: string): void
  remove(name: StateName): void
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
  const remove = lazy(db, 'DELETE FROM replication_state WHERE name = ?')
  return {
    get: name => get.get(name)?.value,
    set: (name, value) => void set.run(name, value),
    remove: name => void remove.run(name),
  }
}

/** More than one where the later ones never met NATS. */
const previousMax = 8

/** Lineages that this copy had before, the newest first. */
export const previousLineages = (state: Pick<ReplicationState, 'get'>): string[] =>
  state.get('previous_lineage')?.split(' ') ?? []

export function addPreviousLineage(state: ReplicationState, lineage: string): void {
  const all = [lineage, ...previousLineages(state)].slice(0, previousMax)
  state.set('previous_lineage', all.join(' '))
}

/** Runs work of this table alone also where the connection is closed to writes. */
export function pastTheFence<T>(db: Database, work: () => T): T {
  const isClosed = db.query<{ query_only: number }, []>('PRAGMA query_only').get()?.query_only === 1
  if (!isClosed) return work()
  db.run('PRAGMA query_only = OFF')
  try {
    return work()
  } finally {
    db.run('PRAGMA query_only = ON')
  }
}

/**
 * Notes in a database that was published, and that nobody uses, that it is a backup which was put
 * back. It keeps the schema that it has.
 */
export function noteRestored(path: string): void {
  const db = new Database(path, { strict: true })
  try {
    const table = "SELECT 1 FROM sqlite_schema WHERE name = 'replication_state'"
    if (db.query(table).get() === null) return
    const state = createReplicationState(db)
    if (state.get('lineage') !== undefined) state.set('restored', 'yes')
  } finally {
    db.close()
  }
}
