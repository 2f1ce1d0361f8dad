import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dayMs, isoInstant, minuteMs } from '../../../../src/lib/time/instant.ts'
import {
  at,
  type FrontDoor,
  openFrontDoor,
  rateOf,
  startAt,
} from '../../../support/instance/front-door.ts'
import {
  codeOf,
  create,
  type Key,
  keyOf,
  listed,
} from '../../../support/topics/operations/api-keys.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const token = /^[0-9a-f]{64}$/

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function databasePath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'wellhead-'))
  directories.push(directory)
  return join(directory, 'test.db')
}

describe('GET /v1/api-keys', () => {
  test('has the use of the quota and of every rolling window by each key', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open('starter')
    const second = await keyOf(await create(door, caller, { name: 'second key' }))
    for (let i = 0; i < 3; i += 1) await door.get('/probe/counted', second.plain_token)
    const keys = await listed(door, caller)
    const windows = (isSecond: boolean) =>
      keys.find(({ id }) => (id === second.id) === isSecond)?.windows
    expect(windows(true)).toMatchObject([
      { name: 'quota', limit: 50_000, used: 3, remaining: 49_997 },
      { name: 'burst', used: 3 },
      { name: 'marine', used: 0 },
      { name: 'marine_historical', used: 0 },
    ])
    expect(windows(false)).toMatchObject([
      { name: 'quota', used: 0 },
      { name: 'burst', used: 2 },
      {},
      {},
    ])
  })

  test('shows the smaller limit of a suspended key', async () => {
    const door = openFrontDoor()
    const { token: caller, account } = door.open('starter')
    const { id } = await keyOf(await create(door, caller, { name: 'second key' }))
    door.changes.suspendKey(account.keys.find(({ key }) => key.id === id)!, true)
    const second = (await listed(door, caller)).find(key => key.id === id)
    expect(second?.windows?.[1]).toMatchObject({ name: 'burst', limit: 5, used: 0 })
  })
})

describe('POST /v1/api-keys', () => {
  test('is answered with its token, which no other answer has', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open('starter')
    const response = await create(door, caller, { name: 'second key' })
    const body = (await response.json()) as { status: string; data: { api_key: Key } }
    const key = body.data.api_key
    expect(response.status).toBe(200)
    expect(body.status).toBe('success')
    expect(key).toEqual({
      id: expect.stringMatching(uuid),
      name: 'second key',
      held_by: 'person1@example.com',
      token_hint: `${key.plain_token.slice(0, 4)}…${key.plain_token.slice(-4)}`,
      active: true,
      created_at: isoInstant(startAt),
      revoked_at: null,
      last_used_at: null,
      expires_at: null,
      read_only: false,
      allowed_ips: [],
      allowed_domains: [],
      scopes: [],
      usage: { requests_used: 0, request_limit: 50_000 },
      plain_token: expect.stringMatching(token),
    } as never)
    expect((await door.get('/probe/counted', key.plain_token)).status).toBe(200)
    expect(JSON.stringify(await listed(door, caller))).not.toContain(key.plain_token)
  })

  test.each([
    ['no body', undefined, null],
    ['an empty body', '', null],
    ['an empty object', {}, null],
    ['null', 'null', null],
    ['a null name', { name: null }, null],
    [
      'unknown fields',
      {
        name: 'x',
        plan: 'enterprise',
        id: 'mine',
        plain_token: 'a'.repeat(64),
        revoked_at: 1,
        account_id: 'other',
      },
      'x',
    ],
    [
      'a name of 100 characters outside the basic plane',
      { name: '🛢'.repeat(100) },
      '🛢'.repeat(100),
    ],
  ])('may be asked for with %s', async (_, body, name) => {
    const door = openFrontDoor()
    const { token: caller, account } = door.open()
    const response = await create(door, caller, body)
    expect(response.status).toBe(200)
    const key = await keyOf(response)
    expect(key.name).toBe(name)
    expect(key.plain_token).not.toBe('a'.repeat(64))
    expect(door.services.keys.byId(key.id)!.account).toBe(account)
    expect(account.account.plan).toBe('enterprise')
  })

  test.each<[string, unknown, string]>([
    ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name'],
    ['a name that is a number', { name: 5 }, 'name'],
    ['a name with half a surrogate pair', '{"name":"a\\ud800"}', 'name'],
    ['a name with a null character', '{"name":"a\\u0000b"}', 'name'],
    ['a name that holds a token', { name: `my ${'0123456789abcdef'.repeat(4)}` }, 'name'],
    ['an expiry without a zone', { expires_at: '2027-01-01T00:00:00' }, 'expires_at'],
    [
      'an expiry on a day that no calendar has',
      { expires_at: '2027-02-30T00:00:00Z' },
      'expires_at',
    ],
    ['an expiry that is now', { expires_at: isoInstant(startAt) }, 'expires_at'],
    ['an expiry as a number', { expires_at: 1_900_000_000 }, 'expires_at'],
    ['networks that are not a list', { allowed_ips: '10.0.0.0/8' }, 'allowed_ips'],
    [
      '101 networks',
      { allowed_ips: Array.from({ length: 101 }, (_, i) => `10.0.0.${i}`) },
      'allowed_ips',
    ],
    ['a shortened network', { allowed_ips: ['10.0.0.0/8', '10/8'] }, 'allowed_ips.1'],
    ['a network of 33 bits', { allowed_ips: ['10.0.0.0/33'] }, 'allowed_ips.0'],
    ['an octal address', { allowed_ips: ['010.0.0.1'] }, 'allowed_ips.0'],
    ['an address with a zone', { allowed_ips: ['fe80::1%eth0'] }, 'allowed_ips.0'],
    ['a number among networks', { allowed_ips: [10] }, 'allowed_ips.0'],
    [
      'an address of a page for a domain',
      { allowed_domains: ['https://example.com'] },
      'allowed_domains.0',
    ],
    ['a domain with a port', { allowed_domains: ['example.com:443'] }, 'allowed_domains.0'],
    ['a domain with a wildcard', { allowed_domains: ['*.example.com'] }, 'allowed_domains.0'],
    ['an empty domain', { allowed_domains: [''] }, 'allowed_domains.0'],
    ['a domain with an empty label', { allowed_domains: ['example..com'] }, 'allowed_domains.0'],
    ['read_only as text', { read_only: 'true' }, 'read_only'],
    ['a list for a body', '[]', 'body'],
    ['text for a body', '"name"', 'body'],
  ])('is refused with %s, and the field is named', async (_, body, field) => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const response = await create(door, caller, body)
    const refusal = (await response.json()) as Record<string, unknown> & {
      errors: { field: string; message: string; value: unknown }[]
    }
    expect(response.status).toBe(422)
    expect(response.headers.get('x-error-code')).toBe('validation_failed')
    expect(refusal).toMatchObject({
      error: 'validation_failed',
      error_code: 'validation_failed',
      code: 'validation_failed',
      field,
    })
    expect(refusal.errors).toHaveLength(1)
    expect(refusal.errors[0]).toMatchObject({ field, message: refusal.message })
    expect(refusal.request_id).toBe(response.headers.get('x-request-id') ?? '')
    expect(JSON.stringify(refusal)).not.toMatch(/[0-9a-f]{64}/)
    expect(await listed(door, caller)).toHaveLength(1)
  })

  test('names every fault of a body at once', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const response = await create(door, caller, { name: 5, read_only: 1, expires_at: 'soon' })
    const refusal = (await response.json()) as {
      errors: { field: string }[]
      field: string
      value: unknown
    }
    expect(refusal.errors.map(error => error.field)).toEqual(['name', 'expires_at', 'read_only'])
    expect({ field: refusal.field, value: refusal.value }).toEqual({ field: 'name', value: 5 })
  })

  test('is refused past five active ones, whatever was revoked or expired before', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    for (let i = 0; i < 3; i += 1) expect((await create(door, caller)).status).toBe(200)
    const soon = await keyOf(
      await create(door, caller, { expires_at: isoInstant(startAt + minuteMs) }),
    )
    const refused = await create(door, caller)
    expect(refused.status).toBe(422)
    expect((await refused.json()) as object).toMatchObject({
      error: 'api_key_limit_reached',
      limit: 5,
      current_count: 5,
      field: null,
      errors: [],
    })

    door.clock.advance(minuteMs)
    expect((await listed(door, caller)).at(-1)).toMatchObject({
      id: soon.id,
      active: false,
      revoked_at: null,
    })
    const sixth = await keyOf(await create(door, caller))
    expect((await create(door, caller)).status).toBe(422)
    expect((await door.ask('DELETE', `/v1/api-keys/${sixth.id}`, { token: caller })).status).toBe(
      200,
    )
    expect((await create(door, caller)).status).toBe(200)
    // An expired key takes its place again only where there is one.
    const extended = await door.ask('PATCH', `/v1/api-keys/${soon.id}`, {
      token: caller,
      body: { expires_at: null },
    })
    expect({ status: extended.status, code: await codeOf(extended) }).toEqual({
      status: 422,
      code: 'api_key_limit_reached',
    })
  })

  test('concurrent API key creation never exceeds five keys for an account', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const statuses = (
      await Promise.all(Array.from({ length: 40 }, () => create(door, caller)))
    ).map(response => response.status)
    expect(statuses.filter(status => status === 200)).toHaveLength(4)
    expect(await listed(door, caller)).toHaveLength(5)
  })
})

describe('GET /v1/api-keys', () => {
  test('has active keys first, then the newest, revoked ones too', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    for (const name of ['a', 'b', 'c']) {
      door.clock.advance(1000)
      await create(door, caller, { name })
    }
    const [c] = await listed(door, caller)
    await door.ask('DELETE', `/v1/api-keys/${c!.id}`, { token: caller })
    const response = await door.get('/v1/api-keys', caller)
    const { data } = (await response.json()) as { data: { api_keys: Key[]; total_count: number } }
    expect(data.api_keys.map(key => [key.name, key.active])).toEqual([
      ['b', true],
      ['a', true],
      [null, true],
      ['c', false],
    ])
    expect(data.total_count).toBe(4)
  })

  test('has only the keys of the caller', async () => {
    const door = openFrontDoor()
    const [first, other] = [door.open(), door.open()]
    expect((await listed(door, first.token)).map(key => key.id)).toEqual([first.key.key.id])
    expect((await listed(door, other.token)).map(key => key.id)).toEqual([other.key.key.id])
  })

  test('the API key list shows when each key was last used and how much quota it used', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open('free')
    door.clock.advance(5000)
    await door.get('/probe/counted', caller)
    const [key] = await listed(door, caller)
    expect(key).toMatchObject({
      last_used_at: isoInstant(startAt + 5000),
      usage: { requests_used: 1, request_limit: 50 },
    } as never)
  })
})

describe('/v1/api-keys/{id}: the states of a key', () => {
  const states = ['active', 'last active', 'revoked', 'expired'] as const
  const rows: [(typeof states)[number], string, number, string | undefined, boolean][] = [
    ['active', 'DELETE', 200, undefined, false],
    ['last active', 'DELETE', 422, 'last_active_key', true],
    ['revoked', 'DELETE', 422, 'api_key_already_revoked', false],
    ['expired', 'DELETE', 200, undefined, false],
    ['active', 'roll', 200, undefined, true],
    ['last active', 'roll', 200, undefined, true],
    ['revoked', 'roll', 422, 'api_key_revoked', false],
    ['active', 'PATCH', 200, undefined, true],
    ['revoked', 'PATCH', 422, 'api_key_revoked', false],
    ['expired', 'PATCH', 200, undefined, true],
  ]
  test.each(rows)(
    '%s, then %s: %p %p, active afterwards: %p',
    async (state, operation, status, code, active) => {
      const door = openFrontDoor()
      const { token: caller, key, account } = door.open()
      let [id, actor] = [key.key.id, caller]
      if (state !== 'last active') {
        const other = await keyOf(
          await create(door, caller, {
            expires_at: state === 'expired' ? isoInstant(startAt + 1000) : null,
          }),
        )
        if (state === 'revoked')
          await door.ask('DELETE', `/v1/api-keys/${other.id}`, { token: caller })
        door.clock.advance(1000)
        id = other.id
      }
      const path = `/v1/api-keys/${id}${operation === 'roll' ? '/roll' : ''}`
      const response = await door.ask(operation === 'roll' ? 'POST' : operation, path, {
        token: actor,
        ...(operation === 'PATCH' && { body: { expires_at: isoInstant(startAt + dayMs) } }),
      })
      const body = (await response.json()) as { error_code?: string; data?: { api_key?: Key } }
      expect({ status: response.status, error_code: body.error_code }).toEqual({
        status,
        error_code: code,
      })
      if (operation === 'roll' && status === 200 && id === key.key.id)
        actor = body.data!.api_key!.plain_token
      const after = (await listed(door, actor)).find(key => key.id === id)!
      expect(after.active).toBe(active)
      expect(account.keys.some(key => key.key.revokedAt === null)).toBe(true)
    },
  )

  test('a revoked key is answered 401 at once and stays so', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const key = await keyOf(await create(door, caller))
    const response = await door.ask('DELETE', `/v1/api-keys/${key.id}`, { token: caller })
    expect(await response.json()).toEqual({
      status: 'success',
      data: {
        id: key.id,
        revoked: true,
        revoked_at: isoInstant(startAt),
        api_key: expect.objectContaining({
          id: key.id,
          active: false,
          revoked_at: isoInstant(startAt),
        }),
      },
    } as never)
    expect((await door.get('/v1/account', key.plain_token)).status).toBe(401)
    door.services.keys.reload()
    expect((await door.get('/v1/account', key.plain_token)).status).toBe(401)
  })

  test('a key may revoke itself, but for the last one', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const key = await keyOf(await create(door, caller))
    expect(
      (await door.ask('DELETE', `/v1/api-keys/${key.id}`, { token: key.plain_token })).status,
    ).toBe(200)
    expect((await door.get('/v1/account', key.plain_token)).status).toBe(401)
  })

  test('rolling keeps id, name, counter and restrictions, and ends the old token at once', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open('free')
    const key = await keyOf(
      await create(door, caller, {
        name: 'desk',
        read_only: true,
        allowed_ips: ['203.0.113.0/24'],
      }),
    )
    for (let i = 0; i < 3; i += 1) await door.get('/probe/counted', key.plain_token)
    const rolled = await keyOf(
      await door.ask('POST', `/v1/api-keys/${key.id}/roll`, { token: caller }),
    )
    expect(rolled.plain_token).toMatch(token)
    expect(rolled.plain_token).not.toBe(key.plain_token)
    expect(rolled).toMatchObject({
      id: key.id,
      name: 'desk',
      active: true,
      read_only: true,
      allowed_ips: ['203.0.113.0/24'],
    })
    expect(rolled.usage.requests_used).toBe(3)
    expect((await door.get('/probe/counted', key.plain_token)).status).toBe(401)
    expect(rateOf(await door.get('/probe/counted', rolled.plain_token)).used).toBe('4')
  })

  test('a roll with an overlap keeps the old token good until its end, and no longer', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const key = await keyOf(await create(door, caller))
    const roll = (body?: unknown) =>
      door.ask('POST', `/v1/api-keys/${key.id}/roll`, { token: caller, body })
    const second = await keyOf(await roll({ overlap_seconds: 60 }))
    door.clock.advance(59_999)
    expect((await door.get('/probe/free', key.plain_token)).status).toBe(200)
    door.clock.advance(1)
    expect((await door.get('/probe/free', key.plain_token)).status).toBe(401)
    expect((await door.get('/probe/free', second.plain_token)).status).toBe(200)
    // A roll without overlap ends an overlap that still runs.
    const third = await keyOf(await roll({ overlap_seconds: 86_400 }))
    const fourth = await keyOf(await roll())
    const statuses = await Promise.all(
      [second, third, fourth].map(
        async key => (await door.get('/probe/free', key.plain_token)).status,
      ),
    )
    expect(statuses).toEqual([401, 401, 200])
  })

  test.each([0, -1, 86_401, 1.5, '60', null, Number.MAX_VALUE])(
    'an overlap of %p seconds is refused',
    async seconds => {
      const door = openFrontDoor()
      const { token: caller, key } = door.open()
      const response = await door.ask('POST', `/v1/api-keys/${key.key.id}/roll`, {
        token: caller,
        body: { overlap_seconds: seconds },
      })
      expect({ status: response.status, code: await codeOf(response) }).toEqual({
        status: 422,
        code: 'validation_failed',
      })
      expect((await door.get('/v1/account', caller)).status).toBe(200)
    },
  )
})

describe('/v1/api-keys/{id}: a key that is not there', () => {
  test('looks the same whether it is unknown, malformed or of another account', async () => {
    const door = openFrontDoor()
    const { token: caller, key } = door.open()
    const { key: foreign, token: foreignToken } = door.open()
    const ids = [
      foreign.key.id,
      '00000000-0000-4000-8000-000000000999',
      'not-an-id',
      key.key.id.toUpperCase(),
      '%00',
      `${key.key.id}%20`,
      "1'%20OR%201=1--",
      '__proto__',
    ]
    const operations: [string, string, unknown?][] = [
      ['DELETE', ''],
      ['PATCH', '', { name: 'mine' }],
      ['POST', '/roll'],
    ]
    const tokens = new Set<string>()
    for (const id of ids) {
      for (const [method, end, body] of operations) {
        const response = await door.ask(method, `/v1/api-keys/${id}${end}`, {
          token: caller,
          body,
          headers: { 'x-request-id': 'r' },
        })
        expect(response.status).toBe(404)
        expect(response.headers.get('x-error-code')).toBe('NOT_FOUND')
        tokens.add(
          (await response.text()).replaceAll(/has the id \\"(?:[^"\\]|\\[^"])*\\"/g, 'has the id'),
        )
      }
    }
    expect(tokens.size).toBe(1)
    expect(JSON.parse([...tokens][0]!)).toMatchObject({
      error: { code: 'NOT_FOUND', status: 404, retry: { retryable: false } },
    })
    expect((await door.get('/v1/account', foreignToken)).status).toBe(200)
    expect(foreign.key.name).toBeNull()
    const unreadable = await door.ask('DELETE', '/v1/api-keys/%zz', { token: caller })
    expect({
      status: unreadable.status,
      errorCode: unreadable.headers.get('x-error-code'),
    }).toEqual({ status: 404, errorCode: 'NOT_FOUND' })
  })
})

describe('PATCH /v1/api-keys/{id}: restrictions', () => {
  test('a change touches what it names and nothing else', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const key = await keyOf(
      await create(door, caller, {
        name: 'a',
        read_only: true,
        allowed_ips: ['203.0.113.7'],
        allowed_domains: ['Exämple.com', 'exämple.COM'],
      }),
    )
    expect(key).toMatchObject({
      allowed_ips: ['203.0.113.7/32'],
      allowed_domains: ['xn--exmple-cua.com'],
    })
    const patch = async (body: unknown) =>
      keyOf(await door.ask('PATCH', `/v1/api-keys/${key.id}`, { token: caller, body }))
    const { plain_token: _, ...before } = key
    expect(await patch({})).toEqual(before as never)
    expect(await patch({ name: 'b' })).toEqual({ ...before, name: 'b' } as never)
    expect(
      await patch({ name: null, allowed_ips: [], allowed_domains: null, read_only: false }),
    ).toMatchObject({
      name: null,
      allowed_ips: [],
      allowed_domains: [],
      read_only: false,
    })
    expect(await patch({ expires_at: '2026-12-01T01:00:00+01:00' })).toMatchObject({
      expires_at: '2026-12-01T00:00:00Z',
    })
    expect(await patch({ expires_at: null })).toMatchObject({ expires_at: null })
  })

  test('a key is answered 401 from the moment it expires', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const { plain_token: createdToken } = await keyOf(
      await create(door, caller, { expires_at: '2026-11-20T15:01:00Z' }),
    )
    door.clock.set(at('2026-11-20T15:00:59Z'))
    expect((await door.get('/probe/free', createdToken)).status).toBe(200)
    door.clock.set(at('2026-11-20T15:01:00Z'))
    expect((await door.get('/probe/free', createdToken)).status).toBe(401)
  })

  test('a read-only key reads everywhere and changes nothing', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const { plain_token: reader } = await keyOf(await create(door, caller, { read_only: true }))
    expect((await door.get('/v1/api-keys', reader)).status).toBe(200)
    expect((await door.ask('HEAD', '/probe/counted', { token: reader })).status).toBe(200)
    for (const [method, path] of [
      ['POST', '/v1/api-keys'],
      ['POST', '/probe/counted'],
      ['PATCH', '/v1/api-keys/x'],
      ['DELETE', '/v1/api-keys/x'],
      ['POST', '/v1/api-keys/x/roll'],
    ] as const) {
      const response = await door.ask(method, path, { token: reader })
      expect({
        path,
        status: response.status,
        errorCode: response.headers.get('x-error-code'),
      }).toEqual({ path, status: 403, errorCode: 'KEY_READ_ONLY' })
    }
  })

  test.each<[string[], string, number]>([
    [['203.0.113.0/24'], '203.0.113.255', 200],
    [['203.0.113.0/24'], '203.0.114.0', 403],
    [['203.0.113.0/24'], '::ffff:203.0.113.9', 200],
    [['203.0.113.9'], '203.0.113.9', 200],
    [['203.0.113.9'], '203.0.113.8', 403],
    [['2001:db8:1::/48'], '2001:db8:1:ffff::1', 200],
    [['2001:db8:1::/48'], '2001:db8:2::1', 403],
    [['2001:db8::1'], '2001:db8::1', 200],
    [['::ffff:203.0.113.0/120'], '203.0.113.9', 200],
    [['::ffff:203.0.113.0/120'], '203.0.112.9', 403],
    [['10.0.0.0/8', '2001:db8::/32'], '2001:db8::7', 200],
    [['0.0.0.0/0'], '2001:db8::7', 403],
    [['10.0.0.0/8'], 'no address', 403],
  ])('a key for %p is answered from %s with %p', async (allowed, address, status) => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const { plain_token: bound } = await keyOf(await create(door, caller, { allowed_ips: allowed }))
    door.address = address
    const response = await door.get('/probe/free', bound)
    expect(response.status).toBe(status)
    if (status === 403) expect(response.headers.get('x-error-code')).toBe('IP_NOT_ALLOWED')
  })

  test.each<[Record<string, string>, number]>([
    [{ origin: 'https://example.com' }, 200],
    [{ origin: 'https://desk.example.com:8443' }, 200],
    [{ origin: 'https://EXAMPLE.com' }, 200],
    [{ referer: 'https://example.com/prices?x=1' }, 200],
    [{ origin: 'https://notexample.com' }, 403],
    [{ origin: 'https://example.com.evil.test' }, 403],
    [{ origin: 'https://evil.test', referer: 'https://example.com/' }, 403],
    [{ origin: 'https://evil.test/?https://example.com' }, 403],
    [{ origin: 'https://example.com@evil.test' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'example.com' }, 403],
    [{}, 403],
  ])('a key for example.com is answered with %j: %j', async (headers, status) => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const { plain_token: bound } = await keyOf(
      await create(door, caller, { allowed_domains: ['example.com'] }),
    )
    const response = await door.get('/probe/free', bound, headers)
    expect(response.status).toBe(status)
    if (status === 403) expect(response.headers.get('x-error-code')).toBe('DOMAIN_NOT_ALLOWED')
  })
})

test('no body, header, log line or byte of the database ever holds a token', async () => {
  const path = databasePath()
  const door = openFrontDoor({ path })
  const tokens = new Set<string>([door.adminToken])
  const { token: caller, account, key } = door.open('starter')
  tokens.add(caller)
  const routes: string[] = []
  const ask = async (
    method: string,
    url: string,
    options: Parameters<FrontDoor['ask']>[2] = {},
  ) => {
    const response = await door.ask(method, url, { token: caller, ...options })
    const text = await response.text()
    const body =
      text === '' ? {} : (JSON.parse(text) as { data?: { api_key?: Key; admin_token?: string } })
    const shown = [body.data?.api_key?.plain_token, body.data?.admin_token].filter(
      token => token !== undefined,
    )
    for (const token of shown) tokens.add(token)
    // A secret that is shown once appears in its field, and nowhere else in the response.
    routes.push(
      shown.reduce((rest, token) => rest.replace(token, ''), text),
      JSON.stringify([...response.headers]),
    )
    return body.data?.api_key
  }
  const operator = {
    token: undefined,
    headers: { authorization: `Bearer ${door.adminToken}` },
  } as never as Parameters<FrontDoor['ask']>[2]
  const created = await ask('POST', '/v1/api-keys', {
    body: { name: 'a' },
    headers: { 'idempotency-key': caller },
  })
  await ask('POST', '/v1/api-keys', { body: { name: 'a' }, headers: { 'idempotency-key': caller } })
  await ask('POST', `/v1/api-keys/${created!.id}/roll`, {
    body: { overlap_seconds: 60 },
    headers: { 'idempotency-key': 'x' },
  })
  await ask('POST', '/v1/api-keys', { body: { name: caller } })
  await ask('POST', '/v1/api-keys', { body: { allowed_ips: [`${'x'.repeat(170)}${caller}`] } })
  await ask('GET', `/probe/counted?answer=404&name=${caller}`)
  await ask('POST', '/v1/api-keys', {
    body: { name: [caller], expires_at: caller, allowed_ips: [caller], read_only: caller },
  })
  await ask('POST', '/v1/api-keys', { body: `{"name":"${caller}"` })
  await ask('GET', '/v1/api-keys')
  await ask('GET', '/v1/account')
  await ask('GET', '/v1/usage')
  await ask('GET', '/v1/users/me')
  await ask('GET', `/users/me?api_key=${caller}`, { token: undefined } as never)
  await ask('GET', `/probe/counted?api_key=${caller}&number=${caller}`, {
    token: undefined,
  } as never)
  await ask('GET', `/probe/counted?answer=500&api_key=${caller}`)
  await ask('GET', `/v1/analytics/performance?range=${caller}&api_key=${caller}`)
  await ask('GET', `/v1/analytics/performance?api_key=${caller}`, { token: undefined } as never)
  await ask('DELETE', `/v1/api-keys/${caller}`)
  await ask('POST', `/v1/api-keys/${caller}/roll`)
  await ask('GET', '/v1/account', { headers: { authorization: `Basic ${caller}` } })
  await ask('GET', `/admin/v1/accounts?q=${caller}&page=${caller}`, operator)
  await ask('POST', '/admin/v1/accounts', {
    ...operator,
    body: { email: 'a@example.com', key_name: caller },
  })
  await ask('POST', '/admin/v1/accounts', { ...operator, body: { email: 'a@example.com' } })
  await ask('GET', '/admin/v1/accounts', operator)
  await ask('GET', `/admin/v1/accounts/${account.account.id}`, operator)
  await ask('POST', `/admin/v1/accounts/${account.account.id}/keys`, operator)
  await ask('POST', `/admin/v1/keys/${key.key.id}/roll`, {
    ...operator,
    body: { overlap_seconds: 60 },
  })
  await ask('POST', '/admin/v1/token/rotate', operator)
  door.services.meter.flush()

  expect(tokens.size).toBe(8)
  const places = {
    bodies: routes.join('\n'),
    log: door.log.join('\n'),
    database: readFileSync(path).toString('latin1'),
    wal: readFileSync(`${path}-wal`).toString('latin1'),
  }
  expect(places.wal.length).toBeGreaterThan(10_000)
  for (const secret of tokens) {
    const forms = [
      secret,
      secret.toUpperCase(),
      Buffer.from(secret, 'hex').toString('latin1'),
      Buffer.from(secret, 'hex').toString('base64'),
    ]
    for (const [place, text] of Object.entries(places)) {
      for (const form of forms) expect(text.includes(form), place).toBe(false)
      // Nor half of one, where a text was cut.
      expect(text.includes(secret.slice(0, 24)), place).toBe(false)
    }
  }
  door.close()
})
