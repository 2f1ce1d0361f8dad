import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/database.ts'
import { databasePath } from '../../src/instance/services/directory.ts'
import { changeHeaders } from '../../src/replication/service/changes.ts'
import { snapshots } from '../../src/replication/service/snapshots.ts'
import { type Replicated, replicated } from '../support/instance/replicated.ts'
import { needs } from '../support/needs.ts'
import { contentOf } from '../support/topics/replication.ts'

const changes = { stream: 'wellhead-changes', subject: 'wellhead.changes' }
const someone = '11111111-2222-4333-8444-555555555555'

needs('nats-server').describe('messages of other clients in NATS', () => {
  let both: Replicated
  let price = 80

  beforeEach(async () => {
    both = await replicated()
  }, 90_000)
  afterEach(() => both.close())

  /** The primary takes a write, publishes it, and the replica has it. */
  const goesOn = async () => {
    price += 1
    both.record('BRENT_CRUDE_USD', price)
    await both.until(`the price ${price} at the replica`, async () => {
      const { price: answered, lag, stale } = await both.latest()
      return answered === price && lag !== null && stale === null
    })
  }
  const isPublishing = async () =>
    /^wellhead_replication_publishing 1$/m.test(await both.operate('/metrics'))

  test('replication messages that no instance published are skipped, are named and replace no instance', async () => {
    const { nats, log } = both
    await goesOn()
    const own = (await nats.manager.streams.getMessage(changes.stream, {
      last_by_subj: changes.subject,
    }))!
    const header = (name: string) => own.header.get(name)
    const empty = {
      after: 1,
      upTo: 1,
      isLast: true,
      readAt: 1,
      tables: [],
      ranges: [],
      counters: {},
    }
    const strays: [Record<string, string>, string][] = [
      [{}, 'hi'],
      [{}, ''],
      [{ [changeHeaders.replicationEpoch]: 'mine' }, '{}'],
      [{ [changeHeaders.replicationEpoch]: header(changeHeaders.replicationEpoch) }, own.string()],
      [{ [changeHeaders.replicationEpoch]: someone, [changeHeaders.position]: 'many' }, '{}'],
      [
        {
          [changeHeaders.replicationEpoch]: header(changeHeaders.replicationEpoch),
          [changeHeaders.position]: header(changeHeaders.position),
        },
        'not a change',
      ],
      // Messages with the headers of a change that do not end the published replication epoch.
      [
        { [changeHeaders.replicationEpoch]: someone, [changeHeaders.position]: '1' },
        JSON.stringify(empty),
      ],
    ]
    for (const [headers, body] of strays) {
      const { seq } = await nats.jetstream.publish(changes.subject, body, {
        headers: nats.headers(headers),
      })
      await goesOn()
      if (
        headers[changeHeaders.replicationEpoch] !== someone ||
        headers[changeHeaders.position] === 'many'
      )
        expect(log.filter(line => line.includes('stream_message_skipped')).join('')).toContain(
          `"sequence":${seq}`,
        )
    }
    // Many at once, while the primary writes.
    await Promise.all(
      Array.from({ length: 300 }, (_, n) => nats.jetstream.publish(changes.subject, `${n}`)),
    )
    await goesOn()
    both.restartPrimary()
    await goesOn()
    await both.until('publishing', isPublishing)
    const replica = openDatabase(databasePath(join(both.dir, 'replica')), { readonly: true })
    await both.until('the same rows', () =>
      Bun.deepEquals(contentOf(replica), contentOf(both.primary().services.db)),
    )
    replica.close()
  }, 120_000)

  test('messages of the stream that another client publishes again, with their position, change nothing', async () => {
    const { nats } = both
    const own: { headers: Record<string, string>; body: string }[] = []
    for (let i = 0; i < 3; i += 1) {
      await goesOn()
      const message = (await nats.manager.streams.getMessage(changes.stream, {
        last_by_subj: changes.subject,
      }))!
      const headers = Object.fromEntries(
        Object.values(changeHeaders).flatMap(name =>
          message.header.has(name) ? [[name, message.header.get(name)]] : [],
        ),
      )
      own.push({ headers, body: message.string() })
    }
    // The newest first, so that each older one would take values back.
    for (const { headers, body } of own.toReversed())
      await nats.jetstream.publish(changes.subject, body, { headers: nats.headers(headers) })
    await goesOn()
    both.restartPrimary()
    await goesOn()
    const replica = openDatabase(databasePath(join(both.dir, 'replica')), { readonly: true })
    await both.until('the same rows', () =>
      Bun.deepEquals(contentOf(replica), contentOf(both.primary().services.db)),
    )
    replica.close()
  }, 120_000)

  test.each([1, 5, 1000])(
    'a forged change with the epoch of the primary and a position %d ahead leaves no lasting difference',
    async ahead => {
      const { nats } = both
      await goesOn()
      const own = (await nats.manager.streams.getMessage(changes.stream, {
        last_by_subj: changes.subject,
      }))!
      const position = Number(own.header.get(changeHeaders.position))
      const forged = {
        after: position,
        upTo: position + ahead,
        isLast: true,
        readAt: Date.now(),
        tables: [],
        ranges: [],
        counters: {},
      }
      await nats.jetstream.publish(changes.subject, JSON.stringify(forged), {
        headers: nats.headers({
          [changeHeaders.replicationEpoch]: own.header.get(changeHeaders.replicationEpoch),
          [changeHeaders.position]: String(position + ahead),
          [changeHeaders.schema]: own.header.get(changeHeaders.schema),
        }),
      })
      await goesOn()
      await goesOn()
      const replica = openDatabase(databasePath(join(both.dir, 'replica')), { readonly: true })
      await both.until('the same rows', () =>
        Bun.deepEquals(contentOf(replica), contentOf(both.primary().services.db)),
      )
      replica.close()
    },
    120_000,
  )

  test('a purge of the stream of changes is survived by both, and by a replica that begins later', async () => {
    const { nats } = both
    await goesOn()
    await nats.manager.streams.purge(changes.stream)
    await goesOn()
    await nats.manager.streams.purge(changes.stream)
    both.restartPrimary()
    await goesOn()
    await nats.manager.streams.purge(changes.stream)
    await both.replica().close()
    await both.startReplica('another')
    await goesOn()
  }, 120_000)

  test('streams that are deleted are made again, and the replica follows the new one', async () => {
    const { nats } = both
    await goesOn()
    for (const name of ['changes', 'prices', 'usage'])
      await nats.manager.streams.delete(`wellhead-${name}`)
    // Nothing is written in the meantime: the loss is noticed without a write.
    await both.until('the streams', async () => {
      const names: string[] = []
      for await (const { config } of nats.manager.streams.list()) names.push(config.name)
      return ['changes', 'prices', 'usage'].every(name => names.includes(`wellhead-${name}`))
    })
    await goesOn()
    await both.until('the price on its subject', async () => {
      const message = await nats.manager.streams
        .getMessage('wellhead-prices', {
          last_by_subj: 'wellhead.prices.crude_oil.BRENT_CRUDE_USD',
        })
        .catch(() => undefined)
      return message?.json<{ price: number }>().price === price
    })
  }, 120_000)

  test('a message that is taken out of the stream ends with a new snapshot, which leads the replica on', async () => {
    const { nats } = both
    await both.replica().close()
    const { state } = await nats.manager.streams.info(changes.stream)
    for (let n = 0; n < 3; n++) {
      price += 1
      both.record('BRENT_CRUDE_USD', price)
      await both.until('the message', async () => {
        const { last_seq } = (await nats.manager.streams.info(changes.stream)).state
        return last_seq > state.last_seq + n
      })
    }
    // A job takes the new snapshot: the replica waits for it until the job runs again.
    const { runner } = both.primary()
    runner.stop()
    await runner.tick()
    await nats.manager.streams.deleteMessage(changes.stream, state.last_seq + 2)
    const replica = await both.startReplica()
    // Until then it reports that it is behind, and forwards requests.
    await both.until('a degraded replica', async () => {
      const answer = (await (await both.ask('/health')).json()) as {
        status: string
        reason?: string
      }
      return answer.status === 'degraded' && answer.reason?.includes('The stream lacks changes')
    })
    expect(await both.latest()).toMatchObject({ price, lag: null })
    runner.start()
    expect(await replica.ended).toContain('The stream begins after change')
    await both.until('the new copy', () => both.log.includes('rebuilt from a snapshot\n'))
    await goesOn()
  }, 120_000)

  test('a deleted or invalid snapshot is replaced by a new one', async () => {
    const { nats } = both
    const objects = await nats.objects('wellhead-snapshots', 1)
    const { replicationEpoch } = (await snapshots(nats, 1))[0]!
    await objects.put(
      { name: `${replicationEpoch}-000000000999999.db` },
      new Blob(['no database']).stream(),
    )
    await both.replica().close()
    await both.startReplica('another')
    await goesOn()
    for (const { name } of await objects.list()) await objects.delete(name)
    await both.until('another snapshot', async () => (await snapshots(nats, 1)).length > 0)
    await nats.manager.streams.delete('OBJ_wellhead-snapshots')
    await both.until('another', async () => (await snapshots(nats, 1).catch(() => [])).length > 0)
    await both.replica().close()
    await both.startReplica('a third')
    await goesOn()
  }, 180_000)

  test('buckets that are deleted or hold foreign data do not separate instances from each other', async () => {
    const { nats } = both
    const { services } = both.primary()
    const now = Date.now()
    const free = services.keys.addKey(
      services.keys.putAccount({
        id: services.ids.uuid(),
        email: 'small@example.com',
        plan: 'free',
        addOns: [],
        trialStartedAt: null,
        trialEndsAt: null,
        emailConfirmedAt: now,
        suspendedAt: null,
        createdAt: now,
      }),
    )
    const asked = () =>
      both.ask('/v1/prices/latest?by_code=BRENT_CRUDE_USD', {
        authorization: `Token ${free.token}`,
      })
    const isAnsweredHere = async () => {
      if ((await asked()).headers.get('x-service-replica-lag') !== null) return true
      await Bun.sleep(200)
      return false
    }
    const areBothSeen = async () => {
      const { data } = JSON.parse(await both.operate('/admin/v1/cluster')) as {
        data: { nodes: { role: string }[] }
      }
      return data.nodes.map(({ role }) => role).join() === 'primary,replica'
    }
    const state = services.keys.find(free.token)!
    await nats.connection.publish(`$KV.wellhead-quotas.${state.key.id}`, 'ten')
    await nats.connection.publish('$KV.wellhead-nodes.me', '{"role":"primary"}')
    await nats.connection.publish('$KV.wellhead-nodes.you', 'here')
    await both.until('a slice over what is none', isAnsweredHere)
    await both.until('both copies', areBothSeen)
    for (const name of ['quotas', 'nodes']) await nats.manager.streams.delete(`KV_wellhead-${name}`)
    await both.until('both copies again', areBothSeen)
    await goesOn()
    await both.until('a slice again', isAnsweredHere)
  }, 120_000)

  test('the usage of replicas is counted even after a message that is not a valid usage report', async () => {
    const { nats } = both
    const metered = () =>
      both
        .primary()
        .services.db.query<{ n: number | null }, []>('SELECT sum(requests) AS n FROM usage_hours')
        .get()!.n ?? 0
    await nats.jetstream.publish('wellhead.usage', 'hi')
    await nats.jetstream.publish('wellhead.usage', '{"usage":[{"keyId":7}],"returned":[]}')
    const before = metered()
    for (let n = 0; n < 5; n++) await both.latest()
    await both.until('the counts', () => {
      both.primary().services.meter.flush()
      return metered() >= before + 5
    })
    await nats.manager.streams.delete('wellhead-usage')
    await both.until('the stream', () =>
      nats.manager.streams.info('wellhead-usage').then(
        () => true,
        () => false,
      ),
    )
    const counted = metered()
    for (let n = 0; n < 5; n++) await both.latest()
    await both.until('the counts of a new stream', () => {
      both.primary().services.meter.flush()
      return metered() >= counted + 5
    })
  }, 120_000)
})
