import { describe, expect, test } from 'bun:test'
import {
  createRecentRequests,
  type RecentRequest,
  requestsOfAccountMax,
} from '../../../../src/topics/keys/service/recent-requests.ts'
import { type Asked, codeOf, people } from '../../../support/topics/people.ts'

interface Row {
  key: { id: string; name: string | null } | null
  method: string
  route: string
  status: number
  ms: number
  request_id: string
  refusal: string | null
}

const rowsOf = ({ body }: Asked) => (body.data as { requests: Row[] }).requests

describe('GET /v1/account/requests', () => {
  test('lists what the account requested, newest first, with the body of refusals, and nothing of others', async () => {
    const { ask, person } = people()
    const [ann, bob] = [person('ann'), person('bob')]
    await ask('GET', '/v1/usage', `Bearer ${ann.key}`)
    const refused = await ask('GET', '/v1/prices/latest?by_code=NOT_A_CODE', `Bearer ${ann.key}`)
    await ask('GET', '/v1/users/me', `Bearer ${bob.key}`)
    const rows = rowsOf(await ask('GET', '/v1/account/requests', `Bearer ${ann.key}`))
    expect(rows.map(({ method, route, status }) => [method, route, status])).toEqual([
      ['GET', '/v1/prices/latest', refused.status],
      ['GET', '/v1/usage', 200],
    ])
    expect(rows[0]!.refusal).toContain('NOT_A_CODE')
    expect(rows[0]!.request_id).toBe(refused.headers.get('x-request-id')!)
    expect(rows[1]).toMatchObject({ refusal: null, key: { id: expect.any(String), name: null } })
  })

  test('is filtered by outcome, route and key, and names what it takes', async () => {
    const { ask, person } = people()
    const ann = person('ann')
    await ask('GET', '/v1/usage', `Bearer ${ann.key}`)
    await ask('GET', '/v1/prices/latest?by_code=NOT_A_CODE', `Bearer ${ann.key}`)
    const routes = async (query: string) =>
      rowsOf(await ask('GET', `/v1/account/requests?${query}`, `Bearer ${ann.key}`)).map(
        ({ route }) => route,
      )
    expect(await routes('outcome=refused')).toEqual(['/v1/prices/latest'])
    expect(await routes('route=usage')).toEqual(['/v1/usage'])
    expect(await routes('key=another')).toEqual([])
    const wrong = await ask('GET', '/v1/account/requests?outcome=bad', `Bearer ${ann.key}`)
    expect({ status: wrong.status, code: codeOf(wrong) }).toEqual({
      status: 400,
      code: 'INVALID_PARAMETER',
    })
  })
})

describe('the requests in memory', () => {
  const request = (at: number): RecentRequest => ({
    at,
    keyId: 'key',
    method: 'GET',
    route: '/v1/usage',
    status: 200,
    durationMs: 1,
    requestId: null,
    refusal: null,
  })

  test('are the last ten thousand of an account', () => {
    const requests = createRecentRequests()
    for (let at = 1; at <= 3 * requestsOfAccountMax; at += 1) requests.note('ann', request(at))
    const kept = requests.of('ann')
    expect(kept).toHaveLength(requestsOfAccountMax)
    expect(kept[0]!.at).toBe(3 * requestsOfAccountMax)
    expect(kept.at(-1)!.at).toBe(2 * requestsOfAccountMax + 1)
  })

  test('of many busy accounts are bounded together, and those of a quiet account stay', () => {
    const requests = createRecentRequests()
    requests.note('quiet', request(1))
    for (let i = 0; i < 200_000; i += 1) requests.note(`busy ${i % 20}`, request(i))
    const total = Array.from({ length: 20 }, (_, i) => requests.of(`busy ${i}`).length)
    expect(total.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(50_000)
    expect(requests.of('quiet')).toHaveLength(1)
  })

  test('of more accounts than there is room for are those of the latest accounts', () => {
    const requests = createRecentRequests()
    for (let i = 0; i < 60_000; i += 1) requests.note(`account ${i}`, request(i))
    expect(requests.of('account 0')).toHaveLength(0)
    expect(requests.of('account 59999')).toHaveLength(1)
  })
})
