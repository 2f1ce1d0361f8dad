import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import { connectNats } from '../../../src/replication/nats/connection.ts'
import { fetchSnapshot, storeSnapshot } from '../../../src/replication/service/snapshots.ts'
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
})
