import { Database } from 'bun:sqlite'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { smtpServer } from '../../test/support/servers/smtp-server.ts'
import { startServer } from './start-server.ts'

/**
 * R11 on the binary: under libfaketime its clock goes wrong for seconds, forward and back, by up to
 * a hundred years, before, while and after a scheduled e-mail and a webhook fall due. Each must go
 * out once and in its time, and nothing may stay scheduled for the wrong time. Prints one line of
 * JSON, after six minutes. Needs dist/wellhead and libfaketime.
 *
 * bun scripts/torture/false-clock.ts [path of libfaketime]
 */

const [library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'] = process.argv.slice(2)
const dir = mkdtempSync(join(tmpdir(), 'wellhead-clock-'))
const [secondMs, dayMs] = [1000, 86_400_000]
const wrongForMs = 5 * secondMs
const offsetFile = join(dir, 'offset')
const failed: string[] = []

// The e-mail is due two minutes after the start, by the clock of the server.
const dueAt = new Date()
dueAt.setUTCHours(7, 0, 0, 0)
const offsetSeconds = Math.round((dueAt.getTime() - 120 * secondMs - Date.now()) / secondMs)
const setClock = (wrongMs: number) => {
  const seconds = offsetSeconds + wrongMs / secondMs
  writeFileSync(offsetFile, `${seconds < 0 ? '' : '+'}${seconds}`)
}
setClock(0)

const smtp = await smtpServer()
const events: string[] = []
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    events.push(((await request.json()) as { id: string }).id)
    // The first try fails: the second is due a minute later.
    return new Response('', { status: events.length === 1 ? 503 : 200 })
  },
})

writeFileSync(
  join(dir, 'wellhead.toml'),
  `plans = "unlimited"
egress.allow = ["127.0.0.0/8"]
deliveries.dispatch_interval = "1m"
limits.per_minute = 100000
mail.provider = "smtp"
mail.smtp_url = "${smtp.url}"
`,
)
const {
  child: server,
  url,
  admin_token,
} = await startServer(dir, {
  env: {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: offsetFile,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  },
})
const startedMs = performance.now()

async function post<T>(authorization: string, path: string, body: unknown): Promise<T> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}
const operator = `Bearer ${admin_token}`
const { data } = await post<{ data: { api_key: { plain_token: string } } }>(
  operator,
  '/admin/v1/accounts',
  { email: 'ann@example.com', plan: 'enterprise' },
)
const key = `Token ${data.api_key.plain_token}`
const serverNow = () => Date.now() + offsetSeconds * secondMs
await post(operator, '/admin/v1/observations', {
  observations: [
    { code: 'WTI_USD', observed_at: new Date(serverNow() - dayMs).toISOString(), price: 70 },
  ],
})
await post(key, '/v1/scheduled-deliveries', {
  scheduled_delivery: {
    name: 'Morning prices',
    commodity_codes: ['WTI_USD'],
    cadence: 'daily',
    delivery_time: '07:00',
    time_zone: 'UTC',
  },
})
await post(key, '/v1/webhooks', {
  url: `http://127.0.0.1:${receiver.port}/`,
  events: ['price.updated'],
})
await post(operator, '/admin/v1/observations', {
  observations: [
    { code: 'WTI_USD', observed_at: new Date(serverNow() - 60_000).toISOString(), price: 70.1 },
  ],
})

const until = (ms: number) => Bun.sleep(Math.max(0, startedMs + ms - performance.now()))
/** Moments after the start, and how wrong the clock is then for five seconds. */
const jumps: readonly [atSeconds: number, wrongMs: number][] = [
  [10, 400 * dayMs],
  [20, 36_500 * dayMs],
  [30, -30 * dayMs],
  [117, 400 * dayMs],
  [250, 36_500 * dayMs],
  [260, -400 * dayMs],
]
for (const [atSeconds, wrongMs] of jumps) {
  await until(atSeconds * secondMs)
  setClock(wrongMs)
  await Bun.sleep(wrongForMs)
  setClock(0)
}
await until(350 * secondMs)
// Only the scheduled e-mail: the service sends ann nothing else here.
const prices = smtp.accepted.filter(({ raw }) => raw.includes('Morning prices'))
if (prices.length !== 1) failed.push(`${prices.length} e-mails instead of one`)
if (new Set(events).size !== 1 || events.length !== 2)
  failed.push(`the webhook was tried ${events.length} times, for ${new Set(events).size} events`)
server.kill('SIGKILL')
await server.exited
const db = new Database(join(dir, 'data', 'wellhead.db'), { readwrite: true })
const { next } = db.query('SELECT next_delivery_at AS next FROM scheduled_deliveries').get() as {
  next: number
}
if (next !== dueAt.getTime() + dayMs)
  failed.push(`the next e-mail is due at ${new Date(next).toISOString()}`)
const logged = readFileSync(join(dir, 'out'), 'utf8') + readFileSync(join(dir, 'log'), 'utf8')
const seen = logged.split('clock_jumped').length - 1
if (seen === 0) failed.push('no jump was logged')
console.log(
  JSON.stringify({
    id: 'R11',
    n: jumps.length,
    failures: failed.length,
    jumps_told: seen,
    mailMessages: prices.length,
    webhook_tries: events.length,
    ...(failed.length > 0 && { failed }),
  }),
)
rmSync(dir, { recursive: true, force: true })
process.exit(failed.length > 0 ? 1 : 0)
