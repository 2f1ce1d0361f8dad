import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { openTestInstance } from '../../../../support/instance/instance.ts'

interface Answer {
  data: { account: { id: string; email: string; closed_at: string; erased_at: string | null } }
  message: string
}

/** An instance with its operator and Ann, who has a key, a password, an alert and an invoice. */
async function withAnn() {
  const instance = openTestInstance()
  const { services, key, send } = instance
  const token = key('enterprise', { email: 'ann@example.com' })
  const ann = services.keys.accountByEmail('ann@example.com')!
  const { id } = ann.account
  const admin = async (method: string, path: string, body?: unknown) => {
    const answer = await send(method, `/admin/v1/accounts${path}`, body, undefined, {
      authorization: `Bearer ${operator}`,
      'content-type': 'application/json',
    })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const operator = services.adminTokens.rotate()
  const password = 'correct horse battery staple'
  await services.signIn.setPassword(ann, password)
  const signIn = (email: string) => services.signIn.withPassword(email, password, '203.0.113.7')
  return { ...instance, token, ann, id, admin, signIn }
}

test('an account gets another address, and the old one leads nowhere', async () => {
  const { admin, id, services, ann, signIn, key } = await withAnn()
  key('free', { email: 'bob@example.com' })
  const link = services.signIn.makeLink(ann)
  const changed = await admin('PATCH', `/${id}`, { email: 'Anna@example.com' })
  expect(changed.body.data.account.email).toBe('anna@example.com')
  expect(await signIn('ann@example.com')).toEqual({ refused: 'invalid' })
  expect(await signIn('anna@example.com')).toHaveProperty('token')
  expect(services.signIn.linked(link)).toBeUndefined()
  expect((await admin('PATCH', `/${id}`, { email: 'bob@example.com' })).status).toBe(422)
  expect((await admin('PATCH', `/${id}`, { email: 'no address' })).status).toBe(422)
  expect((await admin('PATCH', `/${id}`, { email: 'anna@example.com' })).status).toBe(200)
})

test('a closed account ends with all that works for it, and its books stay', async () => {
  const { admin, id, services, get, send, token, signIn } = await withAnn()
  const created = await send(
    'POST',
    '/v1/alerts',
    {
      name: 'Ann watches oil',
      commodity_code: 'WTI_USD',
      condition_operator: 'greater_than',
      condition_value: 80,
    },
    token,
    { 'content-type': 'application/json' },
  )
  expect(created.status).toBe(201)
  expect((await admin('POST', `/${id}/erase`)).status).toBe(422)
  const closed = await admin('DELETE', `/${id}`)
  expect({ status: closed.status, account: closed.body.data.account }).toEqual({
    status: 200,
    account: {
      id,
      email: 'ann@example.com',
      closed_at: '2026-11-20T15:00:00Z',
      erased_at: null,
    },
  })
  expect((await get('/v1/prices/latest', token)).status).toBe(401)
  expect(await signIn('ann@example.com')).toEqual({ refused: 'invalid' })
  expect(services.alerts.list(id)).toEqual([])
  expect((await admin('DELETE', `/${id}`)).body.data.account.closed_at).toBe(
    closed.body.data.account.closed_at,
  )
})

/** The tables with any data about Ann. */
const traces = (db: Database): string[] =>
  db
    .query<{ name: string }, []>(
      "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_%'",
    )
    .all()
    .map(({ name }) => name)
    .filter(name =>
      /ann@example|Ann's/i.test(JSON.stringify(db.query(`SELECT * FROM "${name}"`).all())),
    )

test('of an erased account no trace of the person is left in the database', async () => {
  const { admin, id, services, ann, send, token } = await withAnn()
  const json = { 'content-type': 'application/json' }
  await send('POST', '/v1/api-keys', { name: "Ann's laptop" }, token, json)
  await send('PATCH', '/v1/notifications/preferences', { email_enabled: true }, token, json)
  services.signIn.mailLink('ann@example.com', 'http://localhost')
  await services.signIn.settled()
  const invoices = services.billing.invoices.count({ accountId: id })
  expect(traces(services.db)).toEqual(expect.arrayContaining(['accounts', 'api_keys', 'mail_days']))
  await admin('DELETE', `/${id}`)
  const erased = await admin('POST', `/${id}/erase`)
  expect(erased.body.data.account).toMatchObject({
    email: `erased-${id}@invalid`,
    erased_at: '2026-11-20T15:00:00Z',
  })
  expect(services.keys.account(id)).toBe(ann)
  expect(services.billing.invoices.count({ accountId: id })).toBe(invoices)
  expect(traces(services.db)).toEqual([])
  // The address is free again.
  expect(services.keys.accountByEmail('ann@example.com')).toBeUndefined()
})

test('closing and erasing leave no trace in the file, nor in the ids of messages', async () => {
  const { admin, id, services, send, token } = await withAnn()
  const json = { 'content-type': 'application/json' }
  const scheduled = await send(
    'POST',
    '/v1/scheduled-deliveries',
    {
      scheduled_delivery: {
        name: "Ann's morning",
        commodity_codes: ['WTI_USD'],
        cadence: 'weekdays',
        delivery_time: '07:00',
        time_zone: 'Europe/Berlin',
        recipient_email: 'desk.ann@example.com',
        enabled: true,
      },
    },
    token,
    json,
  )
  expect(scheduled.status).toBe(201)
  const formula = {
    code: 'MY_SPREAD',
    name: "Ann's spread",
    formula: 'BRENT_CRUDE_USD - WTI_USD',
    unit: 'barrel',
    currency: 'USD',
  }
  expect((await send('POST', '/v1/formulas', formula, token, json)).status).toBe(201)
  // As an earlier version named the message.
  services.db.run(
    "UPDATE outbox SET event_id = 'agree:' || account_id || ':desk.ann@example.com:1' WHERE event_id LIKE 'agree:%'",
  )
  expect(Buffer.from(services.db.serialize()).includes("Ann's spread")).toBe(true)
  expect((await admin('DELETE', `/${id}`)).status).toBe(200)
  expect((await admin('POST', `/${id}/erase`)).status).toBe(200)
  const bytes = Buffer.from(services.db.serialize())
  for (const text of ["Ann's spread", "Ann's morning", 'ann@example.com'])
    expect(bytes.includes(text), text).toBe(false)
})

test('a member of an organization leaves it when the account is closed, and its owner is refused', async () => {
  const { admin, id, services, get, send, token, key } = await withAnn()
  const owner = key('scale', { email: 'owner@example.com' })
  const ownerId = services.keys.accountByEmail('owner@example.com')!.account.id
  const json = { 'content-type': 'application/json' }
  const invited = await send(
    'POST',
    '/organizations/invitations',
    { email: 'ann@example.com', role: 'admin' },
    owner,
    json,
  )
  const { invitation } = (await invited.json()) as { invitation: { id: string } }
  const accept = `/organizations/invitations/${invitation.id}/confirm_accept`
  expect((await send('POST', accept, {}, token, json)).status).toBe(200)
  const refused = await admin('DELETE', `/${ownerId}`)
  expect({ status: refused.status, message: refused.body.message }).toEqual({
    status: 422,
    message: expect.stringContaining('owns'),
  })
  expect((await admin('DELETE', `/${id}`)).status).toBe(200)
  expect((await get('/v1/account', token)).status).toBe(401)
  const left = await get('/organizations/dashboard', owner)
  expect(await left.json()).toMatchObject({
    organization: { member_count: 1, owner: 'owner@example.com', plan: 'scale' },
  })
  await admin('POST', `/${id}/erase`)
  expect(traces(services.db)).toEqual([])
})
