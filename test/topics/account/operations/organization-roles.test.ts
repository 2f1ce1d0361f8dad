import { describe, expect, test } from 'bun:test'
import type { InternalRoute } from 'elysia'
import { type Role, roles } from '../../../../src/plans/roles/roles.ts'
import {
  guestId,
  type Office,
  office,
  stateOf,
  token,
} from '../../../support/topics/operations/organizations.ts'
import { codeOf, type Person } from '../../../support/topics/people.ts'

/** A key alongside the one that someone calls with, to be changed. */
async function spareKey(office: Office, person: Person): Promise<string> {
  const added = office.services.keys.addKey(person.account, { name: 'spare' })
  return added.state.key.id
}

async function listedId(office: Office): Promise<string> {
  const email = `listed${office.services.ids.uuid().slice(0, 8)}@example.com`
  const answer = await office.ask('POST', '/organizations/members', token(office.ann), {
    email,
    role: 'member',
  })
  return (answer.body.member as { id: string }).id
}

interface Operation {
  name: string
  method: string
  path: (office: Office, me: Person) => string | Promise<string>
  body?: unknown
  allowed: readonly Role[]
  /** The status for permitted roles; absent: anything but 403, because another part decides it. */
  success?: number
  /** The part of the API that has it may not be there. */
  optional?: true
}

const everybody = roles

const admins = ['admin'] as const

const keyPeople = ['admin', 'member'] as const

const at = (path: string) => () => path

const matrix: Operation[] = [
  {
    name: 'read the organization',
    method: 'GET',
    path: at('/organizations/dashboard'),
    allowed: everybody,
    success: 200,
  },
  {
    name: 'read prices',
    method: 'GET',
    path: at('/v1/commodities'),
    allowed: everybody,
    success: 200,
  },
  {
    name: 'ask for prices in a body',
    method: 'POST',
    path: at('/v1/prices/batch'),
    body: { codes: ['WTI_USD'] },
    allowed: everybody,
    success: 200,
  },
  { name: 'read usage', method: 'GET', path: at('/v1/usage'), allowed: everybody, success: 200 },
  {
    name: 'read the account',
    method: 'GET',
    path: at('/v1/account'),
    allowed: everybody,
    success: 200,
  },
  ...(['PUT', 'DELETE'] as const).map(
    (method): Operation => ({
      name: `${method} their own watchlist`,
      method,
      path: at('/v1/prices/board/layout'),
      body: { groups: [{ name: '', codes: ['WTI_USD'] }] },
      allowed: everybody,
      success: 200,
    }),
  ),
  { name: 'list keys', method: 'GET', path: at('/v1/api-keys'), allowed: everybody, success: 200 },
  {
    name: 'make a key',
    method: 'POST',
    path: at('/v1/api-keys'),
    body: {},
    allowed: keyPeople,
    success: 200,
  },
  ...(['own', 'member', 'read_only', 'admin'] as const).flatMap((whose): Operation[] => {
    const holder = (office: Office, me: Person) =>
      whose === 'own' ? me : whose === 'admin' ? office.ann : office.staff[whose]
    const allowed = whose === 'admin' ? admins : keyPeople
    const of = whose === 'own' ? 'their own key' : `a key of the ${whose}`
    const path = (end: string) => async (office: Office, me: Person) =>
      `/v1/api-keys/${await spareKey(office, holder(office, me))}${end}`
    return [
      {
        name: `change ${of}`,
        method: 'PATCH',
        path: path(''),
        body: { name: 'renamed' },
        allowed,
        success: 200,
      },
      { name: `roll ${of}`, method: 'POST', path: path('/roll'), body: {}, allowed, success: 200 },
      { name: `revoke ${of}`, method: 'DELETE', path: path(''), allowed, success: 200 },
    ]
  }),
  {
    name: 'add a member',
    method: 'POST',
    path: at('/organizations/members'),
    allowed: admins,
    success: 201,
    body: { email: 'added@example.com', role: 'member' },
  },
  {
    name: 'change a role',
    method: 'PATCH',
    path: async office => `/organizations/members/${await listedId(office)}`,
    body: { role: 'admin' },
    allowed: admins,
    success: 200,
  },
  {
    name: 'remove a member',
    method: 'DELETE',
    path: async office => `/organizations/members/${await listedId(office)}`,
    allowed: admins,
    success: 200,
  },
  {
    name: 'invite',
    method: 'POST',
    path: at('/organizations/invitations'),
    allowed: admins,
    success: 201,
    body: { email: 'invited@example.com', role: 'read-only' },
  },
  {
    name: 'withdraw an invitation',
    method: 'DELETE',
    path: async office => `/organizations/members/${await guestId(office)}`,
    allowed: admins,
    success: 200,
  },
  {
    name: 'read an invitation',
    method: 'GET',
    path: async office => `/organizations/invitations/${await guestId(office)}/accept`,
    allowed: everybody,
    success: 200,
  },
  ...(
    [
      ['read plans', 'GET', '/billing/plans', everybody],
      ['read the subscription', 'GET', '/billing/subscriptions/current', everybody],
      ['read invoices', 'GET', '/billing/invoices', everybody],
      ['read billed usage', 'GET', '/billing/usage', everybody],
      ['subscribe', 'POST', '/billing/subscriptions', admins],
      ['change the plan', 'POST', '/billing/subscriptions/change_plan', admins],
      ['cancel', 'POST', '/billing/subscriptions/cancel', admins],
      ['reactivate', 'POST', '/billing/subscriptions/reactivate', admins],
      ['choose a payment method', 'PATCH', '/billing/payment_methods/update', admins],
      ['begin a payment method', 'POST', '/billing/intents/setup', admins],
      ['open the customer portal', 'POST', '/billing/customer-portal/sessions', admins],
      ['buy credits', 'POST', '/billing/credit_purchases', admins],
      ['make an alert', 'POST', '/v1/alerts', admins],
      ['make a webhook', 'POST', '/v1/webhooks', admins],
      ['change notifications', 'PATCH', '/v1/notification_preferences', admins],
      ['add a phone', 'POST', '/v1/phone', admins],
      ['see the webhook secret', 'GET', '/v1/account/webhook-secret', admins],
    ] as const
  ).map(
    ([name, method, path, allowed]): Operation => ({
      name,
      method,
      path: at(path),
      ...(method !== 'GET' && { body: {} }),
      allowed,
      optional: true,
    }),
  ),
  // Last, because the caller is gone afterwards.
  {
    name: 'leave',
    method: 'DELETE',
    path: (office, me) => office.memberId(me).then(id => `/organizations/members/${id}`),
    allowed: everybody,
    success: 200,
  },
]

describe('requireAction by role', () => {
  for (const role of roles) {
    test(`${role}: everything that the matrix gives it, nothing that it does not, by key and by session`, async () => {
      const office_ = await office()
      const { ask, staff, signedIn } = office_
      const me = staff[role]
      const session = `Bearer ${await signedIn(me)}`
      for (const operation of matrix) {
        const path = await operation.path(office_, me)
        const before = await stateOf(office_)
        const answer = await ask(
          operation.method,
          path,
          operation.name.length % 2 === 0 ? token(me) : session,
          operation.body,
        )
        if (operation.optional && answer.status === 404 && answer.body.text === '') continue
        const may = operation.allowed.includes(role)
        if (may && operation.success !== undefined)
          expect(answer.status, `${role} may ${operation.name}`).toBe(operation.success)
        if (may) expect(codeOf(answer), `${role} may ${operation.name}`).not.toBe('FORBIDDEN_ROLE')
        if (!may) {
          expect(
            { status: answer.status, code: codeOf(answer) },
            `${role} may not ${operation.name}`,
          ).toEqual({ status: 403, code: 'FORBIDDEN_ROLE' })
          expect(await stateOf(office_), `${operation.name} by ${role} changes nothing`).toEqual(
            before,
          )
        }
      }
    })
  }

  test('whatever changes something and is in no such list is for admins', async () => {
    const { app, ask, staff } = await office()
    const id = '00000000-0000-4000-8000-000000000999'
    const forAll = [
      'POST /v1/diesel-prices/stations',
      'POST /v1/alerts/:id/test',
      'POST /v1/alerts/backtest',
      'POST /v1/formulas/preview',
      'POST /v1/alerts/test',
      'POST /v1/prices/batch',
      'PUT /v1/prices/board/layout',
      'DELETE /v1/prices/board/layout',
      'PATCH /v1/display_preferences',
      'POST /mcp',
      'POST /v1/auth/session/refresh',
      'POST /v1/auth/second-factor',
      'POST /v1/auth/second-factor/confirm',
      'POST /v1/auth/second-factor/disable',
      'DELETE /v1/auth/session',
      'DELETE /v1/auth/sessions',
      'DELETE /v1/auth/sessions/:id',
      'POST /organizations/invitations/:id/confirm_accept',
      'POST /grafana/annotations',
      'POST /grafana/metrics',
      'POST /grafana/query',
      'POST /grafana/search',
      'POST /grafana/variable',
    ]
    const own = ['DELETE /organizations/members/:id']
    const routes = (app.routes as InternalRoute[]).filter(route =>
      ['POST', 'PATCH', 'PUT', 'DELETE'].includes(route.method),
    )
    const keyed = routes.filter(({ hooks }) => {
      const security =
        (hooks as { detail?: { security?: Record<string, unknown>[] } }).detail?.security ?? []
      return security.some(scheme => 'apiKeyHeader' in scheme)
    })
    expect(keyed.length).toBeGreaterThan(8)
    const refused: string[] = []
    for (const route of keyed) {
      const answer = await ask(
        route.method,
        route.path.replace(/:\w+/g, id),
        token(staff.read_only),
        {},
      )
      if (codeOf(answer) === 'FORBIDDEN_ROLE') refused.push(`${route.method} ${route.path}`)
    }
    const names = keyed.map(route => `${route.method} ${route.path}`)
    expect(names.filter(name => !refused.includes(name)).sort()).toEqual(forAll.sort())
    expect(refused).toEqual(expect.arrayContaining(own))
  })
})
