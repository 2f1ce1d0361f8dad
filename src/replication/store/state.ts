import { Database } from 'bun:sqlite'
import { hasTable } from '../../database/identity.ts'
import { namedValues } from '../../database/record-table.ts'
import { beginLine } from '../../topics/changes/store/log.ts'

/**
 * The replication state of an instance: `applied`, the change that it has reached; `lineage`, the
 * epoch of its commits; `previous_lineage`, the epochs before a restored backup or a gap in the
 * log, the newest first; `continues`, the epoch that it took over from; `ended_lineages`, all
 * epochs that ended for it, the newest first; `replaced_by`, why it may not write; `restored`, that
 * a backup was restored since it last published; `unlogged`, that a server has written since then
 * without the log; `replica_at`, of a replica: the message of the stream that it has reached;
 * `replica_stream`, when that stream was created.
 */
export type StateName =
  | 'applied'
  | 'lineage'
  | 'previous_lineage'
  | 'continues'
  | 'ended_lineages'
  | 'replaced_by'
  | 'restored'
  | 'unlogged'
  | 'replica_at'
  | 'replica_stream'

export type ReplicationState = ReturnType<typeof createReplicationState>

export const createReplicationState = (db: Database) =>
  namedValues<StateName>(db, 'replication_state')

/** More than one where the later ones never met NATS. */
const previousMax = 8

const epochsIn = (state: Pick<ReplicationState, 'get'>, name: StateName): string[] =>
  state.get(name)?.split(' ') ?? []

function addEpoch(state: ReplicationState, name: StateName, replicationEpoch: string): void {
  const others = epochsIn(state, name).filter(other => other !== replicationEpoch)
  state.set(name, [replicationEpoch, ...others].slice(0, previousMax).join(' '))
}

/** Replication epochs that this instance had before, the newest first. */
export const previousEpochs = (state: Pick<ReplicationState, 'get'>): string[] =>
  epochsIn(state, 'previous_lineage')

/**
 * Replication epochs that ended for the one that this instance has: who publishes as one of them is
 * replaced.
 */
export const endedEpochs = (state: Pick<ReplicationState, 'get'>): string[] =>
  epochsIn(state, 'ended_lineages')

/** Continues as a new replication epoch, without the rest of the last one in the stream. */
export function beginEpoch(state: ReplicationState, replicationEpoch: string): void {
  const previous = state.get('lineage')
  state.set('lineage', replicationEpoch)
  state.remove('continues')
  if (previous === undefined) return
  addEpoch(state, 'previous_lineage', previous)
  addEpoch(state, 'ended_lineages', previous)
}

/** Replaces another replication epoch in the stream, without the commits of that one. */
export function endEpoch(state: ReplicationState, other: string): void {
  addEpoch(state, 'previous_lineage', other)
  addEpoch(state, 'ended_lineages', other)
}

/** Continues as a new replication epoch with everything that the stream has of another one. */
export function continueEpoch(
  state: ReplicationState,
  replicationEpoch: string,
  ended: string,
): void {
  state.set('lineage', replicationEpoch)
  state.set('continues', ended)
  addEpoch(state, 'ended_lineages', ended)
}

/** Writes to this table also while the connection is closed to writes. */
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
 * Notes in a database that no one uses that it is a backup which was put back: its feed of changes
 * begins another line, and its publisher starts with a snapshot. It keeps the schema that it has.
 */
export function noteRestored(path: string): void {
  const db = new Database(path, { strict: true })
  try {
    beginLine(db)
    if (!hasTable(db, 'replication_state')) return
    const state = createReplicationState(db)
    if (state.get('lineage') !== undefined) state.set('restored', 'yes')
  } finally {
    db.close()
  }
}
