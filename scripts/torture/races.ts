import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { smtpServer } from '../../test/support/servers/smtp-server.ts'
import { startServer } from './start-server.ts'

/**
 * S13: five hundred requests at once at the edge of each limit: the rate window, the quota, the
 * number of keys, endpoints, alerts, watches, deliveries, data sources and invitations, a link that
 * signs in once, a request that is repeated with its key. Exactly as many as the limit must be
 * granted. Prints one line of JSON. Needs dist/wellhead.
 *
 * bun scripts/torture/races.ts [requests at once, else 500]
 */

const [atOnce = 500] = process.argv.slice(2).map(Number)
const dir = mkdtempSync(join(tmpdir(), 'wellhead-races-'))
const perMinute = 400
const mails = await smtpServer()
writeFileSync(
  join(dir, 'wellhead.toml'),
  `egress.allow = ["127.0.0.0/8"]
limits.per_minute = ${perMinute}
limits.unauthenticated_per_minute = 1000000
feeds.enabled = false
mail.provider = "smtp"
mail.smtp_url = "${mails.url}"
`,
)
const { child: server, url, admin_token } = await startServer(dir)

interface Answer {
  status: number
  code: string
  text: string
}

async function ask(
  authorization: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(authorization !== '' && { authorization }),
      'content-type': 'application/json',
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, code: /"code":"(\w+)"/.exec(text)?.[1] ?? '', text }
}

let accounts = 0
async function account(plan: string): Promise<{ key: string; email: string }> {
  accounts += 1
  const email = `person${accounts}@example.com`
  const made = await ask(`Bearer ${admin_token}`, 'POST', '/admin/v1/accounts', { email, plan })
  const { data } = JSON.parse(made.text) as { data: { api_key: { plain_token: string } } }
  return { key: `Token ${data.api_key.plain_token}`, email }
}

const failed: string[] = []
const granted: Record<string, string> = {}

/** All at once; those that were granted must be as many as the limit, the others refused with `code`. */
async function race(
  name: string,
  limit: number,
  code: string | RegExp,
  attempt: (n: number) => Promise<Answer>,
) {
  const answers = await Promise.all(Array.from({ length: atOnce }, (_, n) => attempt(n)))
  const taken = answers.filter(({ status }) => status < 300).length
  granted[name] = `${taken} of ${limit}`
  if (taken !== limit) failed.push(`${name}: ${taken} were granted, ${limit} are allowed`)
  const other = answers.find(
    answer => answer.status >= 300 && !new RegExp(code).test(`${answer.status} ${answer.code}`),
  )
  if (other) failed.push(`${name}: ${other.status} ${other.text.slice(0, 200)}`)
}

/** The limit that a refusal names. */
async function limitOf(attempt: (n: number) => Promise<Answer>): Promise<number> {
  for (let n = 0; n < perMinute; n += 1) {
    const answer = await attempt(n)
    if (answer.status >= 300) {
      const limit = /"(?:limit|allowed)":(\d+)/.exec(answer.text)?.[1]
      return limit === undefined ? n : Number(limit)
    }
  }
  throw new Error('there is no such limit')
}

/** Objects whose number is limited per account: the path and the body of the n-th. */
const things: Record<string, (n: number) => [path: string, body: unknown]> = {
  keys: n => ['/v1/api-keys', { name: `key ${n}` }],
  endpoints: n => [
    '/v1/webhooks',
    { url: `http://127.0.0.1:9/hook${n}`, events: ['price.updated'] },
  ],
  alerts: n => [
    '/v1/alerts',
    {
      price_alert: {
        name: `above ${n}`,
        commodity_code: 'BRENT_CRUDE_USD',
        condition_operator: 'greater_than',
        condition_value: 90 + n,
      },
    },
  ],
  watches: n => [
    '/v1/subscriptions',
    { codes: ['BRENT_CRUDE_USD'], interval_seconds: 3600, name: `hourly ${n}` },
  ],
  deliveries: n => [
    '/v1/scheduled-deliveries',
    {
      scheduled_delivery: {
        name: `morning ${n}`,
        commodity_codes: ['BRENT_CRUDE_USD'],
        cadence: 'weekdays',
        delivery_time: '07:00',
        time_zone: 'UTC',
      },
    },
  ],
  'data sources': n => [
    '/v1/data-sources',
    {
      data_source: {
        name: `terminal ${n}`,
        source_type: 'api',
        credentials: { token: 'example' },
        scraper_config: {},
      },
    },
  ],
}

try {
  for (const [name, thing] of Object.entries(things)) {
    const create = (key: string) => (n: number) => ask(key, 'POST', ...thing(n))
    const limit = await limitOf(create((await account('professional')).key))
    const { key } = await account('professional')
    // An account has a key from the start.
    const free = name === 'keys' ? limit - 1 : limit
    await race(name, free, /limit_reached|429 RATE_LIMIT/i, create(key))
  }

  await ask(`Bearer ${admin_token}`, 'POST', '/admin/v1/observations', {
    observations: [{ code: 'WTI_USD', observed_at: new Date().toISOString(), price: 70 }],
  })
  const { key: free } = await account('free')
  await race('the quota of a day', 50, '^402 |^429 ', () =>
    ask(free, 'GET', '/v1/prices/latest?by_code=WTI_USD'),
  )
  const { key: busy } = await account('professional')
  await race('the rate window', perMinute, '^429 RATE_LIMIT_EXCEEDED', () =>
    ask(busy, 'GET', '/v1/commodities/categories'),
  )

  const { key: repeated } = await account('professional')
  const repeats = await Promise.all(
    Array.from({ length: Math.min(atOnce, perMinute - 10) }, () =>
      ask(repeated, 'POST', ...things.endpoints!(0), { 'idempotency-key': 'once' }),
    ),
  )
  const ids = new Set(
    repeats
      .filter(({ status }) => status < 300)
      .map(({ text }) => /"id":"([^"]+)"/.exec(text)?.[1]),
  )
  granted['one request, repeated'] = `${ids.size} of 1`
  if (ids.size !== 1) failed.push(`one request, repeated: ${ids.size} things were made`)
  const { text } = await ask(repeated, 'GET', '/v1/webhooks')
  const listed = (JSON.parse(text) as { data: { count: number } }).data.count
  if (listed !== 1) failed.push(`one request, repeated: ${listed} things are there`)

  const { email } = await account('professional')
  await ask('', 'POST', '/v1/auth/link', { email })
  const mailMessage = () => mails.accepted.find(({ to }) => to.includes(email))
  for (let tries = 0; !mailMessage() && tries < 500; tries += 1) await Bun.sleep(20)
  const raw = mailMessage()!.raw.replace(/=\r\n/g, '').replaceAll('=3D', '=')
  const token = /[?#&][\w]*(?:token|code|link)[\w]*=([\w.-]+)/.exec(raw)?.[1]
  if (token === undefined) throw new Error(`no token in ${raw}`)
  await race('a link that signs in', 1, '^4', () =>
    ask('', 'POST', '/v1/auth/session', { link_token: token }),
  )
} finally {
  server.kill('SIGKILL')
  await server.exited
  mails.close()
  rmSync(dir, { recursive: true, force: true })
}
console.log(
  JSON.stringify({
    id: 'S13',
    n: atOnce * Object.keys(granted).length,
    failures: failed.length,
    granted,
    ...(failed.length > 0 && { failed: failed.slice(0, 10) }),
  }),
)
process.exit(failed.length > 0 ? 1 : 0)
