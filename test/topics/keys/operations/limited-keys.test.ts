import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isoInstant } from '../../../../src/lib/time/instant.ts'
import { scopeOf } from '../../../../src/plans/roles/scopes.ts'
import { type DemoInstance, demoInstance } from '../../../support/instance/demo-instance.ts'
import { openFrontDoor, startAt } from '../../../support/instance/front-door.ts'
import { type Row, interfaceRows as rows } from '../../../support/interface/interface.ts'

const limits: [string, Record<string, unknown>][] = [
  ['expires', { expires_at: isoInstant(startAt + 3_600_000) }],
  ['is read-only', { read_only: true }],
  ['is bound to networks', { allowed_ips: ['0.0.0.0/0', '::/0'] }],
  ['is bound to a domain', { allowed_domains: ['example.com'] }],
  ['has scopes', { scopes: ['account', 'prices', 'webhooks'] }],
]
const page = { origin: 'https://example.com' }

describe('a key that', () => {
  describe.each(limits)('%s', (_, limit) => {
    test('a restricted API key cannot lift its own limits and cannot create, roll or revoke keys', async () => {
      const door = openFrontDoor()
      const { token, key } = door.open()
      const created = (await (
        await door.ask('POST', '/v1/api-keys', { token, body: limit })
      ).json()) as { data: { api_key: { id: string; plain_token: string } } }
      const { id, plain_token: limited } = created.data.api_key
      const free = {
        expires_at: null,
        read_only: false,
        allowed_ips: null,
        allowed_domains: null,
        scopes: null,
      }
      const tries: [string, string, unknown?][] = [
        ['PATCH', `/v1/api-keys/${id}`, free],
        ['POST', '/v1/api-keys', {}],
        ['POST', `/v1/api-keys/${key.key.id}/roll`, {}],
        ['POST', `/v1/api-keys/${id}/roll`, {}],
        ['DELETE', `/v1/api-keys/${key.key.id}`],
      ]
      for (const [method, path, body] of tries) {
        const answer = await door.ask(method, path, { token: limited, headers: page, body })
        const code = answer.headers.get('x-error-code')
        expect({ path, status: answer.status, code }).toEqual({
          path,
          status: 403,
          code: limit.read_only ? 'KEY_READ_ONLY' : 'KEY_LIMITED',
        })
        expect(await answer.text()).not.toMatch(/[0-9a-f]{64}/)
      }
      expect((await door.get('/v1/account', limited, page)).status).toBe(200)
      expect(door.services.keys.byId(id)!.key).toMatchObject({ revokedAt: null })
      expect(door.services.keys.find(token)?.account.keys).toHaveLength(2)
    })
  })
})

describe('scopes', () => {
  test('API key scopes are stored with the key and can be changed or removed by an unrestricted key', async () => {
    const door = openFrontDoor()
    const { token } = door.open()
    const answer = await door.ask('POST', '/v1/api-keys', {
      token,
      body: { scopes: ['prices', 'alerts', 'prices'] },
    })
    const { id, scopes } = (
      (await answer.json()) as { data: { api_key: { id: string; scopes: string[] } } }
    ).data.api_key
    expect(scopes).toEqual(['prices', 'alerts'])
    door.services.keys.reload()
    expect(door.services.keys.byId(id)!.key.scopes).toEqual(['prices', 'alerts'])
    await door.ask('PATCH', `/v1/api-keys/${id}`, { token, body: { scopes: [] } })
    expect(door.services.keys.byId(id)!.key.scopes).toEqual([])
  })

  test('unknown API key scopes are refused with a list of all valid scopes', async () => {
    const door = openFrontDoor()
    const { token } = door.open()
    const answer = await door.ask('POST', '/v1/api-keys', { token, body: { scopes: ['price'] } })
    expect(answer.status).toBe(422)
    expect(await answer.json()).toMatchObject({
      field: 'scopes.0',
      message: expect.stringContaining('prices, futures'),
    } as never)
  })
})

describe('over all routes', () => {
  let copy: DemoInstance
  beforeAll(() => {
    copy = demoInstance(undefined, {})
  }, 120_000)
  afterAll(() => copy.remove())

  const tokenWith = (options: Record<string, unknown>): string => {
    const { keys } = copy.running.services
    return keys.addKey(keys.find(copy.apiKey)!.account, options).token
  }
  const sampled = rows.filter(
    row => row.sample !== null && ['key', 'key-header-only'].includes(row.access),
  )
  const ask = (row: Row, key: string) =>
    copy.ask(row.method, row.sample!, { key, ...(row.body !== undefined && { body: row.body }) })

  test('a key with a single scope is refused by every route of other scopes and accepted by its own routes', async () => {
    const key = tokenWith({ scopes: ['prices'] })
    for (const row of sampled) {
      const scope = scopeOf(row.path)
      const refused = (await ask(row, key)).headers.get('x-error-code') === 'KEY_SCOPE_MISSING'
      expect({ method: row.method, path: row.path, refused }).toEqual({
        method: row.method,
        path: row.path,
        refused: scope !== undefined && scope !== 'prices',
      })
    }
  }, 60_000)

  test('a spreadsheet request cannot exceed the scopes of its API key', async () => {
    const key = tokenWith({ scopes: ['alerts'] })
    const answer = await copy.ask('GET', '/v1/excel/run?path=/v1/prices/latest', { key })
    expect(await answer.text()).toContain('KEY_SCOPE_MISSING')
  })

  test('an expiring key reaches no key, person, payment or secret', async () => {
    const { clock } = copy.running.services
    const key = tokenWith({ expiresAt: clock.now() + 3_600_000 })
    const managing = sampled.filter(
      row =>
        /webhook-secret|rotate_|^\/v1\/auth\//.test(row.path) ||
        (row.method !== 'GET' && /^\/(v1\/api-keys|billing|organizations)/.test(row.path)),
    )
    expect(managing.length).toBeGreaterThan(10)
    for (const row of managing) {
      const answer = await ask(row, key)
      const code = answer.headers.get('x-error-code')
      expect({ method: row.method, path: row.path, code }).toEqual({
        method: row.method,
        path: row.path,
        code: 'KEY_LIMITED',
      })
    }
  })
})

describe('where a recent sign-in is required', () => {
  test('an API key cannot manage keys where a recent sign-in is required, but its other requests succeed', async () => {
    const door = openFrontDoor({ flags: { 'sessions.fresh_sign_in': '10m' } })
    const { token } = door.open()
    const answer = await door.ask('POST', '/v1/api-keys', { token, body: {} })
    expect({ status: answer.status, errorCode: answer.headers.get('x-error-code') }).toEqual({
      status: 403,
      errorCode: 'FRESH_SIGN_IN_REQUIRED',
    })
    expect((await door.get('/v1/account', token)).status).toBe(200)
  })

  test('a session does so for as long as it is fresh, whatever refreshes it', async () => {
    const door = openFrontDoor({ flags: { 'sessions.fresh_sign_in': '10m' } })
    const { account } = door.open()
    const { sessions } = door.services
    const { token, session } = await sessions.issue(account, 'password')
    sessions.write(session)
    const make = (bearer: string) =>
      door.ask('POST', '/v1/api-keys', {
        headers: { authorization: `Bearer ${bearer}` },
        body: {},
      })
    door.clock.advance(600_000 - 1)
    expect((await make(token)).status).toBe(200)
    const refreshed = (await sessions.refresh(session))!
    door.clock.advance(1)
    const stale = await make(refreshed.token)
    expect(stale.headers.get('x-error-code')).toBe('FRESH_SIGN_IN_REQUIRED')
  })
})
