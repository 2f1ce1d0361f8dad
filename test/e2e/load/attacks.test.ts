import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { appendFileSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import {
  binary,
  remove,
  run,
  type Server,
  start,
  temporaryDir,
} from '../../support/instance/binary.ts'
import { type SmtpServer, smtpServer } from '../../support/servers/smtp-server.ts'
import { until as waitUntil } from '../../support/until.ts'

// Attacks that succeeded once, run against the shipped program.
const dir = temporaryDir()
const data = join(dir, 'data')
let [server, mail]: [Server, SmtpServer] = [undefined!, undefined!]
const hanging = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch: () => new Promise<Response>(() => {}),
})
let told = 0
const prompt = Bun.serve({
  port: 0,
  hostname: '127.0.0.2',
  fetch() {
    told += 1
    return new Response('')
  },
})

beforeAll(async () => {
  mail = await smtpServer()
  const config = join(dir, 'wellhead.toml')
  writeFileSync(
    config,
    `egress.allow = ["127.0.0.0/8"]
plans = "unlimited"
[server]
base_url = "https://prices.example.com"
[mail]
provider = "smtp"
smtp_url = "${mail.url}"
letters_to_stranger_per_day = 2
strangers_per_day = 2
`,
  )
  server = await start('serve', dir, '--config', config)
}, 120_000)
afterAll(async () => {
  await server.stop()
  mail.close()
  await Promise.all([hanging.stop(true), prompt.stop(true)])
  remove(dir)
  // The stop waits for messages under way to endpoints that hang.
}, 60_000)

interface Answer<T> {
  status: number
  code: string | null
  body: T
}
/** With the account's key, or with the given headers. */
async function ask<T = Record<string, unknown>>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Token ${server.apiKey}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    code: response.headers.get('x-error-code'),
    body: (text.startsWith('{') ? JSON.parse(text) : text) as T,
  }
}
const operator = () => ({ authorization: `Bearer ${server.adminToken}` })
let minutes = 0
/** A price that no request has received yet. */
const observe = () => {
  minutes += 1
  const at = new Date(Date.now() - 86_400_000 + minutes * 60_000).toISOString()
  return ask(
    'POST',
    '/admin/v1/observations',
    { observations: [{ code: 'WTI_USD', observed_at: at, price: 70 + minutes / 100 }] },
    operator(),
  )
}
/** Waits until a value is as it should be, and returns it. */
async function until<T>(look: () => Promise<T> | T, isSo: (value: T) => boolean): Promise<T> {
  let value: T | undefined
  const isNow = async () => {
    value = await look()
    return isSo(value)
  }
  await waitUntil(String(isSo), isNow, 45_000, () => JSON.stringify(value))
  return value as T
}
interface Status {
  data: { status: string; components: { name: string; status: string; message: string | null }[] }
}
test('a body nested a hundred thousand levels deep is refused at once by every route that reads bodies', async () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  for (const path of ['/v1/alerts', '/v1/prices/batch', '/mcp', '/admin/v1/observations']) {
    const authorization = path.startsWith('/admin')
      ? `Bearer ${server.adminToken}`
      : `Token ${server.apiKey}`
    const headers = {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const answer = await fetch(server.url + path, { method: 'POST', headers, body: deep })
    expect(`${path} ${answer.status} ${answer.headers.get('x-error-code')}`).toBe(
      `${path} 400 MALFORMED_JSON`,
    )
    expect(await answer.text()).toContain('nested at most 64 levels deep')
  }
})

const webhooks = async () =>
  (await ask<Status>('GET', '/v1/status')).body.data.components.find(
    ({ name }) => name === 'webhooks',
  )!

test('hanging endpoints of one account delay no e-mails or events of others, and the status stays accurate', async () => {
  const account = (
    await ask<{ data: { api_key: { plain_token: string } } }>(
      'POST',
      '/admin/v1/accounts',
      { email: 'noisy@example.com', plan: 'enterprise' },
      operator(),
    )
  ).body.data
  const noisy = { authorization: `Token ${account.api_key.plain_token}` }
  for (let n = 0; n < 40; n += 1)
    expect(
      (
        await ask(
          'POST',
          '/v1/webhooks',
          { url: `http://127.0.0.1:${hanging.port}/${n}`, events: ['price.updated'] },
          noisy,
        )
      ).status,
    ).toBe(201)
  expect(
    (
      await ask('POST', '/v1/webhooks', {
        url: `http://127.0.0.2:${prompt.port}/`,
        events: ['price.updated'],
      })
    ).status,
  ).toBe(201)
  for (let n = 0; n < 3; n += 1) expect((await observe()).status).toBeLessThan(300)
  await until(
    () => hanging.pendingRequests,
    count => count > 0,
  )
  expect((await observe()).status).toBeLessThan(300)
  await until(
    () => told,
    count => count === 4,
  )
  await ask('POST', '/v1/auth/link', { email: 'noisy@example.com' })
  await until(
    () => mail.accepted.map(({ to }) => to[0]),
    to => to.includes('noisy@example.com'),
  )
  // Some of them still hang: only their own messages wait, and no other account is delayed.
  expect(hanging.pendingRequests).toBeGreaterThan(0)
  const { body } = await ask<{ data: { outbox: { pending: number } } }>('GET', '/v1/status')
  expect(body.data.outbox.pending).toBeGreaterThan(0)
  expect(await webhooks()).toMatchObject({ status: 'operational', message: null })
}, 120_000)

test('a limited key frees itself by nothing', async () => {
  const made = await ask<{ data: { api_key: { id: string; plain_token: string } } }>(
    'POST',
    '/v1/api-keys',
    { name: 'limited', expires_at: new Date(Date.now() + 3_600_000).toISOString() },
  )
  expect(made.status).toBeLessThan(300)
  const { id, plain_token: token } = made.body.data.api_key
  const limited = { authorization: `Token ${token}` }
  const { body } = await ask<{ data: { api_keys: { id: string }[] } }>('GET', '/v1/api-keys')
  const first = body.data.api_keys.find(key => key.id !== id)!
  const hook = await ask<{ data: { id: string } }>('POST', '/v1/webhooks', {
    url: `http://127.0.0.2:${prompt.port}/second`,
    events: ['alert.triggered'],
  })
  expect(hook.status).toBe(201)
  for (const [method, path, body] of [
    ['PATCH', `/v1/api-keys/${id}`, { expires_at: null }],
    ['POST', '/v1/api-keys', {}],
    ['POST', `/v1/api-keys/${first.id}/roll`, {}],
    ['POST', '/v1/auth/second-factor', {}],
    ['POST', '/v1/account/webhook-secret/roll', {}],
    ['GET', '/v1/account/webhook-secret', undefined],
  ] as const) {
    const answer = await ask(method, path, body, limited)
    expect({ path, status: answer.status, code: answer.code }).toEqual({
      path,
      status: 403,
      code: 'KEY_LIMITED',
    })
  }
}, 60_000)

test('an account sends its own text to no unverified recipient and stays within its daily limit', async () => {
  const before = mail.accepted.length
  const statuses: number[] = []
  for (const to of ['one', 'two', 'three', 'four'])
    statuses.push(
      (
        await ask('POST', '/v1/scheduled-deliveries', {
          commodity_codes: ['WTI_USD'],
          recipient_email: `${to}@elsewhere.example`,
          name: 'BUY NOW http://evil.example',
        })
      ).status,
    )
  expect(statuses).toEqual([201, 201, 201, 201])
  await until(
    () => mail.accepted.slice(before),
    mailMessages => mailMessages.length >= 2,
  )
  // E-mails beyond the limit would have arrived before the one to the account itself.
  await ask('POST', '/v1/auth/link', { email: 'operator@localhost' })
  const mailMessages = (
    await until(
      () => mail.accepted.slice(before),
      all => all.some(({ to }) => to[0] === 'operator@localhost'),
    )
  ).filter(({ to }) => to[0]!.endsWith('@elsewhere.example'))
  expect(mailMessages).toHaveLength(2)
  for (const { raw } of mailMessages) expect(raw).not.toContain('evil.example')
}, 60_000)

test('ambiguous and empty Hosts are refused with the error as JSON', async () => {
  const { port } = new URL(server.url)
  const raw = (host: string, path: string) =>
    new Promise<string>((done, fail) => {
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write(`GET ${path} HTTP/1.1\r\nHost:${host}\r\nConnection: close\r\n\r\n`),
      )
      let text = ''
      socket.on('data', chunk => {
        text += chunk
      })
      socket.on('end', () => done(text))
      socket.on('error', fail)
    })
  for (const [host, path] of [
    [' a:b:c', '/v1/prices/latest'],
    ['', '/health'],
    [' a:b:c', '/health'],
    [' xn--', '/health'],
    [' 1.2.3.4.5', '/v1/prices/latest'],
    [' 256.256.256.256', '/'],
  ] as const) {
    const answer = await raw(host, path)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('application/json')
    expect(answer).toContain('"error"')
  }
})

test('twenty tabs that refresh one session at the same time all stay signed in', async () => {
  interface Signed {
    data: { token: string }
  }
  const accounts = await ask<{ data: { accounts: { id: string }[] } }>(
    'GET',
    '/admin/v1/accounts',
    undefined,
    operator(),
  )
  const link = await ask<{ data: { sign_in_url: string } }>(
    'POST',
    `/admin/v1/accounts/${accounts.body.data.accounts[0]!.id}/link`,
    {},
    operator(),
  )
  const link_token = new URL(link.body.data.sign_in_url).searchParams.get('token')
  const signedIn = await ask<Signed>('POST', '/v1/auth/session', { link_token })
  const as = (token: string) => ({ authorization: `Bearer ${token}` })
  const old = signedIn.body.data.token
  const refreshed = await Promise.all(
    Array.from({ length: 20 }, () =>
      ask<Signed>('POST', '/v1/auth/session/refresh', undefined, as(old)),
    ),
  )
  expect(refreshed.map(({ status }) => status)).toEqual(refreshed.map(() => 200))
  for (const { body } of refreshed)
    expect((await ask('GET', '/v1/account', undefined, as(body.data.token))).status).toBe(200)
  expect((await ask('GET', '/v1/account', undefined, as(old))).status).toBe(200)
})

test('every response has the nosniff header, and HSTS when it is served over HTTPS', async () => {
  for (const path of [
    '/health',
    '/v1/prices/latest',
    '/nowhere',
    '/',
    '/openapi.json',
    '/metrics',
  ]) {
    const { headers } = await fetch(server.url + path)
    expect({ path, contentTypeOptions: headers.get('x-content-type-options') }).toEqual({
      path,
      contentTypeOptions: 'nosniff',
    })
    expect({ path, strictTransportSecurity: headers.get('strict-transport-security') }).toEqual({
      path,
      strictTransportSecurity: expect.stringContaining('max-age='),
    })
  }
})

test('a POST that was repeated makes one thing', async () => {
  const headers = { ...operator(), 'idempotency-key': 'one' }
  const make = () =>
    ask<{ data: { id: string } }>(
      'POST',
      '/admin/v1/accounts',
      { email: 'once@example.com' },
      headers,
    )
  const [first, second] = [await make(), await make()]
  expect({ first: first.status, second: second.status }).toEqual({ first: 201, second: 201 })
  expect(second.body.data.id).toBe(first.body.data.id)
})

test('a deleted lock file lets no second server write', async () => {
  rmSync(join(data, 'lock'))
  const second = Bun.spawn([binary(), 'serve', '--data', data, '--port', '0'], {
    env: { PATH: process.env.PATH },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  expect(await second.exited).toBe(75)
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
}, 60_000)

describe('verify and restore', () => {
  test('take no empty file, no foreign database and no half of a backup', async () => {
    const backup = join(dir, 'backup.db')
    expect((await run('backup', '--data', data, backup)).code).toBe(0)
    const empty = join(dir, 'empty.db')
    writeFileSync(empty, '')
    const foreign = join(dir, 'foreign.db')
    const other = new Database(foreign)
    other.run('CREATE TABLE accounts (id)')
    other.close()
    const half = join(dir, 'half.db')
    const whole = await Bun.file(backup).bytes()
    appendFileSync(half, whole.subarray(0, Math.floor(whole.length / 2)))
    const fresh = join(dir, 'restored')
    for (const path of [empty, foreign, half]) {
      expect([path, (await run('verify', path)).code]).not.toEqual([path, 0])
      expect([path, (await run('restore', '--create', '--data', fresh, path)).code]).not.toEqual([
        path,
        0,
      ])
    }
    expect((await run('verify', backup)).code).toBe(0)
    // Its webhooks' secrets are sealed: without the key it would be refused.
    mkdirSync(fresh, { recursive: true })
    copyFileSync(join(data, 'master.key'), join(fresh, 'master.key'))
    expect((await run('restore', '--data', fresh, backup)).code).toBe(0)
  }, 60_000)
})
