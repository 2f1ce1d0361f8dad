import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import { isFields } from '../support/fields.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import {
  boundless,
  documentedPath,
  documentOf,
  type Row,
  rows,
  stateOf,
} from '../support/interface/every-route.ts'

/** Unique texts and numbers, so that any occurrence of one was put there by a body. */
const foreignId = 'badbadba-dbad-4bad-8bad-badbadbadbad'
const mark = 'privileged-canary'
const number = 987_654_321
const past = '2001-02-03T04:05:06Z'
const traces = [foreignId, mark, String(number), past, '2001-02-03', String(Date.parse(past))]

/**
 * Fields that a client may not set. An operation that documents a field of the name is left out.
 */
const privileged: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    [
      'id',
      'account_id',
      'accountId',
      'user_id',
      'owner_id',
      'organization_id',
      'api_key_id',
      'acts_on',
    ].map(name => [name, foreignId]),
  ),
  ...Object.fromEntries(
    [
      'created_at',
      'createdAt',
      'updated_at',
      'last_triggered_at',
      'last_used_at',
      'email_confirmed_at',
      'verified_at',
    ].map(name => [name, past]),
  ),
  ...Object.fromEntries(
    [
      'suspended_at',
      'revoked_at',
      'joined_at',
      'accepted_at',
      'trial_ends_at',
      'opted_in_at',
      'next_run_at',
      'paid_at',
    ].map(name => [name, past]),
  ),
  ...Object.fromEntries(
    [
      'successful_deliveries',
      'failed_deliveries',
      'trigger_count',
      'triggers_count',
      'requests_used',
    ].map(name => [name, number]),
  ),
  ...Object.fromEntries(
    [
      'monthly_limit',
      'quota',
      'rate_limit',
      'credits',
      'balance',
      'amount_cents',
      'price_cents',
      'tries',
    ].map(name => [name, number]),
  ),
  ...Object.fromEntries(
    [
      'secret',
      'token',
      'token_hash',
      'key',
      'api_key',
      'role',
      'plan',
      'tier',
      'source',
      'password',
    ].map(name => [name, mark]),
  ),
  ...Object.fromEntries(
    ['verification_code', 'features', 'add_ons', 'scopes', 'invited_by', 'customer_id'].map(
      name => [name, mark],
    ),
  ),
  ...Object.fromEntries(
    [
      'is_admin',
      'admin',
      'email_confirmed',
      'verified',
      'opted_in',
      'operator',
      'fixture',
      'free',
    ].map(name => [name, true]),
  ),
  constructor: { prototype: { isAdmin: true } },
}

const writing = rows.filter(
  row =>
    (row.method === 'POST' || row.method === 'PATCH') && row.sample && row.access !== 'operator',
)

let copy: DemoInstance
let document: OpenApiDocument

beforeAll(async () => {
  copy = demoInstance(undefined, boundless)
  document = await documentOf(copy)
}, 120_000)
afterAll(() => copy.remove())

/** Names of all fields that a documented body may have, at whatever depth. */
function fieldsOf(row: Row): Set<string> {
  const names = new Set<string>()
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { $ref, properties } = value as { $ref?: string; properties?: object }
    if ($ref) look(document.components.schemas[/[^/]+$/.exec($ref)![0]])
    for (const name of Object.keys(properties ?? {})) names.add(name)
    for (const part of Object.values(value)) look(part)
  }
  look(
    document.paths[documentedPath(document, row.path)]?.[row.method.toLowerCase()]?.requestBody
      ?.content,
  )
  return names
}

/**
 * The sample body with every field that a client may not set, next to its fields and inside its
 * wrapper.
 */
function laden(row: Row) {
  const documented = fieldsOf(row)
  const extra = Object.fromEntries(
    Object.entries(privileged).filter(([name]) => !documented.has(name)),
  )
  const body = (row.body ?? {}) as Record<string, unknown>
  const wrapped = Object.entries(body).map(([name, value]) => [
    name,
    isFields(value) ? { ...extra, ...value } : value,
  ])
  return { ...extra, ...Object.fromEntries(wrapped) }
}

/** How often each trace is in what is stored. */
const tracesIn = (text: string) => traces.filter(trace => text.includes(trace))

describe('every route with a body', () => {
  for (const row of writing) {
    test(`of ${row.method} ${row.path} sets nothing that is not its caller's to set`, async () => {
      const { services } = copy.running
      const settableFields = () => {
        const { plan, ...account } = services.keys.find(copy.apiKey)!.account.account
        // A purchase changes the plan; a body can only name plans that are for sale.
        return row.path.startsWith('/billing/') ? account : { plan, ...account }
      }
      const [key, before] = [services.keys.find(copy.apiKey)!, settableFields()]
      const role = key.holder.role
      const response = await copy.ask(row.method, row.sample!, {
        body: laden(row),
        ...(row.access === 'keyless' && { key: null }),
      })
      const text = await response.text()
      expect(response.status, text).toBeLessThan(500)
      // A refusal may repeat what it refuses.
      if (response.ok) expect(tracesIn(text), text.slice(0, 600)).toEqual([])
      for (const [table, stored] of Object.entries(stateOf(services.db)))
        expect(tracesIn(stored), table).toEqual([])
      expect(settableFields()).toEqual(before)
      expect(services.keys.find(copy.apiKey)!.holder.role).toBe(role)
    })
  }

  test('most requests with additional privileged fields succeed as they do without them', async () => {
    const answered = await Promise.all(
      writing
        .filter(({ success }) => success === 200)
        .map(
          async row =>
            (
              await copy.ask(row.method, row.sample!, {
                body: laden(row),
                ...(row.access === 'keyless' && { key: null }),
              })
            ).ok,
        ),
    )
    expect(answered.filter(Boolean).length).toBeGreaterThan(answered.length / 2)
  })
})
