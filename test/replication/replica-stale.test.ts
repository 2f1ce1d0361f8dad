import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/database.ts'
import { databasePath } from '../../src/instance/services/directory.ts'
import { type Replicated, replicated } from '../support/instance/replicated.ts'
import { needs } from '../support/needs.ts'

needs('nats-server').describe('a replica that has what may be old', () => {
  let both: Replicated
  let adminToken: string

  beforeEach(async () => {
    both = await replicated({ 'replica.max_lag': '1s' })
    adminToken = both.primary().services.adminTokens.rotate()
  }, 90_000)
  afterEach(() => both.close())

  const health = async () =>
    (await (await both.ask('/health')).json()) as { status: string; reason?: string }
  const staleMetric = async (reason: string) => {
    const metrics = await both.ask('/metrics', { authorization: `Bearer ${adminToken}` })
    const found = new RegExp(`^wellhead_replica_stale\\{reason="${reason}"\\} (\\d)$`, 'm').exec(
      await metrics.text(),
    )
    return found?.[1]
  }

  test('a replica that cannot apply a change reports it everywhere and forwards reads to an available primary', async () => {
    await both.until('the token', async () => (await staleMetric('cannot_apply')) === '0')
    const path = databasePath(join(both.dir, 'replica'))
    const db = openDatabase(path)
    db.run(
      "CREATE TRIGGER refuse BEFORE INSERT ON settings BEGIN SELECT raise(ABORT, 'not here'); END",
    )
    both.primary().services.settings.set('colour', 'green')
    both.record('BRENT_CRUDE_USD', 81)
    await both.until('the change to fail', async () => (await staleMetric('cannot_apply')) === '1')
    expect(await both.latest()).toMatchObject({ price: 81, lag: null })
    expect(await health()).toMatchObject({
      status: 'degraded',
      reason: expect.stringContaining('cannot apply a change'),
    })
    const tries = both.log.filter(line => line.includes('replica_not_following'))
    expect(tries.length).toBe(1)
    expect(tries[0]).toContain('not here')
    await both.until('a notice', () =>
      both.log.some(line => line.includes('"notice"') && line.includes('cannot follow the stream')),
    )
    await both.cutPrimary()
    expect(await both.latest()).toEqual({
      price: 80,
      lag: expect.any(String),
      stale: 'cannot_apply',
    })
    db.run('DROP TRIGGER refuse')
    db.close()
    await both.until('the end of it', async () => {
      const { price, stale } = await both.latest()
      return price === 81 && stale === null && (await health()).status === 'ok'
    })
    expect(await staleMetric('cannot_apply')).toBe('0')
  }, 120_000)

  test('a replica beyond its maximum lag forwards reads, and adds a header when only it can respond', async () => {
    await both.server.stop()
    await both.until('the primary to answer', async () => (await both.latest()).lag === null)
    expect(await health()).toMatchObject({
      status: 'degraded',
      reason: expect.stringContaining('replica.max_lag'),
    })
    both.record('BRENT_CRUDE_USD', 82)
    expect((await both.latest()).price).toBe(82)
    await both.cutPrimary()
    expect(await both.latest()).toEqual({ price: 80, lag: expect.any(String), stale: 'behind' })
    await both.server.start()
    await both.until('the price', async () => {
      const { price, stale } = await both.latest()
      return price === 82 && stale === null
    })
  }, 120_000)
})
