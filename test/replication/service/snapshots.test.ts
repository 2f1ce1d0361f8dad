import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import { connectNats } from '../../../src/replication/nats/connection.ts'
import {
  fetchSnapshot,
  snapshots,
  storeSnapshot,
} from '../../../src/replication/service/snapshots.ts'
import { createReplicationState } from '../../../src/replication/store/state.ts'
import { needs } from '../../support/needs.ts'
import { natsServer } from '../../support/servers/nats.ts'

needs('nats-server').describe('a snapshot in the object store', () => {
  test('comes whole, and one of which the rest is gone is not waited for for ever', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'wellhead-snapshot-'))
    const server = await natsServer()
    const { url } = server
    const nats = await connectNats({ servers: [url], credentialsFile: '', token: '', name: 'test' })
    try {
      const db = openDatabase(join(dir, 'wellhead.db'))
      createReplicationState(db).set('lineage', '0123-abc')
      db.close()
      const stored = await storeSnapshot(nats, join(dir, 'wellhead.db'), 1)
      expect(await fetchSnapshot(nats, 1, join(dir, 'a'))).toEqual(stored)
      const copy = openDatabase(join(dir, 'a'), { readonly: true })
      expect(createReplicationState(copy).get('lineage')).toBe('0123-abc')
      copy.close()
      // As when it is replaced while it is read.
      await nats.manager.streams.purge('OBJ_wellhead-snapshots', {
        filter: '$O.wellhead-snapshots.C.>',
      })
      await expect(fetchSnapshot(nats, 1, join(dir, 'b'))).rejects.toThrow('try again')
    } finally {
      await nats.close()
      await server.remove()
      rmSync(dir, { recursive: true, force: true })
    }
  }, 60_000)

  test('is listed by requests alone, whatever else is in the store, and leaves no marker behind', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'wellhead-snapshot-'))
    const server = await natsServer()
    const { url } = server
    const nats = await connectNats({ servers: [url], credentialsFile: '', token: '', name: 'test' })
    const stream = 'OBJ_wellhead-snapshots'
    try {
      const db = openDatabase(join(dir, 'wellhead.db'))
      const state = createReplicationState(db)
      const stored: string[] = []
      for (const epoch of ['01-a', '02-b', '03-c', '04-d']) {
        state.set('lineage', epoch)
        stored.unshift((await storeSnapshot(nats, join(dir, 'wellhead.db'), 1)).name)
      }
      db.close()
      await nats.jetstream.publish('$O.wellhead-snapshots.M.bm90ZQ==', 'no object')
      expect((await snapshots(nats, 1)).map(({ name }) => name)).toEqual(stored.slice(0, 2))
      const { state: kept } = await nats.manager.streams.info(stream, { subjects_filter: '>' })
      // The metadata and the parts of both, and the foreign message.
      expect(Object.keys(kept.subjects!).length).toBe(5)
      expect(kept.consumer_count).toBe(0)
      // A store that is deleted while it is read ends the list, with all, some or no snapshots.
      for (let n = 0; n < 20; n++) {
        const listing = snapshots(nats, 1).catch(() => [])
        await nats.manager.streams.delete(stream)
        expect((await listing).length).toBeLessThanOrEqual(2)
        await nats.objects('wellhead-snapshots', 1)
      }
    } finally {
      await nats.close()
      await server.remove()
      rmSync(dir, { recursive: true, force: true })
    }
  }, 60_000)
})
