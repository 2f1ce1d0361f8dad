import { describe, expect, test } from 'bun:test'
import { dayMs } from '../../../../../src/lib/time/instant.ts'
import { auditFaults } from '../../../../../src/topics/operator/store/audit.ts'
import { openTestInstance } from '../../../../support/instance/instance.ts'

interface Entry {
  id: number
  at: string
  actor: string
  account_id: string | null
  email: string | null
  action: string
  thing: string
  from: string | null
  outcome: string
  details: Record<string, unknown> | null
  hash: string
}
interface Answer {
  data: {
    entries: Entry[]
    meta: { total: number }
    token: { id: string; plain_token: string; role: string }
    tokens: { id: string; name: string | null; role: string; revoked_at: string | null }[]
  }
  error: { code: string; roles: string[] }
}

/** An instance with the operator's own token and functions that make requests with any token. */
function withOperator(flags: Record<string, string> = {}) {
  const instance = openTestInstance(flags)
  const first = instance.services.adminTokens.rotate()
  const admin = async (method: string, path: string, body?: unknown, token = first) => {
    const answer = await instance.send(method, `/admin/v1${path}`, body, undefined, {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const entries = async (query = '') =>
    (await admin('GET', `/audit${query}`)).body.data.entries.map(entry => entry)
  return { ...instance, first, admin, entries }
}

const observations = [{ code: 'WTI_USD', observed_at: '2026-11-19T15:00:00Z', price: 71.23 }]

describe('the audit trail', () => {
  test('the audit trail records who changed what and does not record reads', async () => {
    const { admin, entries } = withOperator()
    await admin('GET', '/series')
    await admin('POST', '/observations', { observations })
    await admin('POST', '/observations/compare', { observations })
    await admin('PATCH', '/values', {
      code: 'WTI_USD',
      observed_at: '2026-11-19T15:00:00Z',
      price: 71.2,
      reason: 'typing error',
    })
    await admin('PATCH', '/values', { code: 'WTI_USD' })
    expect(await entries()).toMatchObject([
      {
        id: 2,
        at: '2026-11-20T15:00:00Z',
        actor: 'operator',
        action: 'PATCH /admin/v1/values',
        thing: '/admin/v1/values',
        outcome: '200',
        details: {
          code: 'WTI_USD',
          batch: 2,
          before: 71.23,
          after: 71.2,
          price: 71.2,
          reason: 'typing error',
        },
      },
      { id: 1, action: 'POST /admin/v1/observations', details: { batch: 1, inserted: 1 } },
    ])
    expect((await entries('?thing=wti_usd')).map(({ id }) => id)).toEqual([2])
  })

  test("the audit trail records the fields of an operator's change, before and after", async () => {
    const { admin, entries, key, services } = withOperator()
    key('free', { email: 'ann@example.com' })
    const { id } = services.keys.accountByEmail('ann@example.com')!.account
    const path = `/accounts/${id}`
    await admin('PATCH', path, { email: 'bob@example.com', plan: 'professional' })
    await admin('PATCH', path, { plan: 'professional', suspended: true })
    await admin('PATCH', '/series/WTI_USD', { name: 'Our crude', max: 500 })
    await admin('POST', `${path}/password`, { password: 'correct horse battery staple' })
    await admin('POST', `${path}/credits`, { requests: 1000, reason: 'call ann@example.com' })
    const changes = (await entries()).reverse().map(({ details }) => details)
    expect(changes[0]).toMatchObject({
      id,
      email: '(not recorded)',
      plan: 'free → professional',
    })
    expect(changes[1]).toMatchObject({ plan: 'professional', suspended: 'true' })
    expect(changes[2]).toMatchObject({
      name: expect.stringMatching(/ → Our crude$/),
      max: expect.stringMatching(/^\d+ → 500$/),
    })
    expect(changes[3]).toMatchObject({ password: '(not recorded)' })
    expect(changes[4]).toMatchObject({ reason: '(not recorded)' })
    expect(JSON.stringify(changes)).not.toMatch(/example\.com|horse/)
  })

  test('the audit trail records days and large numbers, and no phone number in a text', async () => {
    const { admin, entries, key, services } = withOperator()
    key('free', { email: 'ann@example.com' })
    const { id } = services.keys.accountByEmail('ann@example.com')!.account
    await admin('PUT', '/feeds/ecb', { since: '2021-01-01' })
    const credits = { requests: 10_000_000, expires_at: '2027-11-20T00:00:00+01:00' }
    await admin('POST', `/accounts/${id}/credits`, { ...credits, reason: 'asked' })
    const reason = 'asked by phone, +49 170 1234567'
    await admin('POST', `/accounts/${id}/credits`, { requests: 1, reason })
    expect((await entries()).reverse()).toMatchObject([
      { details: { since: '2021-01-01' } },
      { details: { requests: 10000000, expires_at: credits.expires_at, reason: 'asked' } },
      { details: { requests: 1, reason: '(not recorded)' } },
    ])
  })

  test('the audit trail has nothing of a change with a field that the operation does not have', async () => {
    const { admin, entries, key, services } = withOperator()
    key('free', { email: 'ann@example.com' })
    const { id } = services.keys.accountByEmail('ann@example.com')!.account
    const before = await entries()
    const change = { plan: 'professional', quota: 5, 'bob@example.com': 'x' }
    expect((await admin('PATCH', `/accounts/${id}`, change)).status).toBe(422)
    expect(await entries()).toEqual(before)
  })

  test('the audit trail records which series were added', async () => {
    const { admin, entries } = withOperator()
    const terms = { category: 'oil', unit: 'barrel', currency: 'USD', cadence: 'daily' }
    const series = ['DESK_A_USD', 'DESK_B_USD'].map(code => ({ code, name: code, ...terms }))
    expect((await admin('POST', '/series', { series })).status).toBe(201)
    expect(await entries('?thing=desk_b_usd')).toMatchObject([
      {
        action: 'POST /admin/v1/series',
        details: { codes: 'DESK_A_USD DESK_B_USD', added: 2 },
      },
    ])
  })

  test('names keys, people and their account, and finds them by address', async () => {
    const { key, send, services, entries } = withOperator()
    const token = key('enterprise', { email: 'ann@example.com' })
    const created = await send('POST', '/v1/api-keys', { name: 'second' }, token, {
      'content-type': 'application/json',
    })
    expect(created.status).toBeLessThan(300)
    const account = services.keys.accountByEmail('ann@example.com')!
    const { id } = account.account
    await services.signIn.setPassword(account, 'correct horse battery staple')
    await services.signIn.withPassword('ann@example.com', 'wrong', '203.0.113.7')
    await services.signIn.withPassword(
      'Ann@example.com',
      'correct horse battery staple',
      '203.0.113.7',
    )
    await services.signIn.withPassword('nobody@example.com', 'wrong', '203.0.113.7')
    const matching = await entries('?actor=ann@example.com')
    expect(matching).toMatchObject([
      {
        actor: `person ${id}`,
        action: 'sign in with a password',
        from: '203.0.113.7',
        outcome: 'done',
      },
      { actor: 'anonymous', thing: `account ${id}`, outcome: 'invalid' },
      { actor: expect.stringMatching(/^key /), account_id: id, email: 'ann@example.com' },
    ])
    expect(await entries()).toHaveLength(3)
  })

  test('has no secret and no address of a person in it', async () => {
    const { admin, services, key, send, first } = withOperator()
    const token = key('enterprise', { email: 'ann@example.com' })
    const json = { 'content-type': 'application/json' }
    const created = await admin('POST', '/tokens', { name: 'ci', role: 'data' })
    await admin('POST', '/accounts', { email: 'bob@example.com' })
    const rolled = await send('POST', '/v1/api-keys', { name: 'second' }, token, json)
    const texts = JSON.stringify(services.audit.list({}, 100, 0))
    expect(texts).toContain('/v1/api-keys')
    const secrets = JSON.stringify(await rolled.json()).match(/[0-9a-f]{64}/g) ?? []
    expect(secrets.length).toBeGreaterThan(0)
    for (const secret of [
      ...secrets,
      token,
      first,
      created.body.data.token.plain_token,
      'bob@example.com',
      'ann@example.com',
    ])
      expect(texts.includes(secret), secret).toBe(false)
  })

  test('the audit trail is a hash chain that reveals every change and prevents accidental changes', async () => {
    const { admin, services } = withOperator()
    for (let n = 0; n < 5; n += 1) await admin('POST', '/observations', { observations })
    const { db } = services
    expect(auditFaults(db)).toEqual([])
    expect(() => db.run("UPDATE audit_entries SET actor = 'nobody' WHERE id = 2")).toThrow(
      'not changed',
    )
    expect(() => db.run('DELETE FROM audit_entries WHERE id = 2')).toThrow('not taken out')
    db.run('DROP TRIGGER audit_entries_stay')
    db.run('DROP TRIGGER audit_entries_last')
    const broken = (sql: string): string[] => {
      db.run('SAVEPOINT whole')
      db.run(sql)
      const faults = auditFaults(db)
      db.run('ROLLBACK TO whole')
      db.run('RELEASE whole')
      return faults
    }
    for (const [column, value] of [
      ['noted_at', 'noted_at + 1'],
      ['actor', "'operatos'"],
      ['account_id', "''"],
      ['action', "action || ' '"],
      ['thing', "'/admin/v1/observation'"],
      ['place', 'NULL'],
      ['outcome', "'201'"],
      ['details', 'NULL'],
      ['hash', 'zeroblob(32)'],
    ])
      expect(broken(`UPDATE audit_entries SET ${column} = ${value} WHERE id = 3`)).toEqual([
        expect.stringContaining('entry 3'),
      ])
    expect(broken('DELETE FROM audit_entries WHERE id = 3')).toEqual([
      expect.stringContaining('between entry 2 and entry 4'),
    ])
    expect(broken('DELETE FROM audit_entries WHERE id = 5')).toEqual([
      'the audit trail lacks its end, after entry 4',
    ])
    expect(broken('DELETE FROM audit_entries')).toEqual([
      'the audit trail lacks its end, after entry 0',
    ])
  })

  test('the audit trail is retained for the configured period and can be verified afterwards', async () => {
    const { admin, services, clock, entries } = withOperator({ 'audit.keep_days': '30' })
    await admin('POST', '/observations', { observations })
    clock.advance(20 * dayMs)
    await admin('POST', '/observations', { observations })
    clock.advance(11 * dayMs)
    services.audit.prune()
    expect((await entries()).map(({ id }) => id)).toEqual([2])
    expect(auditFaults(services.db)).toEqual([])
    clock.advance(30 * dayMs)
    services.audit.prune()
    expect(await entries()).toEqual([])
    expect(auditFaults(services.db)).toEqual([])
    await admin('POST', '/observations', { observations })
    expect((await entries()).map(({ id }) => id)).toEqual([3])
    expect(auditFaults(services.db)).toEqual([])
  })
})

describe('admin tokens', () => {
  test('admin tokens grant only the permissions of their role', async () => {
    const { admin } = withOperator()
    const asks = [
      ['GET', '/series', undefined],
      ['POST', '/observations', { observations }],
      ['POST', '/observations/compare', { observations }],
      ['GET', '/accounts', undefined],
      ['POST', '/accounts', { email: 'bob@example.com' }],
      ['GET', '/tokens', undefined],
      ['POST', '/tokens', { name: 'more', role: 'all' }],
    ] as const
    const may: Record<string, number[]> = {
      read: [200, 403, 200, 200, 403, 200, 403],
      data: [200, 200, 200, 403, 403, 200, 403],
      people: [403, 403, 403, 200, 201, 200, 403],
      all: [200, 200, 200, 200, 422, 200, 201],
    }
    for (const [role, expected] of Object.entries(may)) {
      const { plain_token } = (await admin('POST', '/tokens', { name: `a ${role}`, role })).body
        .data.token
      const statuses: number[] = []
      for (const [method, path, body] of asks)
        statuses.push((await admin(method, path, body, plain_token)).status)
      expect({ role, statuses }).toEqual({ role, statuses: expected })
    }
  })

  test('are named in the trail and in batches, listed, and end when they are revoked', async () => {
    const { admin, entries } = withOperator()
    const { id, plain_token } = (await admin('POST', '/tokens', { name: 'ci', role: 'data' })).body
      .data.token
    await admin('POST', '/observations', { observations }, plain_token)
    expect((await entries('?actor=ci')).map(({ actor }) => actor)).toEqual(['operator ci'])
    const refused = await admin('GET', '/accounts', undefined, plain_token)
    expect(refused.body.error).toMatchObject({
      code: 'ADMIN_ROLE_MISSING',
      roles: ['read', 'people', 'all'],
    })
    expect((await admin('DELETE', `/tokens/${id}`)).status).toBe(200)
    expect((await admin('GET', '/series', undefined, plain_token)).status).toBe(401)
    const { tokens } = (await admin('GET', '/tokens')).body.data
    expect(tokens).toContainEqual(
      expect.objectContaining({ name: null, role: 'all', revoked_at: null }),
    )
    expect(tokens).toContainEqual(
      expect.objectContaining({ name: 'ci', role: 'data', revoked_at: '2026-11-20T15:00:00Z' }),
    )
    expect((await admin('DELETE', '/tokens/none')).status).toBe(404)
    expect((await admin('POST', '/tokens', { name: 'x', role: 'boss' })).status).toBe(422)
  })
})
