import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createUser } from '@nats-io/nkeys'
import { configKeys } from '../../../src/config/keys.ts'
import {
  binary,
  remove,
  run,
  type Server,
  start,
  temporaryDir,
} from '../../support/instance/binary.ts'
import {
  type Configuration,
  configurations,
  everyRowSets,
  fileOf,
  type Surroundings,
} from '../../support/instance/configurations.ts'
import { interfaceRows } from '../../support/interface/interface.ts'
import { needs } from '../../support/needs.ts'
import { type NatsServer, natsServer } from '../../support/servers/nats.ts'
import { standInBucket } from '../../support/servers/s3-server.ts'
import { type SmtpServer, smtpServer } from '../../support/servers/smtp-server.ts'
import { until as waitUntil } from '../../support/until.ts'

// Every kind of work, with every setting: a fault in one configuration is invisible with default
// settings.

const natsNeed = needs('nats-server')

const dir = temporaryDir()
const closing: (() => unknown)[] = []
let mail: SmtpServer
let nats: NatsServer | undefined
let leasedNats: NatsServer | undefined
/** Bodies that were posted, by path. */
const posted = new Map<string, string[]>()

/** A server on this machine that takes whatever is sent to it. */
function taking(answer: (path: string, body: string) => unknown): string {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async request =>
      Response.json(answer(new URL(request.url).pathname, await request.text())),
  })
  closing.push(() => server.stop(true))
  return `http://127.0.0.1:${server.port}`
}

function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  server.stop(true)
  return port!
}

async function credentialsFile(): Promise<string> {
  const user = createUser()
  const seed = new TextDecoder().decode(user.getSeed())
  const path = join(dir, 'nats.creds')
  await Bun.write(
    path,
    `-----BEGIN NATS USER JWT-----\ne30.e30.e30\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  )
  return path
}

/** Addresses without a receiver, which suffice to read the names of settings. */
const nowhere: Surroundings = {
  dir,
  mail: 'smtp://127.0.0.1:1',
  sink: 'http://127.0.0.1:1',
  resend: 'http://127.0.0.1:1',
  twilio: 'http://127.0.0.1:1',
  stripe: 'http://127.0.0.1:1',
  bucket: 'http://127.0.0.1:1',
  nats: 'nats://127.0.0.1:1',
  leasedNats: 'nats://127.0.0.1:1',
  credentials: join(dir, 'nats.creds'),
  freePort: 1,
}
let surroundings = nowhere

beforeAll(async () => {
  mail = await smtpServer()
  const bucket = standInBucket('backups')
  closing.push(mail.close, bucket.stop)
  if (natsNeed.isMet) {
    nats = await natsServer()
    leasedNats = await natsServer()
    closing.push(nats.remove, leasedNats.remove)
  }
  await Bun.write(join(dir, 'feed.key'), 'key')
  surroundings = {
    dir,
    mail: mail.url,
    sink: taking((path, body) => {
      posted.set(path, [...(posted.get(path) ?? []), body])
      return {}
    }),
    resend: taking(() => ({ id: 'one' })),
    twilio: taking(() => ({ sid: 'SM1' })),
    stripe: taking(() => ({ id: 'one', object: 'list', data: [] })),
    bucket: bucket.endpoint,
    nats: nats?.url ?? nowhere.nats,
    leasedNats: leasedNats?.url ?? nowhere.leasedNats,
    credentials: await credentialsFile(),
    freePort: freePort(),
  }
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
  remove(dir)
})

const until = <T>(look: () => Promise<T | undefined> | T | undefined) =>
  waitUntil(String(look), look, 120_000)

/** A server of one row, with a few prices, and what its callers do. */
interface World {
  row: Configuration
  server: Server
  data: string
  config: string
  ask(method: string, path: string, body?: unknown): Promise<Response>
  asOperator(method: string, path: string, body?: unknown): Promise<Response>
}

const dayMs = 86_400_000
const daysBefore = (now: number, days: number) => new Date(now - days * dayMs).toISOString()

async function opened(row: Configuration, index: number): Promise<World> {
  const place = join(dir, `row-${index}`)
  const config = join(dir, `row-${index}.toml`)
  await Bun.write(config, fileOf(row))
  const command = row.command ?? 'serve'
  const server = await start(command, place, '--config', config)
  const sender =
    (authorization: string) =>
    (method: string, path: string, body?: unknown): Promise<Response> =>
      fetch(server.url + path, {
        method,
        headers: {
          authorization,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
      })
  const world = {
    row,
    server,
    data: join(place, 'data'),
    config,
    ask: sender(`Token ${server.apiKey}`),
    asOperator: sender(`Bearer ${server.adminToken}`),
  }
  if (command === 'serve')
    await until(async () => {
      const answer = await world.asOperator('POST', '/admin/v1/observations', {
        observations: ['WTI_USD', 'BRENT_CRUDE_USD'].flatMap(code =>
          Array.from({ length: 30 }, (_, day) => ({
            code,
            observed_at: daysBefore(Date.now(), day),
            price: 70 + (day % 7),
          })),
        ),
      })
      // A primary with a lease takes nothing before it has it.
      return answer.status === 503 && row.needsNats ? undefined : expectOk(answer)
    })
  return world
}

const expectOk = async (answer: Response): Promise<true> => {
  if (!answer.ok)
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: '' })
  return true
}

/** The operations that a query worker answers, as the OpenAPI document names them. */
async function heavyPaths({ server }: World): Promise<{ method: string; path: string }[]> {
  const document = (await (await server.get('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { responses?: Record<string, { description?: string }> }>>
  }
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { responses }]) =>
        responses?.['503']?.description?.includes('QUERY_WORKER_UNAVAILABLE'),
      )
      .map(([method]) => ({ method: method.toUpperCase(), path })),
  )
}

/** One operation of each heavy kind that has data with a few prices of crude oil. */
const withData: readonly [who: 'key' | 'operator', path: string][] = [
  ['key', '/v1/prices/historical?by_code=WTI_USD'],
  ['key', '/v1/prices/past_year?by_code=WTI_USD&interval=month'],
  ['key', '/v1/prices/chart?code=WTI_USD'],
  ['key', '/v1/prices/latest'],
  ['key', '/v1/export/prices?codes=WTI_USD'],
  ['key', '/v1/analytics/statistics?code=WTI_USD'],
  ['key', '/v1/analytics/correlation?code1=WTI_USD&code2=BRENT_CRUDE_USD'],
  ['key', '/v1/analytics/trend?code=WTI_USD'],
  ['key', '/v1/data-quality/reports/WTI_USD'],
  ['key', '/v1/data-quality/summary'],
  ['key', '/v1/market-brief'],
  ['operator', '/admin/v1/series'],
  ['operator', '/admin/v1/export'],
]

async function heavyWork(world: World): Promise<void> {
  const faults: string[] = []
  for (const [who, path] of withData) {
    const answer = await (who === 'key' ? world.ask : world.asOperator)('GET', path)
    const text = await answer.text()
    if (answer.status !== 200) faults.push(`${path}: ${answer.status} ${text.slice(0, 200)}`)
  }
  for (const { method, path } of await heavyPaths(world)) {
    const row = interfaceRows.find(each => each.method === method && each.path === path)
    if (!row?.sample) continue
    const answer = await (row.access === 'operator' ? world.asOperator : world.ask)(
      method,
      row.sample,
      row.body,
    )
    const text = await answer.text()
    // Most have no data here: their response without data is tested too.
    if (answer.status >= 500) faults.push(`${row.sample}: ${answer.status} ${text.slice(0, 200)}`)
  }
  expect(faults).toEqual([])
}

async function importing({ row, data, config }: World): Promise<void> {
  if (row.command === 'dev') return
  const file = join(dir, `${Bun.nanoseconds()}.csv`)
  await Bun.write(file, 'observed_at,price\n2026-01-20,2.5\n2026-01-21,2.6\n')
  const outcome = await run(
    'import',
    '--data',
    data,
    '--config',
    config,
    '--series',
    'NATURAL_GAS_USD',
    file,
  )
  expect({ code: outcome.code, err: outcome.err }).toEqual({ code: 0, err: outcome.err })
  expect(outcome.out + outcome.err).toContain('inserted 2')
}

async function webhookAndAlert({ row, ask, asOperator }: World): Promise<void> {
  const mine = `/hook/${encodeURIComponent(row.name)}`
  const created = await ask('POST', '/v1/webhooks', {
    url: surroundings.sink + mine,
    events: ['price_alert.triggered'],
  })
  // Its secret is then for people with a second factor alone.
  if (row.settings['sessions.second_factor'] === true) {
    expect({ status: created.status, text: await created.text() }).toEqual({
      status: 403,
      text: expect.stringContaining('"SECOND_FACTOR_MISSING"'),
    })
    return
  }
  await expectOk(created)
  await expectOk(
    await ask('POST', '/v1/alerts', {
      price_alert: {
        name: 'above',
        commodity_code: 'WTI_USD',
        condition_operator: 'greater_than',
        condition_value: 76.2,
      },
    }),
  )
  if (row.command === 'dev') return
  await expectOk(
    await asOperator('POST', '/admin/v1/observations', {
      observations: [{ code: 'WTI_USD', observed_at: new Date().toISOString(), price: 76.5 }],
    }),
  )
  await until(() => (posted.has(mine) ? true : undefined))
}

async function delivery({ row, ask }: World): Promise<void> {
  const made = await ask('POST', '/v1/scheduled-deliveries', {
    scheduled_delivery: {
      name: `delivery of ${row.name}`,
      commodity_codes: ['WTI_USD'],
      cadence: 'weekdays',
      delivery_time: '07:00',
      time_zone: 'UTC',
    },
  })
  await expectOk(made)
  const { data } = (await made.json()) as { data: { id: string } }
  const sent = await ask('POST', `/v1/scheduled-deliveries/${data.id}/send_now`)
  expect({ status: sent.status, text: await sent.text() }).toEqual({
    status: 202,
    text: expect.any(String),
  })
  if (row.sendsMail)
    await until(() => mail.accepted.find(({ raw }) => raw.includes(`delivery of ${row.name}`)))
}

async function signIn({ ask, asOperator, server }: World): Promise<string> {
  const accounts = (await (await asOperator('GET', '/admin/v1/accounts')).json()) as {
    data: { accounts: { id: string }[] }
  }
  const { id } = accounts.data.accounts[0]!
  const made = await asOperator('POST', `/admin/v1/accounts/${id}/link`)
  await expectOk(made)
  const { data } = (await made.json()) as { data: { sign_in_url: string } }
  const token = new URL(data.sign_in_url).searchParams.get('token')
  const session = await ask('POST', '/v1/auth/session', { link_token: token })
  await expectOk(session)
  const { data: signedIn } = (await session.json()) as { data: { token: string } }
  const own = await fetch(`${server.url}/v1/account`, {
    headers: { authorization: `Bearer ${signedIn.token}` },
  })
  await expectOk(own)
  return id
}

async function backup({ row, data, config }: World): Promise<void> {
  if (row.command === 'dev') return
  const isConfigured = Object.keys(row.settings).some(name => name.startsWith('backups.'))
  const target = isConfigured ? [] : [join(dir, `${Bun.nanoseconds()}.db`)]
  const outcome = await run('backup', '--data', data, '--config', config, ...target)
  expect({ code: outcome.code, err: outcome.err }).toEqual({ code: 0, err: outcome.err })
}

/** The console's main pages, and the requests of each when it is opened. */
const pages: readonly [page: string, asks: readonly string[]][] = [
  ['/', ['/v1/demo/prices', '/v1/prices/past_month?by_code=WTI_USD']],
  ['/board', ['/v1/prices/board/layout', '/v1/prices/board']],
  ['/series/WTI_USD', ['/v1/prices/chart?code=WTI_USD', '/v1/analytics/trend?code=WTI_USD']],
  ['/markets', ['/v1/commodities']],
  ['/alerts', ['/v1/alerts', '/v1/alerts/triggers', '/v1/notification_preferences']],
  ['/webhooks', ['/v1/webhooks']],
  ['/account', ['/v1/account', '/v1/usage', '/v1/api-keys', '/v1/analytics/performance']],
  ['/status', ['/v1/status', '/status.json']],
  [
    '/operator',
    [
      '/admin/v1/condition',
      '/admin/v1/feeds',
      '/admin/v1/outbox/held',
      '/admin/v1/quarantine',
      '/admin/v1/review',
      '/admin/v1/settings',
      '/admin/v1/backups',
      '/admin/v1/accounts',
      '/admin/v1/audit',
    ],
  ],
  ['/docs', ['/openapi.json']],
]

async function consolePages({ server, ask, asOperator }: World): Promise<void> {
  const faults: string[] = []
  for (const [page, asks] of pages) {
    const shown = await fetch(server.url + page, { headers: { accept: 'text/html' } })
    const html = await shown.text()
    if (shown.status !== 200 || !html.includes('<html')) faults.push(`${page}: ${shown.status}`)
    for (const path of asks) {
      const answer = await (path.startsWith('/admin') ? asOperator : ask)('GET', path)
      const text = await answer.text()
      if (!answer.ok) faults.push(`${page} asks ${path}: ${answer.status} ${text.slice(0, 200)}`)
    }
  }
  expect(faults).toEqual([])
}

/**
 * Every path to a series: to its account it is a series like any other, to other accounts unknown.
 */
const waysTo = (code: string, key: string): string[] => [
  `/v1/prices/latest?by_code=${code}`,
  `/v1/prices/past_week?by_code=${code}`,
  `/v1/prices/chart?code=${code}`,
  `/v1/export/prices?codes=${code}`,
  `/v1/changes?codes=${code}&since=start`,
  `/v1/delivery/${code}`,
  `/v1/delivery/${code}/days?start=${daysBefore(Date.now(), 1).slice(0, 10)}&end=${daysBefore(Date.now(), -1).slice(0, 10)}`,
  `/v1/delivery/${code}/cheapest?hours=3`,
  `/v1/delivery/${code}/evcc`,
  `/udf/symbols?symbol=${code}`,
  `/udf/history?symbol=${code}&resolution=1D&from=0&to=4000000000`,
  `/udf/key/${key}/history?symbol=${code}&resolution=1D&from=0&to=4000000000`,
  `/udf/key/${key}/quotes?symbols=${code}`,
]

/** Lists that have every series of their caller. */
const listsOf = (key: string): string[] => [
  '/v1/commodities',
  '/v1/prices/latest',
  '/v1/export/prices?codes=*',
  '/v1/changes?since=start&format=ndjson',
  '/udf/search?query=DESK',
  `/udf/key/${key}/search?query=DESK`,
]

const [ownCode, otherCode] = ['OWN_DESK_USD', 'OTHER_DESK_USD']
const ownPrice = '512.34'
const otherPrice = '487.65'

/**
 * The responses of an instance, or of its replica, to the account of the first code alone; `key` is
 * read-only.
 */
async function expectOwnOnly(ask: World['ask'], key: string): Promise<void> {
  const faults: string[] = []
  for (const path of waysTo(ownCode, key)) {
    const { status } = await ask('GET', path)
    if (status !== 200) faults.push(`${path}: ${status}`)
  }
  for (const path of waysTo(otherCode, key)) {
    const answer = await ask('GET', path)
    const text = await answer.text()
    // A chart requests many symbols at once, and gets an error for each unknown one.
    const isRefused = path.includes('/quotes') ? text.includes('"error"') : answer.status >= 400
    if (!isRefused || answer.status >= 500 || text.includes(otherPrice))
      faults.push(`${path}: ${answer.status} ${text.slice(0, 200)}`)
  }
  for (const path of listsOf(key)) {
    const text = await (await ask('GET', path)).text()
    if (!text.includes(ownCode)) faults.push(`${path} lacks ${ownCode}`)
    if (text.includes(otherCode) || text.includes(otherPrice))
      faults.push(`${path} has ${otherCode}`)
  }
  expect(faults).toEqual([])
}

/** Series of delivery periods, one for the account and one for another, on every path. */
async function restricted(world: World, account: string): Promise<string> {
  const { row, ask, asOperator } = world
  const mine = `/day-ahead/${encodeURIComponent(row.name)}`
  const events = ['price.day_ahead.published', 'price_alert.triggered']
  await expectOk(await ask('POST', '/v1/webhooks', { url: surroundings.sink + mine, events }))
  const today = Math.floor(Date.now() / dayMs) * dayMs
  for (const [code, owner, price] of [
    [otherCode, crypto.randomUUID(), otherPrice],
    [ownCode, account, ownPrice],
  ] as const) {
    await expectOk(
      await asOperator('POST', '/admin/v1/series', {
        code,
        name: code,
        category: 'power',
        unit: 'mwh',
        currency: 'USD',
        time: 'delivery',
        resolution: 'PT1H',
        zone: 'UTC',
        horizon: 'P3D',
        visible_to: [owner],
      }),
    )
    const alert = {
      name: 'tomorrow',
      commodity_code: code,
      condition_operator: 'greater_than',
      condition_value: 400,
      delivery_watch: 'base_tomorrow',
    }
    const made = await ask('POST', '/v1/alerts', { price_alert: alert })
    expect(made.status, code).toEqual(code === ownCode ? 201 : 422)
    // A day more than is read, for a run that goes past midnight.
    const observations = Array.from({ length: 96 }, (_, hour) => ({
      code,
      observed_at: new Date(today + (hour - 24) * (dayMs / 24)).toISOString(),
      price: Number(price),
    }))
    await expectOk(await asOperator('POST', '/admin/v1/observations', { observations }))
  }
  const made = await ask('POST', '/v1/api-keys', { name: 'chart', read_only: true })
  const { data } = (await made.json()) as { data: { api_key: { plain_token: string } } }
  const key = data.api_key.plain_token
  await expectOwnOnly(ask, key)
  for (const event of events)
    await until(() => posted.get(mine)?.some(body => body.includes(event)) || undefined)
  const said = posted.get(mine)!.join('')
  expect(said).toContain(ownCode)
  expect(said).not.toContain(otherCode)
  return key
}

/** The work of one row, all of it. */
async function works(row: Configuration, index: number): Promise<void> {
  const world = await opened(row, index)
  try {
    await heavyWork(world)
    await importing(world)
    await webhookAndAlert(world)
    await delivery(world)
    const account = await signIn(world)
    const readingKey = row.isRestricted ? await restricted(world, account) : ''
    await consolePages(world)
    await backup(world)
    const health = (await (await fetch(`${world.server.url}/health`)).json()) as object
    expect(health).toMatchObject({ status: 'ok' })
    if (row.settings['nats.servers'] && row.settings['nats.standby'] === undefined)
      await replicated(world, readingKey)
  } finally {
    expect(await world.server.stop()).toBe(0)
  }
}

/** A replica with the same file starts next to the primary and answers heavy requests. */
async function replicated({ row, server, config }: World, readingKey: string): Promise<void> {
  const ready = join(dir, `replica-${Bun.nanoseconds()}`)
  const child = Bun.spawn(
    [
      binary(),
      'serve',
      '--replica',
      '--config',
      config,
      '--data',
      join(dir, 'replica'),
      '--port',
      '0',
      '--ready-file',
      ready,
    ],
    {
      env: { PATH: process.env.PATH, WELLHEAD_REPLICA_PRIMARY: server.url },
      stdout: 'ignore',
      stderr: 'ignore',
    },
  )
  try {
    const url = await until(async () => {
      const file = Bun.file(ready)
      expect(child.exitCode).toBeNull()
      return (await file.exists()) ? ((await file.json()) as { url: string }).url : undefined
    })
    const headers = { authorization: `Token ${server.apiKey}` }
    for (const path of [
      '/v1/prices/past_month?by_code=WTI_USD',
      '/v1/analytics/statistics?code=WTI_USD',
    ])
      expect((await fetch(url + path, { headers })).status).toBe(200)
    if (row.isRestricted)
      await expectOwnOnly((method, path) => fetch(url + path, { method, headers }), readingKey)
  } finally {
    child.kill('SIGTERM')
    await child.exited
  }
}

describe('a server does every kind of work', () => {
  const rows = configurations(nowhere)
  const needOf = ({ needsNats, isSweep }: Configuration) =>
    needs(
      ...(needsNats ? (['nats-server'] as const) : []),
      ...(isSweep ? (['test:full'] as const) : []),
    )
  // Two at a time, as they come; each row's test waits for its own.
  const outcomes = new Map<string, Promise<unknown>>()
  const lanes = [Promise.resolve(), Promise.resolve()]
  const begin = () => {
    if (outcomes.size > 0) return
    configurations(surroundings).forEach((row, index) => {
      if (!needOf(row).isMet) return
      const work = lanes[index % 2]!.then(() => works(row, index))
      outcomes.set(
        row.name,
        work.then(
          () => undefined,
          error => error,
        ),
      )
      lanes[index % 2] = work.catch(() => undefined)
    })
  }
  for (const row of rows)
    needOf(row).test(
      `with ${row.name}`,
      async () => {
        begin()
        const error = await outcomes.get(row.name)
        if (error !== undefined) throw error
      },
      600_000,
    )
})

test('every configuration setting is covered by a row of the test matrix', () => {
  const covered = new Set<string>([
    ...everyRowSets,
    ...configurations(nowhere).flatMap(({ settings }) => Object.keys(settings)),
  ])
  expect(Object.keys(configKeys).filter(name => !covered.has(name))).toEqual([])
})

test('every row sets settings that there are', () => {
  const names = configurations(nowhere).flatMap(({ settings }) => Object.keys(settings))
  expect(names.filter(name => !Object.hasOwn(configKeys, name))).toEqual([])
})
