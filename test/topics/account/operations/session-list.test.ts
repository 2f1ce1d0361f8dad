import { expect, test } from 'bun:test'
import { codeOf, people } from '../../../support/topics/people.ts'

interface Row {
  id: string
  current: boolean
  method: string
}

test('lists the sign-ins of an account, ends one, and ends all others', async () => {
  const { ask, person, signedIn } = people()
  const [ann, bob] = [person('ann'), person('bob')]
  const tokens = [await signedIn(ann), await signedIn(ann), await signedIn(ann)]
  const foreign = await signedIn(bob)
  const list = async (token: string) => {
    const answer = await ask('GET', '/v1/auth/sessions', `Bearer ${token}`)
    return (answer.body.data as { sessions: Row[] }).sessions
  }
  const lasts = async (token: string) =>
    (await ask('GET', '/v1/users/me', `Bearer ${token}`)).status === 200

  const mine = await list(tokens[0]!)
  expect(mine).toHaveLength(3)
  expect(mine.filter(({ current }) => current)).toHaveLength(1)
  const second = (await list(tokens[1]!)).find(({ current }) => current)!
  const [bobs] = await list(foreign)

  const stolen = await ask('DELETE', `/v1/auth/sessions/${bobs!.id}`, `Bearer ${tokens[0]}`)
  expect(stolen.status).toBe(404)
  expect(await lasts(foreign)).toBe(true)

  const ended = await ask('DELETE', `/v1/auth/sessions/${second.id}`, `Bearer ${tokens[0]}`)
  expect({ status: ended.status, data: ended.body.data }).toEqual({
    status: 200,
    data: { revoked: 1 },
  })
  expect([await lasts(tokens[0]!), await lasts(tokens[1]!), await lasts(tokens[2]!)]).toEqual([
    true,
    false,
    true,
  ])
  const others = await ask('DELETE', '/v1/auth/sessions', `Bearer ${tokens[0]}`)
  expect(others.body.data).toEqual({ revoked: 1 })
  expect({
    first: await lasts(tokens[0]!),
    third: await lasts(tokens[2]!),
    foreign: await lasts(foreign),
  }).toEqual({ first: true, third: false, foreign: true })
})

test('a refreshed sign-in stays the one it is', async () => {
  const { ask, person, signedIn } = people()
  const first = await signedIn(person('ann'))
  const before = (await ask('GET', '/v1/auth/sessions', `Bearer ${first}`)).body.data
  const refreshed = await ask('POST', '/v1/auth/session/refresh', `Bearer ${first}`)
  const token = (refreshed.body.data as { token: string }).token
  const after = (await ask('GET', '/v1/auth/sessions', `Bearer ${token}`)).body.data
  const ids = (data: unknown) => (data as { sessions: Row[] }).sessions.map(({ id }) => id)
  expect(ids(after)).toEqual(ids(before))
})

test('an API key has no sign-ins', async () => {
  const { ask, person } = people()
  const answer = await ask('GET', '/v1/auth/sessions', `Token ${person('ann').key}`)
  expect({ status: answer.status, code: codeOf(answer) }).toEqual({
    status: 401,
    code: 'UNAUTHORIZED',
  })
})
