import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { smtpServer } from '../../test/support/servers/smtp-server.ts'
import { startServer } from './start-server.ts'

/**
 * R26: one account has a thousand webhook endpoints whose receivers take a connection and never
 * answer; measures how long events of another account and a sign-in e-mail take. Prints one line of
 * JSON. Needs dist/wellhead.
 *
 * bun scripts/torture/neighbours.ts [endpoints, else 1000] [events, else 200]
 */

const [endpoints = 1000, events = 200] = process.argv.slice(2).map(Number)
const dir = mkdtempSync(join(tmpdir(), 'wellhead-neighbours-'))
const code = 'BRENT_CRUDE_USD'
const paceMs = 50
/** At the 99th percentile, from commit to receiver. */
const eventMsMax = 250
const letterMsMax = 2000
const arrivals = new Map<number, number>()

const hanging = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch: () => new Promise<Response>(() => {}),
})
const prompt = Bun.serve({
  port: 0,
  hostname: '127.0.0.2',
  async fetch(request) {
    const { data } = (await request.json()) as { data: { timestamp: string } }
    const at = Date.parse(data.timestamp)
    if (!arrivals.has(at)) arrivals.set(at, performance.now())
    return new Response('ok')
  },
})
/** Receives e-mails, and records when the first sign-in e-mail came. */
let letterAt: number | undefined
const smtp = await smtpServer(command => {
  if (command === '.') letterAt ??= performance.now()
  return undefined
})

writeFileSync(
  join(dir, 'wellhead.toml'),
  `plans = "unlimited"
egress.allow = ["127.0.0.0/8"]
limits.per_minute = 100000
limits.unauthenticated_per_minute = 100000
mail.provider = "smtp"
mail.smtp_url = "${smtp.url}"
`,
)
const { child: server, url, admin_token } = await startServer(dir)
const operator = `Bearer ${admin_token}`

async function call<T>(authorization: string, method: string, path: string, body?: unknown) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}
const account = async (email: string) => {
  const { data } = await call<{ data: { api_key: { plain_token: string } } }>(
    operator,
    'POST',
    '/admin/v1/accounts',
    { email, plan: 'enterprise' },
  )
  return `Token ${data.api_key.plain_token}`
}
const observe = (at: number, value: number) =>
  call(operator, 'POST', '/admin/v1/observations', {
    observations: [{ code, observed_at: new Date(at).toISOString(), price: value }],
  })

const [noisy, quiet] = [await account('noisy@example.com'), await account('quiet@example.com')]
for (let n = 0; n < endpoints; n += 1)
  await call(noisy, 'POST', '/v1/webhooks', {
    url: `http://127.0.0.1:${hanging.port}/${n}`,
    events: ['price.updated'],
  })
await call(quiet, 'POST', '/v1/webhooks', {
  url: `http://127.0.0.2:${prompt.port}/`,
  events: ['price.updated'],
  // Its own limit is not what is measured.
  rate_limit_per_second: 50,
})

const waits: number[] = []
let observedAt = Date.now() - 86_400_000
// The noisy account fills every slot that it can get.
for (let n = 0; n < 3; n += 1) {
  observedAt += 60_000
  await observe(observedAt, 70 + n)
}
await Bun.sleep(2_000)
arrivals.clear()
for (let n = 0; n < events; n += 1) {
  observedAt += 60_000
  await Bun.sleep(paceMs)
  // Small steps: guards hold suspicious values, for which no event is made.
  await observe(observedAt, 72 + (n % 5) / 10)
  const committed = performance.now()
  const deadline = committed + 10_000
  while (!arrivals.has(observedAt) && performance.now() < deadline) await Bun.sleep(1)
  waits.push(Math.max(0, (arrivals.get(observedAt) ?? Number.POSITIVE_INFINITY) - committed))
}
const startedMs = performance.now()
await call('', 'POST', '/v1/auth/link', { email: 'quiet@example.com' })
while (letterAt === undefined && performance.now() - startedMs < 30_000) await Bun.sleep(2)
const status = await call<{ data: { components: { name: string; status: string }[] } }>(
  quiet,
  'GET',
  '/v1/status',
)

const letterMs = letterAt === undefined ? null : Math.round(letterAt - startedMs)
waits.sort((a, b) => a - b)
const at = (share: number) => Math.round(waits[Math.ceil(share * waits.length) - 1]! * 10) / 10
console.log(
  JSON.stringify({
    id: 'R26',
    n: events,
    endpoints,
    failures: Number(at(0.99) > eventMsMax) + Number(letterMs === null || letterMs > letterMsMax),
    late: waits.filter(ms => ms > eventMsMax).length,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    max: at(1),
    letter_ms: letterMs,
    webhooks: JSON.stringify(status).match(/"name":"webhooks","status":"(\w+)"/)?.[1],
  }),
)
server.kill('SIGKILL')
await server.exited
rmSync(dir, { recursive: true, force: true })
process.exit(0)
