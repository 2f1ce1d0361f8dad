import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSystemClock } from '../../../src/lib/time/clock.ts'
import { connectNats, type Nats } from '../../../src/replication/nats/connection.ts'
import { readPool } from '../../../src/replication/service/quota-bucket.ts'
import { createQuotaGrants } from '../../../src/replication/service/quota-grants.ts'
import {
  createQuotaSlices,
  type QuotaSlices,
} from '../../../src/replication/service/quota-slices.ts'
import { openTestInstance } from '../../support/instance/instance.ts'
import { needs } from '../../support/needs.ts'
import { type NatsServer, natsServer } from '../../support/servers/nats.ts'
import { until } from '../../support/until.ts'

/** Events of one of three replicas, which make requests as fast as they may. */
const steps = fc.array(
  fc.record({
    node: fc.nat(2),
    what: fc.constantFrom('ask', 'ask', 'ask', 'ask', 'stop', 'kill', 'primary'),
    requests: fc.integer({ min: 1, max: 200 }),
  }),
  { minLength: 5, maxLength: 15 },
)

needs('nats-server').describe('the quota of a key over several copies', () => {
  let server: NatsServer
  let nats: Nats
  beforeAll(async () => {
    server = await natsServer()
    const { url } = server
    nats = await connectNats({ servers: [url], credentialsFile: '', token: '', name: 'test' })
  })
  afterAll(async () => {
    await nats?.close()
    await server?.remove()
  })

  /** A primary with one key whose quota is small, and copies that take slices of it. */
  let number = 0
  const opened = async (plan = 'free') => {
    number += 1
    const { services, key, log } = openTestInstance({ 'limits.per_minute': '1000000' })
    const { keys, meter } = services
    const state = keys.find(key(plan))!
    const { window } = meter.quotaUsage(state)
    const clock = createSystemClock()
    const bucket = await nats.bucket(`quotas-${number}`, 1, 0)
    const stream = { isReached: true }
    const grants = createQuotaGrants({
      bucket,
      keys,
      meter,
      reached: async () => stream.isReached,
      clock,
      log: services.log,
    })
    void grants.run().catch(() => undefined)
    const node = () => createQuotaSlices({ bucket, clock, log: services.log })
    return { meter, state, window, limit: window.limit!, node, log, bucket, stream }
  }
  /** Takes requests until there are so many, or none comes within `patienceMs`. */
  const asked = async (
    slices: QuotaSlices,
    { state, window }: Awaited<ReturnType<typeof opened>>,
    requests: number,
    patienceMs = 60,
  ) => {
    let answered = 0
    while (answered < requests && (await slices.comes(state.key.id, window, patienceMs)))
      if (slices.take(state.key.id, window)) answered += 1
    return answered
  }

  test('a quota is never exceeded, whichever instance fails and whenever it does', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async actions => {
        const primary = await opened()
        const { meter, state, limit, node } = primary
        const nodes = [node(), node(), node()]
        let answered = 0
        for (const { node: at, what, requests } of actions) {
          const slices = nodes[at]!
          if (what === 'ask') answered += await asked(slices, primary, requests)
          else if (what === 'primary') {
            for (let i = 0; i < requests; i++)
              answered += Number(meter.reserve(state) !== undefined)
          } else {
            const parts = slices.giveUp('all')
            // One that is killed returns nothing: its slice stays charged.
            if (what === 'stop') for (const part of parts) meter.putBack(part)
            nodes[at] = node()
          }
          expect(answered).toBeLessThanOrEqual(limit)
          expect(meter.quotaUsage(state).used).toBeGreaterThanOrEqual(answered)
        }
        // Slices in flight go to any replica that requested them.
        await Bun.sleep(30)
        for (const slices of nodes) for (const part of slices.giveUp('all')) meter.putBack(part)
        while (meter.reserve(state)) answered += 1
        expect(answered).toBeLessThanOrEqual(limit)
      }),
      { numRuns: 3 },
    )
  }, 120_000)

  test('a quota has a reserve that instances use while the primary grants no requests', async () => {
    const primary = await opened('developer')
    const { state, window, node, bucket, stream } = primary
    const poolOf = async () => readPool((await bucket.get(state.key.id))!.text).pool
    const first = node()
    expect(await first.comes(state.key.id, window, 5000)).toBe(true)
    await until('the pool is filled', async () => (await poolOf()) >= 3 * 64)
    // Simulates a loss: its grants do not reach the stream.
    stream.isReached = false
    const reserve = await poolOf()
    const next = node()
    expect(await next.comes(state.key.id, window, 5000)).toBe(true)
    expect(await asked(next, primary, reserve, 10_000)).toBe(reserve)
    expect(await next.comes(state.key.id, window, 1500)).toBe(false)
  }, 30_000)

  test('a slice that arrives after an instance gave up its slices is returned as well', async () => {
    const { state, window, node } = await opened()
    const slices = node()
    expect(slices.left(state.key.id, window)).toBe(0)
    expect(slices.giveUp('all')).toEqual([])
    await slices.settled()
    const [late] = slices.giveUp('all')
    expect(late).toMatchObject({ keyId: state.key.id })
    expect(late!.requests).toBeGreaterThan(0)
  })

  test('instances that claim quota at the same time never receive the same request', async () => {
    const primary = await opened('developer')
    const nodes = Array.from({ length: 4 }, primary.node)
    const askAll = async (requests: number, patienceMs?: number) =>
      (await Promise.all(nodes.map(slices => asked(slices, primary, requests, patienceMs)))).reduce(
        (sum, count) => sum + count,
        0,
      )
    // More than half is granted on any machine; the rest is claimed as fast as this one can.
    const half = await askAll(primary.limit / nodes.length / 2 + 1, 20_000)
    const total = half + (await askAll(10_000))
    // The last request is reserved for the primary, which admits it without coordination.
    let own = 0
    while (primary.meter.reserve(primary.state)) own += 1
    const unused = nodes
      .flatMap(slices => slices.giveUp('all'))
      .reduce((sum, part) => sum + part.requests, 0)
    expect(total).toBeGreaterThan(primary.limit / 2)
    expect(total + own + unused).toBeLessThanOrEqual(primary.limit)
  }, 60_000)
})
