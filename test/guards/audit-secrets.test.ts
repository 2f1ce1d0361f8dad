import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import type { DemoInstance } from '../support/instance/demo-instance.ts'
import {
  isApart,
  openDemoInstance,
  prepare,
  type Step,
  stepsOf,
} from '../support/interface/examples.ts'

/** Names of fields that are always secret; `code` is one where a user is authenticated. */
const secretName = /password|passphrase|token|secret|api_?key|credential|private|pin$/i
const codeName = /^(code|otp|\w+ation_code|recovery_code)$/
const recognises = /verify|second-factor|\/auth\//
/** Secrets that responses show once, whatever the name of the field. */
const shown = /whsec_[\w+/=-]{16,}|[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}|[0-9a-f]{64}/g

let copy: DemoInstance
let steps: Step[]
/** Secrets that an operation takes alongside those of its example. */
const alsoTaken: Readonly<Record<string, object>> = {
  'POST /v1/data-sources': {
    data_source: {
      name: 'Terminal',
      source_type: 'api',
      credentials: { token: 'x' },
      scraper_config: { url: 'http://127.0.0.1:9/x' },
    },
  },
  'PATCH /v1/data-sources/{id}': { data_source: { credentials: { token: 'x' } } },
  'POST /v1/auth/session': { link_token: '0'.repeat(64) },
  'POST /v1/phone/verify': { code: '123456', verification_code: '123456' },
}
/** Every secret that was sent or shown, with the operation it was of. */
const secrets = new Map<string, string>()
/** Operation and field of the sent value. */
const sent = new Set<string>()

beforeAll(async () => {
  copy = openDemoInstance()
  const answer = await copy.ask('GET', '/openapi.json')
  steps = stepsOf((await answer.json()) as OpenApiDocument).filter(
    ({ method, path }) => method !== 'GET' && !path.startsWith('/_dev/'),
  )
  // Operations that end a key or an account come last.
  steps.sort((a, b) => Number(isApart(a)) - Number(isApart(b)))
}, 120_000)
afterAll(() => copy.remove())

/** A secret that is taken where the field's own example would be. */
function canaryFor(step: Step, field: string, example: string): string {
  const number = String(secrets.size).padStart(4, '0')
  const canary = /^[0-9a-f]{64}$/.test(example)
    ? `${number}ca7a`.repeat(8)
    : /^\d{4,8}$/.test(example)
      ? `9${number}73`
      : `${example.startsWith('whsec_') ? 'whsec_' : ''}canary${number}`.padEnd(40, 'x')
  secrets.set(canary, `${step.name} ${field}`)
  sent.add(`${step.name} ${field}`)
  return canary
}

/** A body in which every secret has a different value. */
function withCanaries(step: Step, value: unknown, field = '', isSecret = false): unknown {
  if (typeof value === 'string') return isSecret ? canaryFor(step, field, value) : value
  if (Array.isArray(value)) return value.map(item => withCanaries(step, item, field, isSecret))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      withCanaries(
        step,
        inner,
        field === '' ? name : `${field}.${name}`,
        isSecret ||
          secretName.test(name) ||
          (codeName.test(name) && recognises.test(step.path) && typeof inner === 'string'),
      ),
    ]),
  )
}

test('an operation leaves no secret that it receives or returns in the audit trail', async () => {
  const { audit, db } = copy.running.services
  let told = 0
  for (const step of steps) {
    const own = await prepare(copy, step).catch(() => ({}) as Awaited<ReturnType<typeof prepare>>)
    const [media, content] = Object.entries(step.operation.requestBody?.content ?? {})[0] ?? []
    const isOperator = step.path.startsWith('/admin/')
    const headers: Record<string, string> = isOperator
      ? { authorization: `Bearer ${copy.running.services.adminTokens.rotate()}` }
      : {}
    if (media && media !== 'application/json') headers['content-type'] = media
    let path = step.path
    for (const { name, in: place, example } of step.operation.parameters ?? []) {
      const text = String(example)
      if (place === 'path')
        path = path.replace(
          `{${name}}`,
          secretName.test(name) ? canaryFor(step, name, text) : encodeURIComponent(text),
        )
      if (place === 'header' && example !== undefined)
        headers[name.toLowerCase()] = secretName.test(name) ? canaryFor(step, name, text) : text
    }
    const before = audit.list({}, 1, 0).at(0)?.id ?? 0
    // As it is documented, so that it is let in and done; and with secrets that are none of ours.
    const bodies = [own.body ?? content?.example, withCanaries(step, content?.example)]
    const more = alsoTaken[step.name]
    for (const body of more ? [...bodies, withCanaries(step, more)] : bodies) {
      const query = new URLSearchParams({ token: canaryFor(step, '?token', 'x') })
      const answer = await copy.ask(step.method, `${own.path ?? path}?${query}`, {
        key: isOperator ? null : copy.apiKey,
        ...own,
        body,
        headers: { ...headers, ...own.headers },
      })
      if (answer.headers.get('content-type')?.includes('event-stream')) {
        await answer.body?.cancel()
        continue
      }
      // Examples in the document are public, and the hash of a file is not a secret.
      for (const [secret] of (await answer.text()).matchAll(shown))
        if (!JSON.stringify(content?.example ?? '').includes(secret) && !/batches/.test(path))
          secrets.set(secret, `${step.name} shows`)
    }
    told += (audit.list({}, 1, 0).at(0)?.id ?? 0) - before
  }
  secrets.set(copy.apiKey, 'key of the copy')
  // The request bodies were valid: they include accounts, sources, endpoints, phones and two-factor
  // codes.
  for (const field of [
    'POST /v1/auth/session password',
    'POST /v1/auth/session link_token',
    'POST /admin/v1/accounts/{id}/password password',
    'POST /v1/data-sources data_source.credentials.token',
    'POST /v1/webhooks secret',
    'POST /v1/phone/verify code',
  ])
    expect(sent.has(field), field).toBe(true)
  const inAnswers = [...secrets.values()].filter(of => of.endsWith(' shows'))
  expect(told).toBeGreaterThan(100)
  expect(inAnswers.length).toBeGreaterThan(10)

  const rows = JSON.stringify(db.query('SELECT * FROM audit_entries').all())
  const authorization = `Bearer ${copy.running.services.adminTokens.rotate()}`
  const pages: string[] = []
  for (let page = 1; page <= Math.ceil(told / 100) + 1; page += 1) {
    const answer = await copy.ask('GET', `/admin/v1/audit?page=${page}&per_page=100`, {
      key: null,
      headers: { authorization },
    })
    expect(answer.status).toBe(200)
    pages.push(await answer.text())
  }
  expect(pages[0]).toContain('"action"')
  const leaks = [...secrets].filter(
    ([secret]) => rows.includes(secret) || pages.some(text => text.includes(secret)),
  )
  expect(leaks.map(([, of]) => of)).toEqual([])
}, 240_000)
