import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { openFrontDoor } from '../support/instance/front-door.ts'
import { documentOf } from '../support/interface/every-route.ts'
import { interfaceRows } from '../support/interface/interface.ts'

let copy: DemoInstance
beforeAll(() => {
  copy = demoInstance(undefined, {})
}, 120_000)
afterAll(() => copy.remove())

/**
 * Operations that change nothing, or are idempotent by themselves: they need no idempotency key.
 */
const harmless = [
  '/billing/customer-portal/sessions',
  '/billing/intents/setup',
  '/billing/subscriptions/cancel',
  '/billing/subscriptions/reactivate',
  '/grafana/annotations',
  '/grafana/query',
  '/grafana/search',
  '/mcp',
  '/organizations/invitations/{id}/confirm_accept',
  '/v1/alerts/backtest',
  '/v1/alerts/test',
  '/v1/alerts/{id}/test',
  '/v1/auth/second-factor',
  // Their codes are good once.
  '/v1/auth/second-factor/confirm',
  '/v1/auth/second-factor/disable',
  '/v1/auth/session/refresh',
  '/v1/data-sources/{id}/test',
  '/v1/diesel-prices/stations',
  '/v1/formulas/preview',
  '/v1/notifications/mark_all_read',
  '/v1/notifications/{id}/mark_read',
  '/v1/phone/verify',
  '/v1/prices/batch',
  '/v1/sms/optin',
  '/v1/webhooks/{id}/test',
]

/** The same of the operator's. */
const harmlessToOperators = [
  '/admin/v1/accounts/{id}/password',
  '/admin/v1/feeds/{name}/pause',
  '/admin/v1/feeds/{name}/resume',
  '/admin/v1/feeds/{name}/test',
  '/admin/v1/observations/compare',
]

test.each([
  ['key-header-only', harmless],
  ['operator', harmlessToOperators],
] as const)(
  'every POST of a %s that makes or moves something takes an Idempotency-Key',
  async (access, harmless) => {
    const document = await documentOf(copy)
    const without = interfaceRows
      .filter(row => row.method === 'POST' && row.access === access)
      .filter(row => {
        const path = Object.keys(document.paths).find(
          path => path.replace(/\{\w+\}/g, '{}') === row.path.replace(/\{\w+\}/g, '{}'),
        )!
        const { parameters = [] } = document.paths[path]!.post!
        return !parameters.some(parameter => parameter.name.toLowerCase() === 'idempotency-key')
      })
      .map(row => row.path)
    expect(without.sort()).toEqual([...harmless])
  },
)

test.each([
  '/v1/account/webhook-secret/roll',
  '/v1/data-sources/{id}/rotate_credentials',
  '/v1/webhooks/{id}/events/{event_id}/resend',
  '/v1/webhooks/{id}/replay',
  '/v1/webhooks/{id}/rotate_secret',
])('POST %s sent again gets the first answer again', async path => {
  const row = interfaceRows.find(row => row.method === 'POST' && row.path === path)!
  const send = (name: string) =>
    copy.ask('POST', row.sample!, {
      headers: { 'idempotency-key': name },
      ...(row.body !== undefined && { body: row.body }),
    })
  const [first, again] = [await send('once'), await send('once')]
  expect({ first: first.status, again: again.status }).toEqual({
    first: row.success,
    again: row.success,
  })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(await again.text()).toBe(await first.text())
  expect((await send('twice')).headers.get('idempotent-replayed')).toBeNull()
})

describe('requests of the operator that are sent again', () => {
  const asOperator = (path: string, body: unknown, name: string, token = copy.adminToken) =>
    copy.ask('POST', path, {
      key: null,
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': name },
      ...(body !== undefined && { body }),
    })
  const dataOf = async (response: Response) =>
    ((await response.json()) as { data: Record<string, Record<string, string>> }).data
  const account = (email: string, token?: string) =>
    asOperator('/admin/v1/accounts', { email }, 'the same', token)
  const invoice = { account: 'eval@example.com', description: 'Consulting', amount: 1200 }
  const wti = (price: number) => ({
    observations: [{ code: 'WTI_USD', observed_at: '2026-11-20T14:59:00Z', price }],
  })
  let accountId = ''
  let keyId = ''
  let batchId = ''
  beforeAll(async () => {
    const created = await dataOf(
      await asOperator('/admin/v1/accounts', { email: 'first@example.com' }, 'a'),
    )
    accountId = created.account!.id!
    keyId = created.api_key!.id!
    const { batch } = await dataOf(await asOperator('/admin/v1/observations', wti(70.11), 'c'))
    batchId = String(batch)
  })

  const cases: [name: string, path: () => string, body: unknown][] = [
    ['an account', () => '/admin/v1/accounts', { email: 'twice@example.com' }],
    ['a key', () => `/admin/v1/accounts/${accountId}/keys`, { name: 'desk' }],
    ['a link', () => `/admin/v1/accounts/${accountId}/link`, undefined],
    ['a roll', () => `/admin/v1/keys/${keyId}/roll`, {}],
    ['an invoice', () => '/admin/v1/invoices', invoice],
    [
      'a subscription',
      () => '/admin/v1/subscriptions',
      { account: 'first@example.com', plan: 'starter', price: 900 },
    ],
    ['a suppression', () => '/admin/v1/suppressions', { address: 'gone@example.com' }],
    [
      'a quarantine',
      () => '/admin/v1/quarantine',
      { code: 'WTI_USD', from: '2026-11-02', to: '2026-11-03', reason: 'repeated' },
    ],
    [
      'a series',
      () => '/admin/v1/series',
      {
        code: 'DESK_TWICE_USD',
        name: 'Desk mark',
        category: 'refined_products',
        unit: 'metric_ton',
        currency: 'USD',
      },
    ],
    ['a token', () => '/admin/v1/tokens', { name: 'ci', role: 'data' }],
    ['a batch', () => '/admin/v1/batches', { file_name: 'wti.csv' }],
    ['a push', () => '/admin/v1/observations', wti(70.12)],
    ['an undo', () => `/admin/v1/batches/${batchId}/undo`, { only_untouched: true }],
    [
      'rows of a dataset',
      () => '/admin/v1/datasets/futures-settlements',
      { rows: [{ contract: 'WTI_FUTURES_2027_01', traded_on: '2026-11-18', close: 71.95 }] },
    ],
    ['a release of held messages', () => '/admin/v1/outbox/release', {}],
  ]
  /** Another body, of those without fields. */
  const anotherOf: Readonly<Record<string, object>> = {
    'a roll': { overlap_seconds: 60 },
    'a release of held messages': { kind: 'email' },
  }
  test.each(cases)('%s is made once, and answered twice', async (name, path, body) => {
    const { db } = copy.running.services
    const rows = () => db.query('SELECT count(*) AS n FROM audit_entries').get() as { n: number }
    const first = await asOperator(path(), body, name)
    const text = await first.text()
    expect([first.status < 300, first.headers.get('idempotent-replayed')], text).toEqual([
      true,
      null,
    ])
    const before = rows()
    const again = await asOperator(path(), body, name)
    expect({
      status: again.status,
      text: await again.text(),
      idempotentReplayed: again.headers.get('idempotent-replayed'),
    }).toEqual({ status: first.status, text, idempotentReplayed: 'true' })
    // An action that is not repeated is not recorded again.
    expect(rows()).toEqual(before)
    const [field] = Object.keys(body ?? {})
    const changed =
      field === undefined ? anotherOf[name] : { ...(body as object), [field]: 'other' }
    // Where no field is known, another body is refused for its field.
    const other = await asOperator(path(), changed ?? { more: 1 }, name)
    expect({ status: other.status, xErrorCode: other.headers.get('x-error-code') }).toEqual({
      status: 422,
      xErrorCode: changed ? 'idempotency_key_reused' : 'validation_failed',
    })
  })

  test('are others of another admin token', async () => {
    const created = await dataOf(
      await asOperator('/admin/v1/tokens', { name: 'people', role: 'people' }, 'people'),
    )
    const first = await account('once@example.com')
    const other = await account('once@example.com', created.token!.plain_token)
    expect({ first: first.status, other: other.status }).toEqual({ first: 201, other: 422 })
    expect(other.headers.get('x-error-code')).not.toBe('idempotency_key_reused')
  })

  test('a repeated operator request leaves nothing behind when its response cannot be stored', async () => {
    const { db, catalogue, adminTokens, quarantine } = copy.running.services
    db.run(
      "CREATE TEMP TRIGGER full BEFORE INSERT ON idempotency BEGIN SELECT RAISE(ABORT, 'no room'); END",
    )
    const counts = () => [
      catalogue.list().length,
      adminTokens.list().length,
      quarantine.all().length,
    ]
    const before = counts()
    const sent = [
      await asOperator(
        '/admin/v1/series',
        { ...(cases.find(([name]) => name === 'a series')![2] as object), code: 'DESK_LOST_USD' },
        'x',
      ),
      await asOperator('/admin/v1/tokens', { name: 'lost', role: 'all' }, 'x'),
      await asOperator(
        '/admin/v1/quarantine',
        { code: 'WTI_USD', from: '2026-10-02', to: '2026-10-03', reason: 'lost' },
        'x',
      ),
    ]
    db.run('DROP TRIGGER full')
    expect(sent.map(response => response.status)).toEqual([500, 500, 500])
    expect(counts()).toEqual(before)
  })
})

describe('commands on the machine', () => {
  test('a repeated local command returns the first response, whose token no single file reveals', async () => {
    const door = openFrontDoor()
    const rotate = (name: string) =>
      door.local('POST', '/admin/v1/token/rotate', undefined, { 'idempotency-key': name })
    const [first, again, other] = [await rotate('one'), await rotate('one'), await rotate('two')]
    expect(again).toEqual(first)
    expect(other.body).not.toEqual(first.body)
    const { vault, db } = door.services
    const [row] = db
      .query<{ owner: string; hash: string; sealed: Uint8Array }, []>(
        'SELECT owner, lower(hex(request_hash)) AS hash, sealed FROM idempotency ORDER BY created_at',
      )
      .all()
    expect(row!.owner).toBe('command')
    const inner = vault.open(`idempotency ${row!.owner} ${row!.hash}`, row!.sealed)
    const tokens = [first, other].map(
      answer => (answer.body as { data: { admin_token: string } }).data.admin_token,
    )
    for (const token of tokens)
      expect(Buffer.from(inner, 'base64').toString('latin1')).not.toContain(token)
  })
})
