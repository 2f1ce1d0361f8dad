import { mkdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import { transact } from '../../src/database/database.ts'
import { type Instance, openInstance } from '../../src/instance/instance.ts'
import { createRandomIds } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log/log.ts'
import { createSystemClock, sleep } from '../../src/lib/time/clock.ts'
import { duel } from '../duel.ts'
import type { BenchOptions, Line } from '../row.ts'
import { perSecond } from '../row.ts'
import { type Server, serveYardstick, withServers } from '../server.ts'

const accountCount = 20
const endpointsEach = 5
/** One run. */
const messages = 6_000
const leastPerSecond = 1_500
const concurrency = 20
const type = 'price.updated'

/**
 * Due events go to a hundred endpoints on loopback: signed, sent and recorded, against as many bare
 * requests without signatures and records.
 */
export async function webhooks(options: BenchOptions): Promise<Line[]> {
  const dir = join(options.dir, 'webhooks')
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  try {
    return await withServers([serveYardstick('webhooks', {})], async receiver => {
      options.say('webhooks')
      const instance = openInstance({ dir, runtime: runtime(dir) })
      const lanes = fill(instance, receiver)
      const result = await duel(
        options.rounds,
        () => delivered(instance, lanes),
        () => posted(receiver),
      )
      instance.close()
      const ours = perSecond(result.ours)
      return [
        {
          row: 'webhooks, each signed and recorded',
          ours,
          yardstick: perSecond(result.theirs),
          ratio: result.ratio,
          atLeast: `≥ ${perSecond(leastPerSecond)}`,
          met: result.ours >= leastPerSecond,
        },
      ]
    })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function runtime(dir: string) {
  const clock = createSystemClock()
  return {
    config: loadConfig({
      flags: { 'egress.allow': '127.0.0.0/8' },
      env: {},
      files: { directory: dir },
    }),
    clock,
    ids: createRandomIds(),
    log: createLog({
      level: 'error',
      format: 'text',
      write: line => process.stderr.write(line),
      clock,
    }),
  }
}

/** Endpoints of many accounts, as fast as an endpoint may want it. */
function fill({ services }: Instance, { port }: Server): { accountId: string; lane: string }[] {
  const { keys, ids, clock, webhooks: book } = services
  const at = clock.now()
  return Array.from({ length: accountCount }, (_, i) => {
    const account = keys.putAccount({
      id: ids.uuid(),
      email: `desk${i}@example.com`,
      plan: 'enterprise',
      addOns: [],
      suspendedAt: null,
      createdAt: at,
      trialStartedAt: null,
      trialEndsAt: null,
      emailConfirmedAt: at,
    })
    return Array.from({ length: endpointsEach }, (_, n) => {
      const endpoint = book.create(account, {
        url: `http://127.0.0.1:${port}/${i}/${n}`,
        events: [type],
        commodityFilters: [],
        stateFilters: [],
        description: null,
        conditions: [],
        conditionLogic: 'any',
        debugMode: false,
        active: true,
        signatureScheme: 'timestamped',
        ordered: false,
        honorRetryAfter: false,
        rateLimitPerSecond: 50,
        timeoutSeconds: 30,
        maxRetries: 5,
      })
      if ('refused' in endpoint) throw new Error(`${endpoint.count} endpoints are too many`)
      return { accountId: account.account.id, lane: endpoint.endpoint.id }
    })
  }).flat()
}

const data = {
  commodity: 'WTI_USD',
  commodity_code: 'WTI_USD',
  name: 'WTI Crude Oil',
  value: 72,
  price: 72,
  currency: 'USD',
  unit: 'barrel',
  change_percent: 1.41,
  previous_value: 71,
  source: 'market_reporting',
  timestamp: '2026-11-20T15:00:00Z',
}
const bodyOf = (id: string) =>
  JSON.stringify({ id, type, event: type, created_at: '2026-11-20T15:00:00.144Z', data })

/** Messages that are in the outbox already, until the last one is recorded as delivered. */
async function delivered(
  { services, sending }: Instance,
  lanes: readonly { accountId: string; lane: string }[],
): Promise<number> {
  const { db, ids, clock, outbox } = services
  const before = outbox.vitals().ended.delivered
  transact(db, () => {
    for (let n = 0; n < messages; n += 1) {
      const eventId = ids.event(clock.now())
      outbox.put({
        ...lanes[n % lanes.length]!,
        kind: 'webhook',
        eventId,
        eventType: type,
        body: bodyOf(eventId),
      })
    }
  })
  const startedMs = performance.now()
  for (;;) {
    await sending.pass()
    await sending.settled()
    if (outbox.vitals().pending === 0) break
    // Every lane has had its second's worth.
    await sleep(1)
  }
  const tookMs = performance.now() - startedMs
  const { ended } = outbox.vitals()
  if (ended.delivered - before !== messages)
    throw new Error(`${ended.delivered - before} of ${messages} were delivered`)
  return (messages / tookMs) * 1000
}

/** The same bytes, as many at a time, on a connection each. */
async function posted({ port }: Server): Promise<number> {
  const body = bodyOf('evt_01jd5n2g00abcdefghjkmnpqrs')
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  }
  const post = () =>
    new Promise<void>((done, fail) => {
      const sent = request(
        { host: '127.0.0.1', port, method: 'POST', path: '/', agent: false, headers },
        response => {
          response.resume()
          response.on('end', done)
        },
      )
      sent.on('error', fail)
      sent.end(body)
    })
  let left = messages
  const startedMs = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left > 0) {
        left -= 1
        await post()
      }
    }),
  )
  return (messages / (performance.now() - startedMs)) * 1000
}
