import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DemoInstance, demoInstance } from '../../../../support/instance/demo-instance.ts'

interface Row {
  number: number
  method: string
  path: string
  route: string | null
  status: number
  ms: number
  request_id: string
  key: { id: string; name: string; account: string; is_session: boolean } | null
  operator: string | null
  body: string | null
  refusal: { code: string; message: string; meaning: string | null; answer: string } | null
}

describe('GET /_dev/requests', () => {
  let copy: DemoInstance
  beforeAll(() => {
    copy = demoInstance(undefined, {}, { controls: true })
  })
  afterAll(() => copy.remove())

  const operator = () => ({ key: null, headers: { authorization: `Bearer ${copy.adminToken}` } })
  const logged = async (query = '') => {
    const answer = await copy.ask('GET', `/_dev/requests${query}`, operator())
    expect(answer.status).toBe(200)
    return (await answer.json()) as { requests: Row[]; total: number; kept: number }
  }
  const forget = () => copy.ask('DELETE', '/_dev/requests', operator())

  test('the development request log lists requests newest first with route, status, key and body', async () => {
    await forget()
    const answer = await copy.ask('GET', '/v1/prices/latest?by_code=WTI_USD')
    await answer.text()
    const alert = {
      name: 'over',
      commodity_code: 'WTI_USD',
      condition_operator: 'greater_than',
      condition_value: 500,
    }
    await copy.ask('POST', '/v1/alerts', { body: alert })
    const { requests, total, kept } = await logged()
    expect({ total, kept }).toEqual({ total: 2, kept: 1000 })
    const [made, read] = requests as [Row, Row]
    expect(read).toMatchObject({
      method: 'GET',
      path: '/v1/prices/latest?by_code=WTI_USD',
      route: '/v1/prices/latest',
      status: 200,
      request_id: answer.headers.get('x-request-id'),
      key: { name: 'evaluation', account: 'eval@example.com', is_session: false },
      operator: null,
      body: null,
      refusal: null,
    })
    expect(read.ms).toBeGreaterThanOrEqual(0)
    expect(made).toMatchObject({ method: 'POST', route: '/v1/alerts', status: 201 })
    expect(JSON.parse(made.body!)).toEqual(alert)
  })

  test('explains a refusal, also where no key or no route is behind it', async () => {
    await forget()
    await copy.ask('GET', '/v1/prices/latest?by_code=WTI_USDD')
    await copy.ask('POST', '/v1/alerts', { key: 'no such key', body: { name: 'mine' } })
    await copy.ask('GET', '/v1/nowhere')
    await copy.ask('GET', '/v1/prices/latest?by_code=WTI_USD')
    const { requests } = await logged('?refused=true')
    expect(requests.map(({ status, route }) => [status, route])).toEqual([
      [404, null],
      [401, '/v1/alerts'],
      [400, '/v1/prices/latest'],
    ])
    const [, unknown, code] = requests as [Row, Row, Row]
    expect(code.refusal).toMatchObject({
      code: 'invalid_code',
      meaning: 'A commodity code is not in the catalogue.',
    })
    expect(code.refusal!.message).toContain('WTI_USDD')
    expect(JSON.parse(code.refusal!.answer)).toBeObject()
    // Refused callers are shown with their requests.
    expect(unknown).toMatchObject({ key: null, refusal: { code: expect.any(String) } })
    expect(JSON.parse(unknown.body!)).toEqual({ name: 'mine' })
    expect((await logged('?path=nowhere')).requests).toHaveLength(1)
    expect((await logged('?limit=2')).requests).toHaveLength(2)
  })

  test('the development request log stores no secrets and does not record its own requests', async () => {
    await forget()
    await copy.ask('GET', `/v1/prices/latest?by_code=WTI_USD&api_key=${copy.apiKey}`, { key: null })
    await copy.ask('POST', '/v1/auth/session', {
      key: null,
      body: { email: 'eval@example.com', password: 'open sesame', code: '123456' },
    })
    const { requests } = await logged()
    const text = JSON.stringify(requests)
    for (const secret of [copy.apiKey, 'open sesame', '123456', copy.adminToken])
      expect(text).not.toContain(secret)
    expect(text).toContain('eval@example.com')
    expect(requests).toHaveLength(2)
    expect(requests.some(({ path }) => path.startsWith('/_dev'))).toBe(false)
  })

  test('is the operator’s, and refuses what it cannot follow', async () => {
    expect((await copy.ask('GET', '/_dev/requests')).status).toBe(401)
    for (const [query, parameter] of [
      ['refused=perhaps', 'refused'],
      ['limit=0', 'limit'],
      ['limit=9999', 'limit'],
    ]) {
      const answer = await copy.ask('GET', `/_dev/requests?${query}`, operator())
      expect(answer.status).toBe(400)
      expect(JSON.stringify(await answer.json())).toContain(`"parameter":"${parameter}"`)
    }
  })
})
