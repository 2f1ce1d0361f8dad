import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readWal } from '../../../src/database/write-ahead-log.ts'
import { remove, run, type Server, start, temporaryDir } from '../../support/instance/binary.ts'

/**
 * The rules that a replicator of SQLite's WAL needs (litestream.io/how-it-works): it copies the
 * file once and then every addition to the WAL. Only the replicator may checkpoint the WAL, and no
 * process may read for so long that the replicator cannot.
 */

const dir = temporaryDir()
const data = join(dir, 'data')
const path = join(data, 'wellhead.db')
const log = `${path}-wal`
let server: Server | undefined
afterAll(() => {
  server?.process.kill('SIGKILL')
  remove(dir)
})

const rowsOfBatch = 1000
const startAt = Date.UTC(2020, 0, 1)
const minuteMs = 60_000
let batches = 0
/** A thousand minutes more; resolves when they are acknowledged. */
async function push({ url, adminToken }: Server) {
  const from = batches * rowsOfBatch
  batches += 1
  const answer = await fetch(`${url}/admin/v1/observations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      observations: Array.from({ length: rowsOfBatch }, (_, n) => ({
        code: 'WTI_USD',
        observed_at: new Date(startAt + (from + n) * minuteMs).toISOString(),
        price: 60 + ((from + n) % 40) / 10,
      })),
    }),
  })
  expect({ status: answer.status, text: await answer.text() }).toEqual({
    status: 200,
    text: expect.anything(),
  })
}

const walState = () => {
  const state = readWal(path)!
  return { salts: state.salts, frames: state.frames, file: statSync(path).mtimeMs }
}

test('with sqlite.autocheckpoint = 0 the WAL is never checkpointed, and duplicates of both files are restorable', async () => {
  mkdirSync(data)
  writeFileSync(join(data, 'wellhead.toml'), '[sqlite]\nautocheckpoint = 0\n')
  // Made, and copied as a replicator does when it sees a database for the first time.
  server = await start('serve', dir)
  expect(await server.stop()).toBe(0)
  const instance = join(dir, 'copy')
  mkdirSync(instance)
  cpSync(path, join(instance, 'wellhead.db'))
  cpSync(join(data, 'master.key'), join(instance, 'master.key'))

  server = await start('serve', dir)
  await push(server)
  const first = walState()
  let frames = first.frames
  const grows = (what: string) => {
    const now = walState()
    expect({ what, salts: now.salts, file: now.file }).toEqual({
      what,
      salts: first.salts,
      file: first.file,
    })
    expect(now.frames).toBeGreaterThanOrEqual(frames)
    frames = now.frames
  }
  // Well beyond the thousand pages at which SQLite itself would fold.
  for (let n = 0; n < 60; n += 1) await push(server)
  grows('many writes')
  expect(frames).toBeGreaterThan(1000)

  await Promise.all(
    [
      '/v1/prices/historical?by_code=WTI_USD&interval=raw',
      '/v1/analytics/statistics?by_code=WTI_USD',
      '/v1/prices/latest',
    ].map(async question => (await server!.get(question)).text()),
  )
  expect((await run('backup', join(dir, 'backup.db'), '--data', data)).code).toBe(0)
  expect((await run('verify', '--data', data)).code).toBe(0)
  expect((await run('doctor', '--data', data)).out).not.toBe('')
  expect((await run('export', 'WTI_USD', '--data', data, '-o', join(dir, 'all.csv'))).code).toBe(0)
  grows('reads, a backup, a verification and an export')
  await push(server)
  grows('a write after them')

  // No read transaction stays open: the replicator, whose right it is, checkpoints the whole WAL.
  const replicator = new Database(path, { readwrite: true })
  replicator.run('PRAGMA busy_timeout = 5000')
  const outcome = () =>
    replicator
      .query<{ busy: number; log: number; checkpointed: number }, []>(
        'PRAGMA wal_checkpoint(PASSIVE)',
      )
      .get()!
  // The frames that the replicator has read so far, before it checkpoints them.
  cpSync(log, join(instance, 'wellhead.db-wal'))
  cpSync(path, join(instance, 'wellhead.db'))
  const folded = outcome()
  expect({ busy: folded.busy, checkpointed: folded.checkpointed }).toEqual({
    busy: 0,
    checkpointed: folded.log,
  })
  replicator.close()

  // The next write restarts the WAL, as the replicator left it; a stop and a start continue with
  // it.
  await push(server)
  const anew = walState()
  expect(anew.salts).not.toBe(first.salts)
  expect(await server.stop()).toBe(0)
  const stopped = walState()
  server = await start('serve', dir)
  await push(server)
  const after = walState()
  for (const then of [stopped, after])
    expect({ salts: then.salts, file: then.file }).toEqual({ salts: anew.salts, file: anew.file })
  expect(stopped.frames).toBeGreaterThanOrEqual(anew.frames)
  expect(after.frames).toBeGreaterThan(stopped.frames)

  const restored = await run('export', 'WTI_USD', '--data', instance)
  expect(restored.code).toBe(0)
  const rows = restored.out.trim().split('\n').length - 1
  expect(rows).toBe((batches - 2) * rowsOfBatch)
  expect(readFileSync(join(dir, 'all.csv'), 'utf8').trim().split('\n').length - 1).toBe(
    (batches - 3) * rowsOfBatch,
  )
}, 120_000)
