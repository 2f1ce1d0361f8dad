import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivate } from '../../lib/files/private-file.ts'
import { within } from '../../lib/time/clock.ts'
import type { Nats } from '../../send/nats/connection.ts'
import { copyDatabase, openDatabase } from '../../store/database.ts'
import { createChangeLog, logChanges } from '../../store/replication/change-log.ts'
import { createReplicationState } from '../../store/replication/state.ts'
import { snapshotBucket } from './subjects.ts'

/** What stands beside a snapshot in the object store. */
export interface Snapshot {
  name: string
  lineage: string
  /** Everything up to this change is in it. */
  sequence: number
}

const keptMax = 2
const stalledMs = 5000
const nameOf = (lineage: string, sequence: number) =>
  `${lineage}-${String(sequence).padStart(15, '0')}.db`

const snapshotName = /^([\w-]+)-(\d{15})\.db$/

/**
 * Copies a database, as it is at one moment, into the object store and deletes all but the newest
 * two. It blocks its thread while it copies.
 */
export async function storeSnapshot(
  nats: Nats,
  databasePath: string,
  copies: number,
): Promise<Snapshot> {
  const path = `${databasePath}.snapshot`
  const remove = () => {
    for (const tail of ['', '-wal', '-shm']) rmSync(path + tail, { force: true })
  }
  remove()
  try {
    copyDatabase(databasePath, path)
    const db = openDatabase(path)
    const sequence = createChangeLog(db).last()
    const state = createReplicationState(db)
    const lineage = state.get('lineage') ?? ''
    state.set('applied', String(sequence))
    // Who takes it over logs for itself, and only once it writes.
    logChanges(db, false)
    db.run('PRAGMA journal_mode = DELETE')
    db.close()
    const objects = await nats.objects(snapshotBucket, copies)
    const name = nameOf(lineage, sequence)
    await objects.put({ name }, Bun.file(path).stream())
    const names = (await snapshots(nats, copies)).map(snapshot => snapshot.name)
    for (const old of names.slice(keptMax)) await objects.delete(old)
    return { name, lineage, sequence }
  } finally {
    remove()
  }
}

/** The primary has not written one: it does when it begins to publish. */
export class NoSnapshot extends Error {}

/** Puts the newest snapshot of the object store into a new file. Throws where there is none. */
export async function fetchSnapshot(nats: Nats, copies: number, path: string): Promise<Snapshot> {
  const listed = await within(stalledMs, snapshots(nats, copies))
  if (!listed) throw new Error('NATS does not list its snapshots: try again')
  const [snapshot] = listed
  if (!snapshot) throw new NoSnapshot(`the object store ${snapshotBucket} has no snapshot`)
  const stored = await (await nats.objects(snapshotBucket, copies)).get(snapshot.name)
  if (!stored) throw new Error(`the snapshot ${snapshot.name} is gone: try again`)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  makePrivate(path)
  await writeWhile(stored.data, path)
  const fault = await stored.error
  if (fault) throw fault
  return snapshot
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

/** What the object store has, the newest first. */
export async function snapshots(nats: Nats, copies: number): Promise<Snapshot[]> {
  const objects = await nats.objects(snapshotBucket, copies)
  const stored = (await objects.list())
    .filter(info => !info.deleted)
    .sort((a, b) => b.mtime.localeCompare(a.mtime))
  return stored.flatMap(({ name }) => {
    const [, lineage, sequence] = snapshotName.exec(name) ?? []
    return lineage === undefined ? [] : [{ name, lineage, sequence: Number(sequence) }]
  })
}
