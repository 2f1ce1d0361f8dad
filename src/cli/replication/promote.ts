import { existsSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { openDatabase, removeDatabase, transact } from '../../database/database.ts'
import { keepBeforeUpgrade } from '../../database/upgrade.ts'
import { databasePath, makeDirectory } from '../../instance/services/directory.ts'
import { workingFile } from '../../lib/files/working-file.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log/log.ts'
import { masterKeyPath, storedMasterKey } from '../../lib/secrets/master-key.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { connectNats, type Nats, natsSettings } from '../../replication/nats/connection.ts'
import { createUnknownMessageLog, endOfStream } from '../../replication/service/changes.ts'
import { fetchSnapshot, NoSnapshot } from '../../replication/service/snapshots.ts'
import { streamNames } from '../../replication/service/subjects.ts'
import { takeOver } from '../../replication/service/takeover.ts'
import { createApplier, deriveAgain } from '../../replication/store/applier.ts'
import { continueAt, logChanges } from '../../replication/store/change-log.ts'
import {
  beginEpoch,
  continueEpoch,
  createReplicationState,
  endEpoch,
  previousEpochs,
} from '../../replication/store/state.ts'
import { beginLine } from '../../topics/changes/store/log.ts'
import { createVault } from '../../topics/keys/service/vault.ts'
import { opensEverySample } from '../../topics/operator/service/secret-check.ts'
import { createSecretCheckStore } from '../../topics/operator/store/secret-check.ts'
import { lockOf, restore } from '../backups/backup.ts'

export interface PromoteDeps {
  clock: Clock
  ids: Ids
  out(line: string): void
  /** The operator confirmed that no master key opens what is sealed. */
  withoutMasterKey?: boolean
}

/**
 * Makes the directory the primary: its database becomes the content of the stream and its newest
 * snapshot, and the stream refuses the former primary from then on. Returns the exit code.
 */
export async function promote(config: Config, deps: PromoteDeps): Promise<number> {
  const { nats: settings, data, secrets } = config
  if (settings.servers.length === 0)
    throw new Error('nats.servers must name the servers that the primary publishes to; it is empty')
  // From the takeover on the former primary writes nothing, so everything that keeps this directory
  // from being the next one comes before it.
  const key = deps.withoutMasterKey ? undefined : keyOf(data.dir, secrets.masterKey.reveal())
  makeDirectory(data.dir)
  const lock = lockOf(data.dir, 'promote', deps.clock.now())
  try {
    const nats = await connectNats(natsSettings(settings, 'wellhead promote'))
    try {
      return await promoteFromStream(nats, config, key, deps)
    } finally {
      await nats.close()
    }
  } finally {
    lock.release()
  }
}

const orWithout =
  'If it is lost, add --without-master-key; the first start then needs --new-master-key, and the secrets of webhooks and the credentials of data sources have to be entered again.'

/** The master key of the primary, with which the next one signs and fetches. */
function keyOf(dir: string, configured: string): string {
  const key = storedMasterKey(dir, configured)
  if (key !== undefined) return key
  throw new Error(
    `promote needs the master key of the primary: set secrets.master_key, or copy it to ${masterKeyPath(dir)}. Nothing was changed. ${orWithout}`,
  )
}

async function promoteFromStream(
  nats: Nats,
  { nats: settings, data }: Config,
  key: string | undefined,
  { clock, ids, out }: PromoteDeps,
): Promise<number> {
  const part = workingFile(data.dir, 'promoted')
  try {
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
        replicationEpoch: snapshot.replicationEpoch,
        applied: snapshot.sequence,
        message: 0,
        stream: undefined,
        apply: createApplier(db),
        admit() {
          if (key === undefined) return
          if (opensEverySample(createVault(key), createSecretCheckStore(db))) return
          throw new Error(
            `the master key of ${data.dir} does not open what is sealed in the stream: it must be that of the primary. Nothing was changed. ${orWithout}`,
          )
        },
      },
      { replicationEpoch: next, readAt: clock.now() },
      (stream, message, why) => out(`skipped message ${message} of the stream ${stream}: ${why}`),
    )
    deriveAgain(db)
    continueAt(db, position)
    continueEpoch(state, next, ended)
    // Commits that the former primary did not publish are lost.
    beginLine(db)
    // Commands may write before the first start.
    logChanges(db, true)
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    db.run('PRAGMA journal_mode = DELETE')
    db.close()
    const { keptAs } = restore(data.dir, part, {
      at: clock.now(),
      ids,
      isOfStream: true,
      isLocked: true,
    })
    out(
      `promoted at change ${position}${keptAs ? `; the database before it is ${keptAs}` : ''}: start it with "wellhead serve"`,
    )
    return 0
  } finally {
    removeDatabase(part)
  }
}

/**
 * Makes the directory the primary with its current database, whatever took over from it: later
 * changes in the stream end with the next start, and replicas begin with a new snapshot. Returns
 * the exit code.
 */
export async function promoteFromHere(
  config: Config,
  { clock, ids, out }: PromoteDeps,
): Promise<number> {
  const { nats: settings, data } = config
  const path = databasePath(data.dir)
  if (!existsSync(path)) throw new Error(`${data.dir} must hold a database; it has none`)
  const lock = lockOf(data.dir, 'promote', clock.now())
  const upgraded = keepBeforeUpgrade(path)
  if (upgraded) out(`the database of schema ${upgraded.from} was saved as ${upgraded.keptAs}`)
  const db = openDatabase(path)
  try {
    const state = createReplicationState(db)
    const epochs = {
      replicationEpoch: state.get('lineage') ?? '',
      previousEpochs: previousEpochs(state),
    }
    const other =
      settings.servers.length === 0 ? undefined : await otherEpoch(settings, epochs, out)
    const isCopy = state.get('replica_at') !== undefined
    transact(db, () => {
      if (isCopy) {
        deriveAgain(db)
        continueAt(db, Number(state.get('applied')))
      }
      for (const name of [
        'replaced_by',
        'restored',
        'unlogged',
        'replica_at',
        'replica_stream',
      ] as const)
        state.remove(name)
      beginEpoch(state, ids.uuid())
      beginLine(db)
      if (other !== undefined) endEpoch(state, other)
    })
    logChanges(db, settings.servers.length > 0)
    out(
      `${data.dir} is the primary from what it holds${other === undefined ? '' : `, and replication epoch ${other} of the stream ends with its start`}: start it with "wellhead serve"`,
    )
    return 0
  } finally {
    db.close()
    lock.release()
  }
}

/** The replication epoch of the stream, where it differs from that of this instance. */
async function otherEpoch(
  settings: Config['nats'],
  own: { replicationEpoch: string; previousEpochs: readonly string[] },
  out: (line: string) => void,
): Promise<string | undefined> {
  const nats = await connectNats(natsSettings(settings, 'wellhead promote'))
  try {
    const { stream } = nats.names.changes
    if (!(await streamNames(nats)).has(stream)) return undefined
    const { replacedBy, foreign } = await endOfStream(nats, stream, own, (_, message, why) =>
      out(`skipped message ${message} of the stream ${stream}: ${why}`),
    )
    return replacedBy ?? foreign
  } finally {
    await nats.close()
  }
}

/**
 * Promotes the replica in a directory, which no other process has open: applies the remaining
 * changes of the stream and ends the previous replication epoch. Returns the change that the new
 * epoch continues from.
 */
export async function promoteReplica(
  dir: string,
  nats: Nats,
  next: { replicationEpoch: string; readAt: number },
  log: Log,
): Promise<number> {
  const db = openDatabase(databasePath(dir))
  try {
    db.run('PRAGMA foreign_keys = OFF')
    const state = createReplicationState(db)
    const { position, ended } = await takeOver(
      nats,
      {
        replicationEpoch: state.get('lineage') ?? '',
        applied: Number(state.get('applied')),
        message: Number(state.get('replica_at')),
        stream: state.get('replica_stream'),
        apply: createApplier(db),
      },
      next,
      createUnknownMessageLog(log),
    )
    transact(db, () => {
      deriveAgain(db)
      continueAt(db, position)
      continueEpoch(state, next.replicationEpoch, ended)
      beginLine(db)
      state.remove('replica_at')
      state.remove('replica_stream')
    })
    logChanges(db, true)
    return position
  } finally {
    db.close()
  }
}
