import { describe, expect, test } from 'bun:test'
import { dayMs, isoInstant } from '../../../../../src/lib/time/instant.ts'
import { type FrontDoor, openFrontDoor, startAt } from '../../../../support/instance/front-door.ts'

interface Account {
  id: string
  email: string
  plan: string
  tier: string
  add_ons: string[]
  api_keys: Key[]
  features: string[]
}

interface Key {
  id: string
  account_id: string
  name: string | null
  active: boolean
  suspended_at: string | null
  plain_token: string
}

type Answer = {
  status: number
  data: Record<string, never> & { account: Account; api_key: Key }
  body: Record<string, unknown>
}

/** A request with the admin token. */
async function operate(
  door: FrontDoor,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await door.ask(method, path, {
    headers: { authorization: `Bearer ${door.adminToken}` },
    ...(body !== undefined && { body }),
  })
  const answer = (await response.json()) as Record<string, unknown>
  return { status: response.status, data: answer.data as Answer['data'], body: answer }
}

const accounts = '/admin/v1/accounts'

describe('/admin/v1/accounts', () => {
  test('are made with a first key, whose token works at once', async () => {
    const door = openFrontDoor()
    const { status, data } = await operate(door, 'POST', accounts, {
      email: 'Person@Example.com',
      plan: 'starter',
      add_ons: ['futures_data', 'futures_data'],
    })
    expect(status).toBe(201)
    expect(data.account).toMatchObject({
      email: 'person@example.com',
      plan: 'starter',
      tier: 'starter',
      tier_name: 'Production Boost',
      add_ons: ['futures_data'],
      trial_active: false,
      trial_started_at: null,
      trial_ends_at: null,
      suspended_at: null,
      usage_this_month: 0,
      email_confirmed_at: isoInstant(startAt),
      created_at: isoInstant(startAt),
      active_keys: 1,
      total_keys: 1,
    } as object)
    expect(data.account.features).toContain('futures')
    expect(data.account.api_keys.map(key => key.id)).toEqual([data.api_key.id])
    expect(JSON.stringify(data.account)).not.toContain(data.api_key.plain_token)
    const response = await door.get('/probe/counted', data.api_key.plain_token)
    expect({
      status: response.status,
      ratelimitTier: response.headers.get('x-ratelimit-tier'),
    }).toEqual({ status: 200, ratelimitTier: 'starter' })
  })

  test('accounts created by the operator are free and confirmed unless the body specifies otherwise', async () => {
    const door = openFrontDoor()
    const plain = await operate(door, 'POST', accounts, { email: 'a@example.com' })
    expect(plain.data.account).toMatchObject({
      plan: 'free',
      tier: 'free',
      email_confirmed_at: isoInstant(startAt),
    } as object)
    const other = await operate(door, 'POST', accounts, {
      email: 'b@example.com',
      trial: true,
      email_confirmed: false,
      suspended: true,
      key_name: 'first',
    })
    expect(other.data.account).toMatchObject({
      plan: 'free',
      tier: 'trial',
      trial_active: true,
      trial_ends_at: isoInstant(startAt + 7 * dayMs),
      email_confirmed_at: null,
      suspended_at: isoInstant(startAt),
    } as object)
    expect(other.data.api_key.name).toBe('first')
  })

  test.each<[string, unknown, string]>([
    ['no body', undefined, 'email'],
    ['no address', { plan: 'free' }, 'email'],
    ['an address without a host', { email: 'person@' }, 'email'],
    ['an address with a space', { email: 'a b@example.com' }, 'email'],
    ['an address with a line break', { email: 'a@example.com\nBcc: b@example.com' }, 'email'],
    ['an address of 255 characters', { email: `${'a'.repeat(243)}@example.com` }, 'email'],
    ['a plan that does not exist', { email: 'a@example.com', plan: 'platinum' }, 'plan'],
    ['the trial as a plan', { email: 'a@example.com', plan: 'trial' }, 'plan'],
    [
      'an add-on that does not exist',
      { email: 'a@example.com', add_ons: ['sms', 'gold'] },
      'add_ons.1',
    ],
    ['a trial on a paid plan', { email: 'a@example.com', plan: 'scale', trial: true }, 'trial'],
    ['a number for a word', { email: 'a@example.com', suspended: 1 }, 'suspended'],
    ['an address that has an account', { email: 'PERSON1@example.com' }, 'email'],
  ])('are not made with %s', async (_, body, field) => {
    const door = openFrontDoor()
    door.open()
    const answer = await operate(door, 'POST', accounts, body)
    expect({
      status: answer.status,
      error_code: answer.body.error_code,
      field: answer.body.field,
    }).toEqual({ status: 422, error_code: 'validation_failed', field })
    expect(door.services.keys.accounts()).toHaveLength(1)
  })

  test('account creation is atomic, so a key that cannot be stored leaves no account', async () => {
    const door = openFrontDoor()
    door.services.db.run(
      "CREATE TRIGGER full BEFORE INSERT ON api_keys BEGIN SELECT RAISE(ABORT, 'no room'); END",
    )
    expect((await operate(door, 'POST', accounts, { email: 'a@example.com' })).status).toBe(500)
    expect(door.services.keys.accounts()).toHaveLength(0)
    door.services.db.run('DROP TRIGGER full')
    expect((await operate(door, 'POST', accounts, { email: 'a@example.com' })).status).toBe(201)
  })

  test('are listed newest first, in pages, by plan and by address', async () => {
    const door = openFrontDoor()
    for (const [email, plan] of [
      ['a@one.com', 'free'],
      ['b@one.com', 'scale'],
      ['c@two.com', 'scale'],
    ] as const) {
      door.clock.advance(1000)
      await operate(door, 'POST', accounts, { email, plan })
    }
    const emails = async (query: string) => {
      const { body } = await operate(door, 'GET', `${accounts}${query}`)
      return [
        (body.data as { accounts: Account[] }).accounts.map(account => account.email),
        (body.meta as { total: number }).total,
      ]
    }
    expect(await emails('')).toEqual([['c@two.com', 'b@one.com', 'a@one.com'], 3])
    expect(await emails('?per_page=2&page=2')).toEqual([['a@one.com'], 3])
    expect(await emails('?plan=scale')).toEqual([['c@two.com', 'b@one.com'], 2])
    expect(await emails('?q=ONE')).toEqual([['b@one.com', 'a@one.com'], 2])
    expect(await emails('?email=A@one.com')).toEqual([['a@one.com'], 1])
    expect(await emails('?email=one.com')).toEqual([[], 0])
    expect((await operate(door, 'GET', `${accounts}?page=0`)).status).toBe(400)
  })

  test('are listed with the quota that is nearest to its end, thirty days of requests and the last one', async () => {
    const door = openFrontDoor()
    const { data } = await operate(door, 'POST', accounts, { email: 'a@one.com', plan: 'scale' })
    const usage = async () => {
      const { body } = await operate(door, 'GET', `${accounts}?usage=true`)
      return (body.data as { accounts: { usage: Record<string, unknown> }[] }).accounts[0]!.usage
    }
    expect(await usage()).toEqual({
      requests_used: 0,
      request_limit: 1_000_000,
      last_request_at: null,
      days: Array.from({ length: 30 }, () => 0),
    })
    await door.get('/probe/counted', data.api_key.plain_token)
    const used = await usage()
    expect(used).toMatchObject({ requests_used: 1, last_request_at: isoInstant(startAt) })
    expect((used.days as number[]).at(-1)).toBe(1)
    const { body } = await operate(door, 'GET', accounts)
    expect((body.data as { accounts: object[] }).accounts[0]).not.toHaveProperty('usage')
  })

  test('an account update changes only the named fields and takes effect on the next request', async () => {
    const door = openFrontDoor()
    const { token, account } = door.open('free')
    const path = `${accounts}/${account.account.id}`
    const change = async (body: unknown) => (await operate(door, 'PATCH', path, body)).data.account
    const tier = async () => (await door.get('/probe/free', token)).headers.get('x-ratelimit-tier')

    expect(await change({ plan: 'professional' })).toMatchObject({
      plan: 'professional',
      tier: 'professional',
    })
    expect(await tier()).toBe('professional')
    expect(await change({ add_ons: ['well_permits'] })).toMatchObject({
      plan: 'professional',
      add_ons: ['well_permits'],
    })
    expect((await door.get('/probe/feature/well_permits', token)).status).toBe(200)
    expect(await change({ plan: 'free', add_ons: [], trial: true })).toMatchObject({
      plan: 'free',
      tier: 'trial',
      add_ons: [],
    })
    expect(await tier()).toBe('trial')
    door.clock.advance(1000)
    expect(await change({ trial: false })).toMatchObject({
      tier: 'free',
      trial_ends_at: isoInstant(startAt + 1000),
    } as object)
    expect(await tier()).toBe('free')
    expect(await change({ suspended: true })).toMatchObject({
      suspended_at: isoInstant(startAt + 1000),
    } as object)
    door.clock.advance(1000)
    expect(await change({ suspended: true })).toMatchObject({
      suspended_at: isoInstant(startAt + 1000),
    } as object)
    expect((await door.get('/probe/free', token)).status).toBe(403)
    expect(await change({ suspended: false })).toMatchObject({ suspended_at: null } as object)
    expect(await change({ email_confirmed: false })).toMatchObject({
      email_confirmed_at: null,
    } as object)
    expect((await door.get('/probe/free', token)).headers.get('x-ratelimit-state')).toBe(
      'unconfirmed_capped',
    )
    expect(await change({ email_confirmed: true })).toMatchObject({
      email_confirmed_at: isoInstant(startAt + 2000),
    } as object)
    const before = await change({})
    door.services.keys.reload()
    expect((await operate(door, 'GET', path)).data.account).toEqual(before)
  })

  test('that are unknown are not found', async () => {
    const door = openFrontDoor()
    const requests: [string, string][] = [
      ['GET', `${accounts}/x`],
      ['PATCH', `${accounts}/x`],
      ['GET', `${accounts}/x/keys`],
      ['POST', `${accounts}/x/keys`],
      ['PATCH', '/admin/v1/keys/x'],
      ['POST', '/admin/v1/keys/x/roll'],
      ['DELETE', '/admin/v1/keys/x'],
    ]
    for (const [method, path] of requests) {
      const { status, body } = await operate(
        door,
        method,
        path,
        method === 'PATCH' ? { suspended: true } : undefined,
      )
      expect({ status, code: (body.error as { code: string }).code }, `${method} ${path}`).toEqual({
        status: 404,
        code: 'NOT_FOUND',
      })
    }
  })
})

describe('/admin/v1/accounts/{id}/keys and /admin/v1/keys', () => {
  test('are made, listed, rolled, suspended, released and revoked', async () => {
    const door = openFrontDoor()
    const { token, account } = door.open('free')
    const path = `${accounts}/${account.account.id}/keys`
    const { status, data } = await operate(door, 'POST', path, { name: 'spare', read_only: true })
    const created = data.api_key
    expect(status).toBe(201)
    expect(created).toMatchObject({
      account_id: account.account.id,
      name: 'spare',
      active: true,
      suspended_at: null,
    })
    const { body } = await operate(door, 'GET', path)
    expect((body.data as { total_count: number }).total_count).toBe(2)
    expect(JSON.stringify(body)).not.toContain(created.plain_token)

    const key = `/admin/v1/keys/${created.id}`
    const statusOf = async (token: string) => (await door.get('/probe/free', token)).status
    expect((await operate(door, 'PATCH', key, { suspended: true })).data.api_key.suspended_at).toBe(
      isoInstant(startAt),
    )
    expect(await statusOf(created.plain_token)).toBe(403)
    expect(
      (await operate(door, 'PATCH', key, { suspended: false })).data.api_key.suspended_at,
    ).toBeNull()
    const rolled = (await operate(door, 'POST', `${key}/roll`, { overlap_seconds: 60 })).data
      .api_key
    expect([await statusOf(created.plain_token), await statusOf(rolled.plain_token)]).toEqual([
      200, 200,
    ])
    door.clock.advance(60_000)
    expect([await statusOf(created.plain_token), await statusOf(rolled.plain_token)]).toEqual([
      401, 200,
    ])
    expect((await operate(door, 'DELETE', key)).data.api_key).toMatchObject({
      id: created.id,
      active: false,
    })
    expect(await statusOf(rolled.plain_token)).toBe(401)
    expect((await operate(door, 'DELETE', key)).body.error_code).toBe('api_key_already_revoked')
    expect((await operate(door, 'POST', `${key}/roll`)).body.error_code).toBe('api_key_revoked')
    expect(await statusOf(token)).toBe(200)
  })

  test('are five at most, and the operator may revoke the last', async () => {
    const door = openFrontDoor()
    const { token, account } = door.open()
    const path = `${accounts}/${account.account.id}/keys`
    for (let i = 0; i < 4; i += 1) expect((await operate(door, 'POST', path)).status).toBe(201)
    expect((await operate(door, 'POST', path)).body).toMatchObject({
      error_code: 'api_key_limit_reached',
      limit: 5,
      current_count: 5,
    })
    for (const key of account.keys) await operate(door, 'DELETE', `/admin/v1/keys/${key.key.id}`)
    expect(account.keys.map(key => key.key.revokedAt)).toEqual(
      Array.from({ length: 5 }, () => startAt),
    )
    expect((await door.get('/probe/free', token)).status).toBe(401)
    expect((await operate(door, 'POST', path)).status).toBe(201)
  })

  test.each([undefined, {}, { suspended: 'yes' }, { suspended: null }])(
    'are not suspended by %j',
    async body => {
      const door = openFrontDoor()
      const { key } = door.open()
      const answer = await operate(door, 'PATCH', `/admin/v1/keys/${key.key.id}`, body)
      expect({ status: answer.status, field: answer.body.field }).toEqual({
        status: 422,
        field: 'suspended',
      })
    },
  )
})

test('the admin token is rotated by itself or from this machine, and the old one ends', async () => {
  const door = openFrontDoor()
  const old = door.adminToken
  const { status, data } = await operate(door, 'POST', '/admin/v1/token/rotate')
  const next = (data as unknown as { admin_token: string }).admin_token
  expect({ status, length: next.length }).toEqual({ status: 200, length: 64 })
  expect((await operate(door, 'GET', accounts)).status).toBe(401)
  door.adminToken = next
  expect((await operate(door, 'GET', accounts)).status).toBe(200)
  const third = (await door.local('POST', '/admin/v1/token/rotate')).body as {
    data: { admin_token: string }
  }
  expect((await operate(door, 'GET', accounts)).status).toBe(401)
  expect(new Set([old, next, third.data.admin_token]).size).toBe(3)
})

test('an API key opens nothing of the operator', async () => {
  const door = openFrontDoor()
  const { token, account, key } = door.open()
  const requests: [string, string][] = [
    ['GET', accounts],
    ['POST', accounts],
    ['GET', `${accounts}/${account.account.id}`],
    ['PATCH', `${accounts}/${account.account.id}`],
    ['GET', `${accounts}/${account.account.id}/keys`],
    ['POST', `${accounts}/${account.account.id}/keys`],
    ['PATCH', `/admin/v1/keys/${key.key.id}`],
    ['POST', `/admin/v1/keys/${key.key.id}/roll`],
    ['DELETE', `/admin/v1/keys/${key.key.id}`],
    ['POST', '/admin/v1/token/rotate'],
  ]
  for (const [i, [method, path]] of requests.entries()) {
    for (const authorization of [`Bearer ${token}`, `Token ${token}`, '']) {
      door.address = `198.51.100.${i}`
      const response = await door.ask(method, path, { headers: { authorization } })
      expect({ method, path, status: response.status }).toEqual({ method, path, status: 401 })
    }
  }
  expect(door.services.keys.accounts()).toHaveLength(1)
})
