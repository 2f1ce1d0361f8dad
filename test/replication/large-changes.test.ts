import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDatabase, transact } from '../../src/database/database.ts'
import { databasePath } from '../../src/instance/services/directory.ts'
import { changeHeaders } from '../../src/replication/service/changes.ts'
import { defaultSettings } from '../../src/topics/webhooks/store/webhooks.ts'
import { type Replicated, replicated } from '../support/instance/replicated.ts'
import { needs } from '../support/needs.ts'
import { contentOf } from '../support/topics/replication.ts'

const minuteMs = 60_000
const megabyte = 1024 * 1024

needs('nats-server').describe('a change that is larger than a message of NATS', () => {
  let both: Replicated

  afterEach(() => both.close(), 60_000)

  const contentAt = (name: string) => {
    const db = openDatabase(databasePath(join(both.dir, name)), { readonly: true })
    const content = Object.fromEntries(contentOf(db))
    db.close()
    return content
  }
  const isSame = () => Bun.deepEquals(contentAt('primary'), contentAt('replica'))
  const partsInStream = async () => {
    const { state } = await both.nats.manager.streams.info('wellhead-changes')
    const parts: string[] = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await both.nats.manager.streams.getMessage('wellhead-changes', { seq })
      const part = message?.header.get(changeHeaders.part)
      if (part) parts.push(part)
    }
    return parts
  }
  /** A replica that answers by itself with a price that was recorded last. */
  const follows = async (price: number) => {
    both.record('WTI_USD', price)
    await both.until('the price at the replica', async () => {
      const { price: answered, lag, stale } = await both.latest('WTI_USD')
      return answered === price && lag !== null && stale === null
    })
  }
  const expectFollowed = async (price: number) => {
    await follows(price)
    await both.until('the same rows', isSame)
    expect(both.log.join('')).not.toContain('replica_not_following')
    expect(both.log.join('')).not.toContain('not_publishing')
  }

  test('reaches a replica where it is one text of 3 MB or one blob of 3 MB', async () => {
    both = await replicated()
    const { db, settings } = both.primary().services
    settings.set('large.text', '🛢️ barrel '.repeat((3 * megabyte) / 16))
    db.query('INSERT INTO idempotency VALUES (?, ?, ?, ?)').run(
      'command test',
      crypto.getRandomValues(new Uint8Array(32)),
      new Uint8Array(3 * megabyte).fill(255),
      Date.now(),
    )
    await expectFollowed(70)
    expect((await partsInStream()).length).toBeGreaterThan(10)
  }, 120_000)

  test('reaches a replica where it is 100,000 values of one batch', async () => {
    both = await replicated()
    const { batches, catalogue, db, ingest } = both.primary().services
    const seriesId = catalogue.named('BRENT_CRUDE_USD')!.id
    const from = Date.UTC(2010, 0, 1)
    batches.record(
      { kind: 'file', actor: 'test' },
      Array.from({ length: 100_000 }, (_, n) => ({
        seriesId,
        observedAt: from + n * minuteMs,
        value: 80 + Math.sin(n / 1000),
      })),
    )
    // One moment has so many revisions that they do not fit into a message together.
    const firstRecordedAt = Date.UTC(2015, 0, 1)
    transact(db, () => {
      for (let n = 0; n < 30_000; n += 1)
        ingest.write(
          [{ seriesId, observedAt: from - minuteMs, value: 90 + n / 1000 }],
          firstRecordedAt + n * minuteMs,
        )
    })
    await expectFollowed(71)
    expect((await partsInStream()).length).toBeGreaterThan(1)
  }, 300_000)

  test('reaches a replica over a server that accepts messages of 8 KB only', async () => {
    both = await replicated({ 'nats.events': 'true' }, { maxPayload: 8192 })
    const { db, keys, settings, webhooks } = both.primary().services
    settings.set('large.text', 'x'.repeat(100_000))
    const made = webhooks.create(keys.find(both.token)!.account, {
      ...defaultSettings,
      url: 'https://hooks.example.com/a',
      events: ['price.updated'],
    })
    if ('refused' in made) throw new Error('no room for an endpoint')
    // An event cannot be in parts: it is left out, and nothing behind it waits for it.
    transact(db, () => {
      both.record('BRENT_CRUDE_USD', 81)
      db.query('UPDATE outbox_bodies SET body = body || ?').run(' '.repeat(10_000))
    })
    await expectFollowed(72)
    await both.until('the event of the later price', async () => {
      const { state } = await both.nats.manager.streams.info('wellhead-events')
      return state.messages > 0
    })
    expect((await partsInStream()).length).toBeGreaterThan(16)
    // A replica that begins now has what the snapshot and the parts behind it have.
    settings.set('large.text', 'y'.repeat(100_000))
    await both.startReplica('second')
    await both.until('the same rows', () =>
      Bun.deepEquals(contentAt('primary'), contentAt('second')),
    )
  }, 120_000)
})
