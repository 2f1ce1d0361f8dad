import { expect, test } from 'bun:test'
import { minuteMs } from '../../../../../src/lib/time/instant.ts'
import { people } from '../../../../support/topics/people.ts'

test('an operator sees what an account sees, changes nothing, and only for a while', async () => {
  const { ask, person, services, clock } = people()
  const operator = `Bearer ${services.adminTokens.rotate()}`
  const ann = person('ann')
  const { id } = ann.account.account
  const begun = await ask('POST', `/admin/v1/accounts/${id}/look`, operator, { minutes: 10 })
  expect(begun.status).toBe(201)
  const { token, id: impersonationId } = begun.body.data as { token: string; id: string }
  const eyes = `Bearer ${token}`

  const me = await ask('GET', '/v1/users/me', eyes)
  expect({ status: me.status, email: me.body.email }).toEqual({ status: 200, email: ann.email })
  for (const [method, path] of [
    ['POST', '/v1/api-keys'],
    ['PATCH', '/v1/notification_preferences'],
    ['DELETE', '/v1/phone'],
    ['POST', '/v1/auth/refresh'],
  ] as const) {
    const refused = await ask(method, path, eyes, method === 'DELETE' ? undefined : {})
    expect(refused.status, `${method} ${path}`).toBeGreaterThanOrEqual(400)
  }
  const made = await ask('POST', '/v1/api-keys', eyes, { name: 'stolen' })
  expect({ status: made.status, stringify: JSON.stringify(made.body) }).toEqual({
    status: 403,
    stringify: expect.stringContaining('KEY_READ_ONLY'),
  })
  expect((await ask('GET', '/v1/users/me', `Token ${token}`)).status).toBe(401)
  expect((await ask('GET', '/admin/v1/accounts', eyes)).status).toBe(401)

  const { entries } = (await ask('GET', '/admin/v1/audit', operator)).body.data as {
    entries: { action: string; thing: string }[]
  }
  expect(entries[0]).toMatchObject({
    action: 'POST /admin/v1/accounts/:id/look',
    thing: `/admin/v1/accounts/${id}/look`,
  })

  expect((await ask('DELETE', `/admin/v1/looks/${impersonationId}`, operator)).status).toBe(200)
  expect((await ask('GET', '/v1/users/me', eyes)).status).toBe(401)

  const again = await ask('POST', `/admin/v1/accounts/${id}/look`, operator, { minutes: 10 })
  const later = `Bearer ${(again.body.data as { token: string }).token}`
  expect((await ask('GET', '/v1/users/me', later)).status).toBe(200)
  clock.advance(10 * minuteMs)
  expect((await ask('GET', '/v1/users/me', later)).status).toBe(401)
})
