import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import type { InternalRoute } from 'elysia'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import { type Entitlements, tierOf } from '../../src/plans/plans.ts'
import { type Feature, planIds } from '../../src/plans/tiers.ts'
import type { AccountState } from '../../src/topics/keys/service/keyring.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { openTestInstance } from '../support/instance/instance.ts'
import { undocumentedFields } from '../support/interface/documented-fields.ts'
import { type Row, interfaceRows as rows } from '../support/interface/interface.ts'

const named = (row: Row) => `${row.method} ${row.path}`
const plainHouse = openTestInstance({
  'limits.per_minute': '100000',
  'limits.unauthenticated_per_minute': '100000',
  'demo.limit_per_hour': '100000',
})
/** A slash at the end makes no other path. */
const parameterless = (path: string) => path.replace(/\{\w+\}/g, '{}').replace(/(.)\/$/, '$1')

let copy: DemoInstance
let document: OpenApiDocument
const schemas = new Ajv({ strict: false, allErrors: true })
addFormats(schemas)

beforeAll(async () => {
  copy = demoInstance(undefined, {
    'limits.unauthenticated_per_minute': '100000',
    'demo.limit_per_hour': '100000',
  })
  document = (await (
    await copy.ask('GET', '/openapi.json', { key: null })
  ).json()) as OpenApiDocument
  schemas.addSchema({ ...document, $id: 'document' })
}, 120_000)
afterAll(() => copy.remove())

test('the list has every documented route and no other', () => {
  const routes = (plainHouse.app.routes as InternalRoute[])
    .filter(route => ['GET', 'POST', 'PATCH', 'DELETE'].includes(route.method))
    .filter(route => (route.hooks as { detail?: { hide?: boolean } }).detail?.hide !== true)
    .map(route => `${route.method} ${parameterless(route.path.replace(/:(\w+)/g, '{$1}'))}`)
    // Other names of paths, whose operations are those of the path.
    .filter(route => !/ \/(v1\/(dark_data\/|demo\/prices\/latest$)|grafana\/metrics$)/.test(route))
  expect(routes.sort()).toEqual(rows.map(row => `${row.method} ${parameterless(row.path)}`).sort())
})

/** The path of the document for a row, whatever its parameters are called there. */
const documentedPath = (row: Row) =>
  Object.keys(document.paths).find(path => parameterless(path) === parameterless(row.path))!

describe('on a demo instance', () => {
  for (const row of rows.filter(route => route.sample !== null)) {
    test(`${named(row)} answers ${row.success} with a body that its schema describes`, async () => {
      const key =
        row.access === 'operator' ? copy.adminToken : row.access === 'keyless' ? null : copy.apiKey
      const headers =
        row.access === 'operator' ? { authorization: `Bearer ${copy.adminToken}` } : undefined
      const before = used()
      const response = await copy.ask(row.method, row.sample!, {
        key,
        ...(row.body !== undefined && { body: row.body }),
        ...(headers && { headers }),
      })
      const text = await response.text()
      expect(response.status, text.slice(0, 500)).toBe(row.success)
      const media =
        document.paths[documentedPath(row)]![row.method.toLowerCase()]!.responses[
          String(row.success)
        ]?.content?.['application/json']
      if (media && response.headers.get('content-type')?.includes('json')) {
        const at = `document#/paths/${pointer(documentedPath(row))}/${row.method.toLowerCase()}/responses/${row.success}/content/application~1json/schema`
        const fits = schemas.getSchema(at) ?? schemas.compile({ $ref: at })
        expect(fits(JSON.parse(text)) || fits.errors?.slice(0, 5)).toBe(true)
        expect(undocumentedFields(document, media.schema, JSON.parse(text))).toEqual([])
      }
      expect(used() - before, 'requests counted').toBe(row.metered ? 1 : 0)
    })
  }
})

/** The requests that the quota of the calling key has counted. */
function used(): number {
  const { keys, meter } = copy.running.services
  return meter.quotaUsage(keys.find(copy.apiKey)!).used
}
const pointer = (path: string) =>
  encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))

describe('without the right to it', () => {
  const sampleOf = (row: Row) => row.sample ?? row.path.replace(/\{\w+\}/g, '1')
  /** The spreadsheet's XML cannot be refused by status: its body has the error. */
  const refusedInBody = (row: Row) => row.path.endsWith('.xml')

  for (const row of rows.filter(route => route.access !== 'keyless')) {
    test(`${named(row)} refuses a caller without a key, with a malformed or with an unknown one, and reveals nothing`, async () => {
      for (const key of [null, 'nonsense', 'f'.repeat(64)]) {
        const response = await copy.ask(row.method, sampleOf(row), {
          key,
          ...(row.body !== undefined && { body: row.body }),
        })
        const text = await response.text()
        if (refusedInBody(row)) expect(text).toContain('auth_failed')
        else expect(response.status, text.slice(0, 300)).toBe(401)
        expect(text).not.toContain(copy.apiKey)
      }
    })
  }
  for (const row of rows.filter(route => route.access === 'key-header-only')) {
    test(`${named(row)} does not take the key in the address`, async () => {
      const joined = `${sampleOf(row)}${sampleOf(row).includes('?') ? '&' : '?'}api_key=${copy.apiKey}`
      const response = await copy.ask(row.method, joined, {
        key: null,
        ...(row.body !== undefined && { body: row.body }),
      })
      expect(response.status).toBe(401)
    })
  }
  for (const row of rows.filter(
    route => route.access === 'key' && route.method === 'GET' && route.sample,
  )) {
    test(`${named(row)} takes the key in the address`, async () => {
      const joined = `${row.sample}${row.sample!.includes('?') ? '&' : '?'}api_key=${copy.apiKey}`
      const response = await copy.ask('GET', joined, { key: null })
      expect(response.status).toBe(row.success)
      expect(response.headers.get('link') ?? '').not.toContain(copy.apiKey)
    })
  }
  /** Where the path is open to several features and the sample's body needs one of them. */
  const askedByBody: Readonly<Record<string, string>> = { 'POST /v1/alerts': 'standard_alerts' }

  /** Nightly files are not in the slice that every plan has of exports. */
  const includes = ({ path }: Row, { features, tier }: Entitlements, feature: Feature) =>
    features.has(feature) &&
    !(
      path.startsWith('/v1/files') &&
      tierOf(copy.running.services.plans, tier).access[feature] === 'allowance'
    )

  for (const row of rows.filter(route => route.feature !== null)) {
    test(`${named(row)} is for the plans that have ${row.feature}, and for no other`, async () => {
      const wanted = (askedByBody[named(row)] ?? row.feature!).split(',')
      for (const plan of [...planIds, 'trial']) {
        const { entitled, token } = accountOn(plan)
        const response = await copy.ask(row.method, sampleOf(row), {
          key: token,
          ...(row.body !== undefined && { body: row.body }),
        })
        if (wanted.some(feature => includes(row, entitled, feature as Feature))) {
          expect(response.status, plan).not.toBe(403)
          // A stream would not end by itself.
          await response.body?.cancel()
        } else {
          const body = await response.text()
          expect(response.status, `${plan}: ${body.slice(0, 300)}`).toBe(403)
          expect(
            wanted.some(feature => body.includes(feature)),
            body,
          ).toBe(true)
          expect(body).toMatch(/tier|upgrade/)
        }
      }
    })
  }
  for (const row of rows.filter(
    route => route.access === 'key' || route.access === 'key-header-only',
  )) {
    test(`${named(row)} refuses a revoked key, a rolled key's old token, an expired and a suspended key`, async () => {
      for (const [state, status] of [
        ['revoked', 401],
        ['rolled', 401],
        ['expired', 401],
        ['suspended', 403],
      ] as const) {
        const response = await copy.ask(row.method, sampleOf(row), {
          key: deadKey(state),
          ...(row.body !== undefined && { body: row.body }),
        })
        const text = await response.text()
        if (refusedInBody(row)) expect(text).toContain(status === 401 ? 'auth_failed' : 'forbidden')
        else expect(response.status, `${state}: ${text.slice(0, 300)}`).toBe(status)
        expect(text).not.toContain(deadKey(state))
      }
    })
  }

  const accounts = new Map<string, AccountState>()
  const tokens = new Map<string, string>()
  /** An account on a plan, or on a running trial, made once. */
  function accountOn(plan: string) {
    const { keys, ids, clock } = copy.running.services
    const trial = plan === 'trial'
    let account = accounts.get(plan)
    if (!account) {
      account = keys.putAccount({
        id: ids.uuid(),
        email: `${plan}@example.com`,
        plan: trial ? 'free' : plan,
        addOns: [],
        trialStartedAt: trial ? clock.now() : null,
        trialEndsAt: trial ? clock.now() + 7 * 86_400_000 : null,
        emailConfirmedAt: clock.now(),
        suspendedAt: null,
        createdAt: clock.now(),
      })
      accounts.set(plan, account)
      tokens.set(plan, keys.addKey(account).token)
    }
    return { account, entitled: keys.entitlements(account), token: tokens.get(plan)! }
  }

  /** A token that was good once. */
  function deadKey(state: 'revoked' | 'rolled' | 'expired' | 'suspended'): string {
    const cached = tokens.get(state)
    if (cached) return cached
    const { keys, clock } = copy.running.services
    const { state: key, token } = keys.addKey(accountOn('scale').account)
    if (state === 'revoked') keys.changeKey(key, { revokedAt: clock.now() })
    if (state === 'rolled') keys.rollKey(key)
    if (state === 'expired') keys.changeKey(key, { expiresAt: clock.now() })
    if (state === 'suspended') keys.changeKey(key, { suspendedAt: clock.now() })
    tokens.set(state, token)
    return token
  }
})
