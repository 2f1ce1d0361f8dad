import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { binary, remove, temporaryDir } from '../../support/instance/binary.ts'
import { until } from '../../support/until.ts'

const cycles = process.env.WELLHEAD_TORTURE === '1' ? 200 : 20
const seed = Number(process.env.WELLHEAD_SEED ?? 1)
const endpoints = 6
const levels = new Map([
  ['WTI_USD', 70],
  ['BRENT_CRUDE_USD', 75],
  ['NATURAL_GAS_USD', 4],
])
/**
 * Nothing more is on its way when nothing has come for so long: longer than the first retry waits.
 */
const silenceMs = 90_000

const dir = temporaryDir()
let child: Bun.Subprocess | undefined
afterAll(() => {
  child?.kill('SIGKILL')
  remove(dir)
})

let state = seed
/** Numbers in [0, 1) that follow from the seed. */
function chance(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

interface Running {
  url: string
  /** Shown at the first start only. */
  apiKey: string | undefined
  adminToken: string | undefined
  startMs: number
}

async function start(): Promise<Running> {
  const ready = join(dir, 'ready.json')
  rmSync(ready, { force: true })
  const startedAt = performance.now()
  child = Bun.spawn(
    [binary(), 'serve', '--data', join(dir, 'data'), '--port', '0', '--ready-file', ready],
    {
      env: {
        PATH: process.env.PATH,
        WELLHEAD_EGRESS_ALLOW: '127.0.0.0/8',
        WELLHEAD_LIMITS_PER_MINUTE: '100000',
      },
      stdout: 'ignore',
      stderr: 'pipe',
    },
  )
  await until('the server listens', async () => {
    if (child!.exitCode !== null)
      throw new Error(
        `the server ended: ${await new Response(child!.stderr as ReadableStream).text()}`,
      )
    return existsSync(ready)
  })
  const readiness = JSON.parse(readFileSync(ready, 'utf8')) as {
    url: string
    api_key?: string
    admin_token?: string
  }
  return {
    url: readiness.url,
    apiKey: readiness.api_key,
    adminToken: readiness.admin_token,
    startMs: performance.now() - startedAt,
  }
}

async function call(
  url: string,
  method: string,
  path: string,
  authorization: string,
  body?: unknown,
) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Received event ids, by endpoint and point in time. */
const arrived = new Map<string, string[]>()
let lastAt = 0
const keyOf = (endpoint: string | number, code: string, timestamp: string) =>
  `${endpoint} ${code} ${Date.parse(timestamp)}`

const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { id, data } = (await request.json()) as {
      id: string
      data: { commodity_code: string; timestamp: string }
    }
    expect(request.headers.get('webhook-id')).toBe(id)
    const key = keyOf(new URL(request.url).pathname.slice(1), data.commodity_code, data.timestamp)
    lastAt = performance.now()
    arrived.set(key, [...(arrived.get(key) ?? []), id])
    // Slow enough that most kills find deliveries under way.
    await Bun.sleep(chance() * 40)
    return new Response('ok')
  },
})
afterAll(() => receiver.stop(true))

test(`${cycles} kills: every event that was acknowledged arrives, and no event comes under two ids`, async () => {
  const first = await start()
  const [key, operator] = [`Token ${first.apiKey}`, `Bearer ${first.adminToken}`]
  for (let n = 0; n < endpoints; n += 1) {
    const created = await call(first.url, 'POST', '/v1/webhooks', key, {
      url: `http://127.0.0.1:${receiver.port}/${n}`,
      events: ['price.updated'],
      rate_limit_per_second: 50,
      ordered: n === 0,
    })
    expect(created.status).toBe(201)
  }
  const acknowledged = new Set<string>()
  const startsMs: number[] = []
  let observedAt = Date.now() - 86_400_000
  let running = first
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    let killer: Timer | undefined
    for (let posts = 0; posts < 6 && child!.exitCode === null && !child!.killed; posts += 1) {
      observedAt += 1_000
      const timestamp = new Date(observedAt).toISOString()
      const observations = [...levels].map(([code, level]) => ({
        code,
        observed_at: timestamp,
        price: level + chance(),
      }))
      const answer = await call(running.url, 'POST', '/admin/v1/observations', operator, {
        observations,
      }).catch(() => undefined)
      if (!answer) break
      expect(answer.status).toBe(200)
      for (const code of levels.keys())
        for (let n = 0; n < endpoints; n += 1) acknowledged.add(keyOf(n, code, timestamp))
      killer ??= setTimeout(() => child!.kill('SIGKILL'), chance() * 200)
    }
    await child!.exited
    clearTimeout(killer)
    running = await start()
    startsMs.push(running.startMs)
  }
  const isSilent = () => performance.now() - lastAt > silenceMs
  const missing = () => [...acknowledged].filter(eventId => !arrived.has(eventId))
  await until(
    'every acknowledged event arrives',
    () => missing().length === 0 || isSilent(),
    600_000,
  )
  const { webhooks } = (await call(running.url, 'GET', '/v1/webhooks', key)).body.data as {
    webhooks: { id: string; url: string }[]
  }
  const logs = async () =>
    await Promise.all(
      webhooks.map(
        async endpoint =>
          (
            await call(
              running.url,
              'GET',
              `/v1/webhooks/${endpoint.id}/events?status=delivered`,
              key,
            )
          ).body.meta as { total: number },
      ),
    )
  // A committed but unacknowledged event arrives as well, possibly after all others.
  const places = () => arrived.size / endpoints
  const areRecorded = async () => (await logs()).every(log => log.total === places())
  await until('every arrival is recorded', async () => (await areRecorded()) || isSilent(), 600_000)
  const repeated = [...arrived.values()].filter(ids => ids.length > 1)
  const renamed = [...arrived].filter(([, ids]) => new Set(ids).size > 1)
  startsMs.sort((a, b) => a - b)
  const at = (share: number) =>
    Math.round(startsMs[Math.min(startsMs.length - 1, Math.floor(startsMs.length * share))]!)
  const figures = {
    acknowledged: acknowledged.size,
    arrived: arrived.size,
    repeated: repeated.length,
    lost: missing().length,
  }
  console.log(
    JSON.stringify({
      id: 'R01',
      n: cycles,
      failures: missing().length + renamed.length,
      p50: at(0.5),
      p95: at(0.95),
      max: at(1),
      seed,
      ...figures,
    }),
  )
  expect(missing()).toEqual([])
  expect(renamed).toEqual([])
  expect(acknowledged.size).toBeGreaterThan(cycles * endpoints)
  // The kills came in the middle of deliveries, or nothing was shown.
  expect(repeated.length).toBeGreaterThan(0)
  expect((await logs()).map(log => log.total)).toEqual(webhooks.map(places))
}, 600_000)
