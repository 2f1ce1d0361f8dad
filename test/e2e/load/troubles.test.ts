import { afterAll, afterEach, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { remove, run, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { fields, smtpServer } from '../../support/servers/smtp-server.ts'
import { until as waitUntil } from '../../support/until.ts'

// Faults while a server runs must be visible wherever an operator looks.
const dir = temporaryDir()
afterAll(() => remove(dir))
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** The address of a closed port. */
function nowhere(): string {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  server.stop(true)
  return `127.0.0.1:${port}`
}

interface Operated {
  server: Server
  data: string
  notices: string[]
}

async function serving(name: string, settings: string): Promise<Operated> {
  const notices: string[] = []
  const sink = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      notices.push(await request.text())
      return new Response('ok')
    },
  })
  closing.push(() => sink.stop(true))
  const config = join(dir, `${name}.toml`)
  await Bun.write(
    config,
    `${settings}\n[notices]\nurl = "http://127.0.0.1:${sink.port}/"\n[readers]\nthreads = 1\n`,
  )
  const server = await start('serve', join(dir, name), '--config', config)
  closing.push(() => server.stop())
  return { server, data: join(dir, name, 'data'), notices }
}

const asOperator = (server: Server, path: string, body?: unknown) =>
  fetch(server.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${server.adminToken}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const until = <T>(look: () => Promise<T | undefined> | T | undefined) =>
  waitUntil(String(look), look, 120_000)

const reasonOf = async (server: Server) => {
  const health = (await (await fetch(`${server.url}/health`)).json()) as {
    status: string
    reason?: string
  }
  return health.status === 'degraded' ? health.reason : undefined
}

const metricsOf = async (server: Server) => await (await asOperator(server, '/metrics')).text()

const componentOf = async (server: Server, name: string) => {
  const { data } = (await (await server.get('/v1/status')).json()) as {
    data: { components: { name: string; status: string }[] }
  }
  return data.components.find(component => component.name === name)?.status
}

const doctorOf = async (data: string) => (await run('doctor', '--data', data)).out

/**
 * Waits until health, metrics, status, doctor and a notice name a sender that stopped working.
 * `TROUBLE_SECONDS` prints how long each took since then, and is the most that one may take.
 */
async function expectNoticed(
  { server, data, notices }: Operated,
  brokenAt: number,
  sender: { name: 'email' | 'sms' | 'payments'; sentence: string; provider: string },
) {
  const seconds: Record<string, number> = {}
  const look = async (place: string, isThere: () => Promise<boolean> | boolean) => {
    await waitUntil(`${sender.name} in ${place}`, isThere, 120_000)
    seconds[place] = Math.round((performance.now() - brokenAt) / 10) / 100
  }
  await Promise.all([
    look('health', async () => (await reasonOf(server))?.includes(sender.sentence) ?? false),
    look('metrics', async () =>
      (await metricsOf(server)).includes(`wellhead_sender_degraded{sender="${sender.name}"} 1`),
    ),
    look('status', async () => (await componentOf(server, sender.name)) === 'degraded'),
    look('doctor', async () =>
      new RegExp(`warning +health +${sender.sentence}`).test(await doctorOf(data)),
    ),
    look('notices', () =>
      notices.some(text => text.includes(`the provider of ${sender.provider}`)),
    ),
  ])
  const max = process.env.TROUBLE_SECONDS
  if (max === undefined) return
  console.log(`${sender.name} noticed: ${JSON.stringify(seconds)}`)
  for (const each of Object.values(seconds)) expect(each).toBeLessThan(Number(max))
}

test('query workers that no longer start are reported everywhere, and heavy requests still succeed without them', async () => {
  // A worker reads the file of plans when it opens: one that an editor has cut breaks it.
  const plans = join(dir, 'plans.toml')
  const plansText = '[plans.starter]\nname = "Starter"\n'
  await Bun.write(plans, plansText)
  const { server, data, notices } = await serving('workers', `plans = "${plans}"`)
  await asOperator(server, '/admin/v1/observations', {
    observations: [{ code: 'WTI_USD', observed_at: new Date().toISOString(), price: 70 }],
  })
  await Bun.write(plans, '[plans.start')
  const heavy = () => server.get('/v1/prices/past_month?by_code=WTI_USD&interval=week')
  for (const wrong of ['page=-1', 'days=-1', 'interval=2d']) {
    const malformed = await server.get(`/v1/prices/past_week?by_code=WTI_USD&${wrong}`)
    expect({ wrong, status: malformed.status }).toEqual({ wrong, status: 400 })
  }
  const unknown = await server.get('/v1/prices/past_week?by_code=NO_SUCH_CODE')
  expect(unknown.status, 'an unknown code').toBe(400)
  const first = await heavy()
  expect({ status: first.status, total: first.headers.get('x-total') }).toEqual({
    status: 200,
    total: '1',
  })
  expect(await until(() => reasonOf(server))).toContain('Query workers do not start')
  expect(await componentOf(server, 'api')).toBe('degraded')
  expect(await metricsOf(server)).toContain('wellhead_query_workers{state="failed"} 1')
  expect(await doctorOf(data)).toMatch(/error +query workers +query workers do not start: .*plans/)
  const notice = await until(() => notices.find(text => text.includes('query workers')))
  expect(notice).toContain('plans.toml')
  expect(notice).not.toContain('\\n')

  await Bun.write(plans, plansText)
  await until(async () => ((await reasonOf(server)) === undefined ? true : undefined))
  expect((await heavy()).status).toBe(200)
  expect(await metricsOf(server)).toContain('wellhead_query_workers{state="ready"} 1')
}, 120_000)

test('a mail server that goes away is noticed everywhere, until it takes a message again', async () => {
  const mail = await smtpServer()
  const operated = await serving('mail', `[mail]\nprovider = "smtp"\nsmtp_url = "${mail.url}"\n`)
  const { server } = operated
  const link = () =>
    fetch(`${server.url}/v1/auth/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'operator@localhost' }),
    })
  await link()
  await until(() => mail.accepted[0])
  expect(fields(mail.accepted[0]!.raw)).toBeDefined()
  expect(await reasonOf(server)).toBeUndefined()
  mail.close()
  const brokenAt = performance.now()
  await link()
  await expectNoticed(operated, brokenAt, {
    name: 'email',
    sentence: 'E-mails are not sent',
    provider: 'e-mail',
  })
  const again = await smtpServer(undefined, Number(new URL(mail.url).port))
  closing.push(() => again.close())
  await link()
  await until(() => again.accepted[0])
  await until(async () => ((await reasonOf(server)) === undefined ? true : undefined))
  expect(await metricsOf(server)).toContain('wellhead_sender_degraded{sender="email"} 0')
}, 120_000)

test('a provider of text messages that refuses its credentials is noticed everywhere', async () => {
  const refusing = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ code: 20_003, message: 'Authenticate' }, { status: 401 }),
  })
  closing.push(() => refusing.stop(true))
  const operated = await serving(
    'sms',
    `[sms]\nprovider = "twilio"\ntwilio_account = "AC${'0'.repeat(32)}"\ntwilio_token = "wrong"\ntwilio_from = "+15005550006"\ntwilio_url = "http://127.0.0.1:${refusing.port}"\n`,
  )
  const { server } = operated
  const brokenAt = performance.now()
  const answer = await fetch(`${server.url}/v1/phone`, {
    method: 'POST',
    headers: { authorization: `Token ${server.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number: '+447911123456', country_code: 'GB' }),
  })
  expect(answer.status).toBe(201)
  await expectNoticed(operated, brokenAt, {
    name: 'sms',
    sentence: 'Text messages are not sent',
    provider: 'text messages',
  })
}, 120_000)

test('a payment processor that does not answer is noticed everywhere', async () => {
  const operated = await serving(
    'payments',
    `[billing]\nprovider = "stripe"\nstripe_key = "sk_test_1"\nstripe_webhook_secret = "whsec_1"\nstripe_url = "http://${nowhere()}"\n`,
  )
  const { server } = operated
  const brokenAt = performance.now()
  const answer = await fetch(`${server.url}/billing/intents/setup`, {
    method: 'POST',
    headers: { authorization: `Token ${server.apiKey}`, 'content-type': 'application/json' },
  })
  expect(answer.status).toBe(503)
  await expectNoticed(operated, brokenAt, {
    name: 'payments',
    sentence: 'The payment processor does not respond',
    provider: 'payments',
  })
}, 120_000)

const refusal = (code: string) =>
  Response.json(
    { error: { code, message: 'Not now.', status: 503, retry: { retryable: true } } },
    { status: 503, headers: { 'retry-after': '0' } },
  )

/** The socket of a data directory, whose server refuses the first request of each path. */
async function refusingFirst(server: Server, paths: readonly string[]): Promise<string> {
  const data = join(dir, `refusing-${Bun.nanoseconds()}`)
  mkdirSync(data, { recursive: true, mode: 0o700 })
  // A command takes no directory without a database for one of a server.
  await Bun.write(join(data, 'wellhead.db'), '')
  const waiting = new Set(paths)
  const front = Bun.serve({
    unix: join(data, 'wellhead.sock'),
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (waiting.delete(pathname)) return refusal('OVERLOADED')
      const body = request.method === 'GET' ? undefined : await request.arrayBuffer()
      const answer = await fetch(server.url + pathname + search, {
        method: request.method,
        headers: {
          authorization: `Bearer ${server.adminToken}`,
          'content-type': request.headers.get('content-type') ?? 'application/json',
        },
        ...(body !== undefined && { body }),
      })
      return new Response(await answer.text(), { status: answer.status })
    },
  })
  closing.push(() => front.stop(true))
  return data
}

test('an import retries requests that the server refuses temporarily and reports it in one line', async () => {
  const { server } = await serving('import', '')
  const data = await refusingFirst(server, [
    '/admin/v1/series',
    '/admin/v1/batches',
    '/admin/v1/observations',
  ])
  const file = join(dir, 'wti.csv')
  await Bun.write(file, 'observed_at,price\n2026-11-20,70\n2026-11-21,71\n')
  const { code, out, err } = await run('import', '--data', data, '--series', 'WTI_USD', file)
  expect(out + err).toContain('inserted 2')
  expect(err.match(/OVERLOADED: trying again/g)).toHaveLength(1)
  expect(code).toBe(0)
}, 120_000)

test('a client command tries again what the server refuses for now', async () => {
  const { server } = await serving('client', '')
  await asOperator(server, '/admin/v1/observations', {
    observations: [{ code: 'WTI_USD', observed_at: new Date().toISOString(), price: 70 }],
  })
  let refused = 0
  const front = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (refused < 2) {
        refused += 1
        return refusal('QUERY_WORKER_UNAVAILABLE')
      }
      const { pathname, search } = new URL(request.url)
      const answer = await fetch(server.url + pathname + search, { headers: request.headers })
      return new Response(await answer.text(), {
        status: answer.status,
        headers: { 'content-type': 'application/json' },
      })
    },
  })
  closing.push(() => front.stop(true))
  const url = `http://127.0.0.1:${front.port}`
  const { code, out, err } = await run('history', 'WTI_USD', '--url', url, '--key', server.apiKey)
  expect(err).toMatch(/^The server answers QUERY_WORKER_UNAVAILABLE: trying again[^\n]*\n$/)
  expect(out).toContain('70')
  expect({ code, refused }).toEqual({ code: 0, refused: 2 })
}, 120_000)

test('a feed whose publisher cannot be reached names host and cause, and is on the operator’s Overview', async () => {
  const address = nowhere()
  const { server } = await serving(
    'feed',
    `[feeds.ecb]\nbase_url = "http://${address}"\n[egress]\nallow = ["127.0.0.1/32"]`,
  )
  await asOperator(server, '/admin/v1/feeds/ecb/run', {})
  const feed = await until(async () => {
    const answer = await asOperator(server, '/admin/v1/condition')
    const { data } = (await answer.json()) as {
      data: { feeds: { name: string; state: string; problem: string | null }[] }
    }
    return data.feeds.find(({ problem }) => problem !== null)
  })
  expect({ name: feed.name, state: feed.state }).toEqual({ name: 'ecb', state: 'failing' })
  expect(feed.problem).toContain('127.0.0.1')
  expect(feed.problem).toMatch(/refused|connect/i)
}, 120_000)
