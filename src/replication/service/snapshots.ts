import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { copyDatabase, openDatabase, removeDatabase } from '../../database/database.ts'
import { makePrivate } from '../../lib/files/private-file.ts'
import { fieldsOf, objectIn } from '../../lib/text/json.ts'
import { within } from '../../lib/time/clock.ts'
import type { Nats } from '../nats/connection.ts'
import type { NatsNames } from '../nats/names.ts'
import { createChangeLog, logChanges } from '../store/change-log.ts'
import { createReplicationState } from '../store/state.ts'
import { type Change, type ChangePart, readMessage } from './changes.ts'

/** The metadata of a snapshot in the object store. */
export interface Snapshot {
  name: string
  replicationEpoch: string
  /** Everything up to this change is in it. */
  sequence: number
}

const keptMax = 2
const stalledMs = 5000
const nameOf = (replicationEpoch: string, sequence: number) =>
  `${replicationEpoch}-${String(sequence).padStart(15, '0')}.db`

/** The stream in which the server keeps the object store of the snapshots. */
const streamOf = (names: NatsNames): string => `OBJ_${names.snapshots}`

const snapshotName = /^([\w-]+)-(\d{15})\.db$/

/**
 * Copies a database, as of one moment, into the object store and deletes all but the newest two. It
 * blocks its thread during the copy.
 */
export async function storeSnapshot(
  nats: Nats,
  databasePath: string,
  copies: number,
): Promise<Snapshot> {
  const path = `${databasePath}.snapshot`
  removeDatabase(path)
  try {
    copyDatabase(databasePath, path)
    const db = openDatabase(path)
    const sequence = createChangeLog(db).last()
    const state = createReplicationState(db)
    const replicationEpoch = state.get('lineage') ?? ''
    state.set('applied', String(sequence))
    // An instance that takes the snapshot over starts its change log when it writes.
    logChanges(db, false)
    db.run('PRAGMA journal_mode = DELETE')
    db.close()
    const name = nameOf(replicationEpoch, sequence)
    const put = async () => {
      const objects = await nats.objects(nats.names.snapshots, copies)
      await objects.put({ name }, Bun.file(path).stream())
      return objects
    }
    const objects = await put().catch(async error => {
      // A server may lose the files of an object store that was deleted while it was written to.
      // A new store takes the snapshot, where no other snapshot is lost with the old one.
      if ((await snapshots(nats, copies).catch(() => [])).length > 0) throw error
      await nats.manager.streams.delete(streamOf(nats.names))
      return await put()
    })
    for (const old of (await snapshots(nats, copies)).slice(keptMax)) await objects.delete(old.name)
    for (const { isDeleted, subject } of await storedObjects(nats))
      if (isDeleted) await nats.manager.streams.purge(streamOf(nats.names), { filter: subject })
    return { name, replicationEpoch, sequence }
  } finally {
    removeDatabase(path)
  }
}

/** The primary has not written one: it does when it begins to publish. */
export class NoSnapshot extends Error {}

/**
 * Writes the newest snapshot of the object store to a new file. Throws where there is none. An
 * object that has such a name without being a snapshot is skipped.
 */
export async function fetchSnapshot(nats: Nats, copies: number, path: string): Promise<Snapshot> {
  for (const snapshot of await snapshots(nats, copies)) {
    await fetchOne(nats, copies, snapshot, path)
    if (isSnapshot(path, snapshot)) return snapshot
    removeDatabase(path)
  }
  throw new NoSnapshot(`the object store ${nats.names.snapshots} has no snapshot`)
}

/** Whether a file is a database whose own identity matches the file name. */
function isSnapshot(path: string, { replicationEpoch, sequence }: Snapshot): boolean {
  try {
    const db = new Database(path, { readonly: true })
    try {
      const state = createReplicationState(db)
      return state.get('lineage') === replicationEpoch && state.get('applied') === String(sequence)
    } finally {
      db.close()
    }
  } catch {
    return false
  }
}

async function fetchOne(
  nats: Nats,
  copies: number,
  snapshot: Snapshot,
  path: string,
): Promise<void> {
  const stored = await (await nats.objects(nats.names.snapshots, copies)).get(snapshot.name)
  if (!stored) throw new Error(`the snapshot ${snapshot.name} is gone: try again`)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  makePrivate(path)
  await writeWhile(stored.data, path)
  const fault = await stored.error
  if (fault) throw fault
}

/** A snapshot that is replaced while it is read, or whose server is gone, ends without an end. */
async function writeWhile(data: ReadableStream<Uint8Array>, path: string): Promise<void> {
  const reader = data.getReader()
  const file = Bun.file(path).writer()
  try {
    for (;;) {
      const piece = await within(stalledMs, reader.read())
      if (!piece) throw new Error('the snapshot stopped coming: try again')
      if (piece.done) return
      file.write(piece.value)
      await file.flush()
    }
  } finally {
    await file.end()
  }
}

/** The snapshots in the object store, the newest first. */
export async function snapshots(nats: Nats, copies: number): Promise<Snapshot[]> {
  await nats.objects(nats.names.snapshots, copies)
  return (await storedObjects(nats)).flatMap(({ name, isDeleted }) => {
    const [, replicationEpoch, sequence] = snapshotName.exec(name) ?? []
    return isDeleted || replicationEpoch === undefined
      ? []
      : [{ name, replicationEpoch, sequence: Number(sequence) }]
  })
}

/**
 * The metadata of the object store, the newest first, and where each is stored. Uses requests
 * only: the list of the client makes a consumer, which stays on the server for a while, and never
 * ends where the object store is deleted while it is read.
 */
async function storedObjects({ manager, names }: Nats) {
  const { state } = await manager.streams.info(streamOf(names), {
    subjects_filter: `$O.${names.snapshots}.M.>`,
  })
  const messages = await Promise.all(
    Object.keys(state.subjects ?? {}).map(subject =>
      manager.streams.getMessage(streamOf(names), { last_by_subj: subject }),
    ),
  )
  return messages
    .filter(message => message !== null)
    .sort((a, b) => b.seq - a.seq)
    .flatMap(message => {
      const { name, deleted } = fieldsOf(objectIn(message.string()))
      const { subject } = message
      return typeof name === 'string' ? [{ name, isDeleted: deleted === true, subject }] : []
    })
}

/**
 * Finds out whether a replica that starts now would get everything: a snapshot, and the stream
 * after it without gaps. Deleted parts of either show here.
 */
export function createSnapshotCheck(nats: Nats, copies: number, replicationEpoch: string) {
  const { stream } = nats.names.changes
  let holesSeen: number | undefined
  let first: { sequence: number; change: Change | ChangePart | undefined } | undefined
  const changeAt = async (sequence: number) => {
    const message = await nats.manager.streams.getMessage(stream, { seq: sequence })
    const change = message && readMessage(message.header, message.data)
    return typeof change === 'object' && change !== null ? change : undefined
  }
  return async (position: number): Promise<boolean> => {
    const { state } = await nats.manager.streams.info(stream)
    const holes = state.num_deleted ?? 0
    const isTorn = holesSeen !== undefined && holes > holesSeen
    holesSeen = holes
    if (isTorn) return false
    const sameEpoch = (await snapshots(nats, copies)).filter(
      snapshot => snapshot.replicationEpoch === replicationEpoch,
    )
    const newest = Math.max(-1, ...sameEpoch.map(snapshot => snapshot.sequence))
    if (newest < 0) return false
    if (state.messages === 0) return newest >= position
    if (first?.sequence !== state.first_seq)
      first = { sequence: state.first_seq, change: await changeAt(state.first_seq) }
    return first.change?.replicationEpoch !== replicationEpoch || newest >= neededFor(first.change)
  }
}

/** The change that a replica must have to continue with a message. */
function neededFor(change: Change | ChangePart): number {
  if ('delta' in change) return change.delta.after
  return change.part === 1 ? change.position : change.reaches
}
