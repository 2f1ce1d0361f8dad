import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sealContext as letterContext } from '../../src/topics/messages/service/mail.ts'
import { sealContext as textContext } from '../../src/topics/messages/service/sms.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { boundless, rows, sampleId } from '../support/interface/every-route.ts'

const password = 'canary-password-kept-by-nobody'
const credential = 'canary-credential-of-a-source'
const named = 'canary-name-that-is-no-secret'
/**
 * Made on purpose at each start of a demo instance, readable by its user only, and never in
 * production.
 */
const keptOnPurpose = ['evaluation-keys.json', 'master.key']

let copy: DemoInstance
const log: string[] = []
/** Every secret that was made, by what it is. */
const secrets = new Map<string, string>()
/** Responses without the one secret that each request is for. */
const answers: { of: string; text: string }[] = []

beforeAll(() => {
  copy = demoInstance(undefined, boundless, {
    log: line => void log.push(line),
  })
}, 120_000)
afterAll(() => copy.remove())

type Options = Parameters<DemoInstance['ask']>[2]

async function textOf(method: string, path: string, options: Options = {}): Promise<string> {
  const response = await copy.ask(method, path, options)
  if (response.headers.get('content-type')?.includes('event-stream')) {
    await response.body?.cancel()
    return ''
  }
  return `${JSON.stringify([...response.headers])}\n${await response.text()}`
}

async function notify(method: string, path: string, options: Options = {}): Promise<void> {
  answers.push({
    of: `${method} ${path.replace(/[0-9a-f]{64}/g, '<token>')}`,
    text: await textOf(method, path, options),
  })
}

/**
 * Sends a request that returns a new secret. A pattern finds the secret in the response, which must
 * contain it and no other.
 */
async function create(
  label: string,
  pattern: RegExp,
  method: string,
  path: string,
  options: Options = {},
): Promise<string> {
  const text = await textOf(method, path, options)
  const secret = pattern.exec(text)?.[1] ?? ''
  expect(secret, `${label}: ${text.slice(0, 600)}`).not.toBe('')
  secrets.set(label, secret)
  answers.push({ of: `${method} ${path}, which shows ${label}`, text: text.replaceAll(secret, '') })
  return secret
}

const operator = (): Options => ({
  key: null,
  headers: { authorization: `Bearer ${secrets.get('admin token')}` },
})

/** The text of messages that wait to be sent, opened with the master key as their sender does. */
function posted(type: 'email' | 'sms'): string[] {
  const { db, vault } = copy.running.services
  const context = type === 'email' ? letterContext : textContext
  const waiting = db
    .query<{ eventId: string; body: string }, [string]>(
      'SELECT event_id AS eventId, body FROM outbox JOIN outbox_bodies b ON b.id = body_id JOIN outbox_lanes l ON l.id = lane_id WHERE l.kind = ? ORDER BY number',
    )
    .all(type)
  return waiting.map(({ eventId, body }) => {
    const { sealed } = JSON.parse(body) as { sealed?: string }
    return sealed === undefined ? body : vault.open(context(eventId), Buffer.from(sealed, 'base64'))
  })
}

function mailed(label: string, type: 'email' | 'sms', pattern: RegExp): void {
  const secret = pattern.exec(posted(type).at(-1) ?? '')?.[0]
  expect(secret, label).toBeDefined()
  secrets.set(label, secret!)
}

const token = /token":"([0-9a-f]{64})"/
const signing = /"(whsec_[^"]+)"/
const hexToken = /[0-9a-f]{64}/
const hook = { url: 'http://127.0.0.1:9/hook', events: ['price.updated'] }

test('every kind of secret is shown by the answer that makes it', async () => {
  secrets.set('evaluation key', copy.apiKey)
  secrets.set('admin token', copy.adminToken)
  const once = { 'idempotency-key': 'canary' }
  const account = sampleId(1)
  await create('API key', token, 'POST', '/v1/api-keys', { body: { name: named }, headers: once })
  await create('rolled API key', token, 'POST', `/v1/api-keys/${sampleId(103)}/roll`, {
    body: {},
    headers: once,
  })
  await create("operator's new key", token, 'POST', `/admin/v1/accounts/${account}/keys`, {
    ...operator(),
    body: {},
  })
  await create('webhook secret', signing, 'POST', '/v1/webhooks', { body: hook, headers: once })
  const chosen = `whsec_${'ca7a'.repeat(12)}`
  secrets.set('chosen webhook secret', chosen)
  answers.push({
    of: 'POST /v1/webhooks',
    text: (await textOf('POST', '/v1/webhooks', { body: { ...hook, secret: chosen } })).replaceAll(
      chosen,
      '',
    ),
  })
  await create(
    'rotated webhook secret',
    signing,
    'POST',
    `/v1/webhooks/${sampleId(401)}/rotate_secret`,
    { body: {} },
  )
  await create('first account secret', signing, 'GET', '/v1/account/webhook-secret')
  await create('account secret', signing, 'POST', '/v1/account/webhook-secret/roll', { body: {} })
  const link = await create(
    'sign-in link',
    /token=([0-9a-f]{64})/,
    'POST',
    `/admin/v1/accounts/${account}/link`,
    { ...operator(), body: {} },
  )
  const session = await create(
    'session',
    /"token":"([^"]+\.[^"]+\.[^"]+)"/,
    'POST',
    '/v1/auth/session',
    {
      key: null,
      body: { link_token: link },
    },
  )
  const bearer = { key: null, headers: { authorization: `Bearer ${session}` } }
  await create(
    'refreshed session',
    /"token":"([^"]+\.[^"]+\.[^"]+)"/,
    'POST',
    '/v1/auth/session/refresh',
    { ...bearer, body: {} },
  )
  secrets.set('password', password)
  await notify('POST', `/admin/v1/accounts/${account}/password`, {
    ...operator(),
    body: { password },
  })
  const person = { email: 'eval@example.com', password }
  await create(
    'session of a password',
    /"token":"([^"]+\.[^"]+\.[^"]+)"/,
    'POST',
    '/v1/auth/session',
    { key: null, body: person },
  )
  await notify('POST', '/v1/auth/session', {
    key: null,
    body: { ...person, password: `${password}!` },
  })
})

test('secrets that are sent by e-mail or text message are created and never returned by the API', async () => {
  await notify('POST', '/v1/auth/link', { key: null, body: { email: 'eval@example.com' } })
  await copy.running.services.signIn.settled()
  mailed('mailed link', 'email', hexToken)
  await notify('POST', '/organizations/invitations', {
    body: { email: 'guest@example.com', role: 'member' },
  })
  mailed('invitation', 'email', hexToken)
  await notify('POST', '/v1/phone', { body: { phone_number: '+15550100009', country_code: 'US' } })
  mailed('verification code', 'sms', /\d{6}/)
})

test('credentials that others gave us are taken', async () => {
  secrets.set('credential', credential)
  secrets.set('pushed secret', `${credential}-pushed`)
  const source = {
    name: 'Terminal',
    source_type: 'api',
    credentials: { token: credential },
    scraper_config: { url: 'http://127.0.0.1:9/x' },
  }
  await notify('POST', '/v1/data-sources', {
    body: { data_source: source },
    headers: { 'idempotency-key': 'canary' },
  })
  const credentials = { secret: `${credential}-pushed` }
  await notify('POST', `/v1/data-sources/${sampleId(802)}/rotate_credentials`, {
    body: { credentials },
  })
  expect(answers.slice(-2).map(({ text }) => /"(?:credential_)?id":"[^"]+"/.test(text))).toEqual([
    true,
    true,
  ])
})

test('no other answer shows any of them, also where one is sent where it does not belong', async () => {
  const key = secrets.get('API key')!
  for (const row of rows.filter(
    row => row.method === 'GET' && row.sample && row.path !== '/v1/account/webhook-secret',
  )) {
    await notify('GET', row.sample!, row.access === 'operator' ? operator() : {})
  }
  for (const path of [
    `/v1/commodities/${key}`,
    `/v1/prices/latest?by_code=${key}`,
    `/v1/prices/latest?interval=${key}`,
    `/v1/alerts/${key}`,
    `/${key}`,
  ]) {
    await notify('GET', path)
  }
  await notify('GET', `/v1/prices/past_day?by_code=WTI_USD&per_page=1&api_key=${key}`, {
    key: null,
  })
  await notify('POST', '/v1/alerts', { body: { price_alert: { name: key, commodity_code: key } } })
  await create('rotated admin token', /"([0-9a-f]{64})"/, 'POST', '/admin/v1/token/rotate', {
    ...operator(),
    body: {},
  })
  for (const { of, text } of answers) expect(showing(Buffer.from(text)), of).toEqual([])
}, 60_000)

/** The secrets in a sequence of bytes, as text or, where they are hexadecimal, as raw bytes. */
function showing(bytes: Buffer): string[] {
  return [...secrets]
    .filter(([label, secret]) => {
      if (label === 'verification code')
        return new RegExp(`(?<![0-9a-f])${secret}(?![0-9a-f])`).test(bytes.toString('latin1'))
      const digits = secret.replace('whsec_', '')
      const raw = /^(?:[0-9a-f]{2}){16,}$/.test(digits) ? Buffer.from(digits, 'hex') : undefined
      return (
        bytes.includes(secret) ||
        bytes.includes(digits) ||
        (raw !== undefined && bytes.includes(raw))
      )
    })
    .map(([label]) => label)
}

test('no file of the data directory holds any of them, neither before nor after a checkpoint', () => {
  const { db } = copy.running.services
  const atRest = () => readdirSync(copy.dir).filter(name => !keptOnPurpose.includes(name))
  const leaks = () =>
    atRest().flatMap(name =>
      showing(readFileSync(join(copy.dir, name))).map(label => `${label} in ${name}`),
    )
  expect(atRest().some(name => name.endsWith('-wal'))).toBe(true)
  expect(atRest().some(name => readFileSync(join(copy.dir, name)).includes(named))).toBe(true)
  expect(leaks()).toEqual([])
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(leaks()).toEqual([])
})

test('no line of the log holds any of them, also when a request fails on the way', async () => {
  const { db } = copy.running.services
  db.run('ALTER TABLE alerts RENAME TO gone')
  const key = secrets.get('API key')!
  const failed = await copy.ask('GET', `/v1/alerts?api_key=${key}`, { key: null })
  await copy.ask('POST', '/v1/alerts', {
    body: rows.find(row => row.method === 'POST' && row.path === '/v1/alerts')!.body,
  })
  expect({ status: failed.status, showing: showing(Buffer.from(await failed.text())) }).toEqual({
    status: 500,
    showing: [],
  })
  expect(log.some(line => line.includes('request failed'))).toBe(true)
  for (const line of log) expect(showing(Buffer.from(line)), line).toEqual([])
})
