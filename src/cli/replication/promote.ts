import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { databasePath } from '../../directory.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { connectNats, type Nats } from '../../send/nats/connection.ts'
import { fetchSnapshot, NoSnapshot } from '../../service/replication/snapshots.ts'
import { takeOver } from '../../service/replication/takeover.ts'
import { openDatabase, transact } from '../../store/database.ts'
import { createApplier, deriveAgain } from '../../store/replication/applier.ts'
import { continueAt, logChanges } from '../../store/replication/change-log.ts'
import { createReplicationState } from '../../store/replication/state.ts'
import { restore } from '../backups/backup.ts'

export interface PromoteDeps {
  clock: Clock
  ids: Ids
  out(line: string): void
}

/**
 * Makes the directory the primary: its database becomes what the stream and its newest snapshot
 * hold, and whoever was primary is refused by the stream from then on. Answers the exit code.
 */
export async function promote(config: Config, { clock, ids, out }: PromoteDeps): Promise<number> {
  const { nats: settings, data } = config
  if (settings.servers.length === 0)
    throw new Error('nats.servers is empty: name the servers that the primary publishes to')
  const nats = await connectNats({
    servers: settings.servers,
    credentialsFile: settings.credentialsFile,
    token: settings.token.reveal(),
    name: 'wellhead promote',
  })
  const part = join(data.dir, 'promoted.part')
  const removePart = () => {
    for (const tail of ['', '-wal', '-shm']) rmSync(part + tail, { force: true })
  }
  try {
    removePart()
    const snapshot = await fetchSnapshot(nats, settings.copies, part).catch(error => {
      throw error instanceof NoSnapshot ? new Error(`${error.message}: restore a backup`) : error
    })
    const db = openDatabase(part)
    db.run('PRAGMA foreign_keys = OFF')
    const state = createReplicationState(db)
    const next = ids.uuid()
    const { position, ended } = await takeOver(
      nats,
      {
        lineage: snapshot.lineage,
        applied: snapshot.sequence,
        message: 0,
        apply: createApplier(db),
      },
      next,
      clock.now(),
    )
    deriveAgain(db)
    continueAt(db, position)
    state.set('lineage', next)
    state.set('continues', ended)
    // Commands may write before the first start.
    logChanges(db, true)
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    db.run('PRAGMA journal_mode = DELETE')
    db.close()
    const { keptAs } = restore(data.dir, part, { at: clock.now(), ids, isOfStream: true })
    out(
      `promoted at change ${position}${keptAs ? `; the database before it is ${keptAs}` : ''}: start it with "wellhead serve"`,
    )
    return 0
  } finally {
    removePart()
    await nats.close()
  }
}

/**
 * Makes the replica in a directory, which nothing else has open, the primary: what the stream has
 * beyond it is applied, and the lineage of before ends. Answers the change that it goes on from.
 */
export async function promoteReplica(
  dir: string,
  nats: Nats,
  next: string,
  now: number,
): Promise<number> {
  const db = openDatabase(databasePath(dir))
  try {
    db.run('PRAGMA foreign_keys = OFF')
    const state = createReplicationState(db)
    const { position, ended } = await takeOver(
      nats,
      {
        lineage: state.get('lineage') ?? '',
        applied: Number(state.get('applied')),
        message: Number(state.get('replica_at')),
        apply: createApplier(db),
      },
      next,
      now,
    )
    transact(db, () => {
      deriveAgain(db)
      continueAt(db, position)
      state.set('lineage', next)
      state.set('continues', ended)
      state.remove('replica_at')
    })
    logChanges(db, true)
    return position
  } finally {
    db.close()
  }
}
