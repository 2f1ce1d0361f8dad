import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import { interfaceRows } from '../support/interface/interface.ts'
import { startInstance } from '../support/interface/packages.ts'

/** A member of an organization who may only read, as the demo data has one. */
const reader = 'reader@evaluation.example'

/**
 * Requests about the user's own sign-in, and reads with other methods than GET: everything else is
 * refused.
 */
const allowed = new Set([
  'POST /v1/prices/batch',
  'POST /v1/alerts/backtest',
  'POST /v1/formulas/preview',
  'POST /v1/alerts/test',
  'POST /v1/alerts/{id}/test',
  'POST /v1/diesel-prices/stations',
  'POST /mcp',
  'POST /grafana/search',
  'POST /grafana/query',
  'POST /grafana/metrics',
  'POST /grafana/variable',
  'POST /grafana/annotations',
  // How the console looks to this person.
  'PATCH /v1/display_preferences',
  // Leaving, and joining another organization.
  'DELETE /organizations/members/{id}',
  'POST /organizations/invitations/{id}/confirm_accept',
])

describe('a read-only member of an organization, on the binary', () => {
  let instance: Wellhead
  let session = ''
  beforeAll(async () => {
    instance = await startInstance({ world: { size: 'small' } })
    const operator = { authorization: `Bearer ${instance.adminToken}` }
    const found = await json<{ data: { accounts: { id: string }[] } }>(
      `/admin/v1/accounts?q=${reader}`,
      { headers: operator },
    )
    const link = await json<{ data: { sign_in_url: string } }>(
      `/admin/v1/accounts/${found.data.accounts[0]!.id}/link`,
      { method: 'POST', headers: { ...operator, 'content-type': 'application/json' }, body: '{}' },
    )
    const link_token = new URL(link.data.sign_in_url, instance.url).searchParams.get('token')
    const signedIn = await json<{ data: { token: string } }>('/v1/auth/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ link_token }),
    })
    session = signedIn.data.token
  }, 120_000)
  afterAll(async () => {
    await instance?.stop()
  })

  const json = async <T>(path: string, init: RequestInit): Promise<T> =>
    (await (await fetch(instance.url + path, init)).json()) as T
  const send = (method: string, path: string, body?: unknown) =>
    fetch(instance.url + path, {
      method,
      headers: {
        authorization: `Bearer ${session}`,
        accept: 'application/json, text/event-stream, */*',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

  test.each([
    '/v1/prices/latest?by_code=WTI_USD',
    '/v1/prices/historical?by_code=WTI_USD&format=csv',
    '/v1/prices/past_year?by_code=WTI_USD&interval=1d',
    '/v1/export/prices?codes=WTI_USD&format=csv',
    '/v1/alerts',
    '/v1/webhooks',
    '/v1/account',
  ])('reads %s', async path => {
    const answer = await send('GET', path)
    expect({ path, status: answer.status, isEmpty: (await answer.text()) === '' }).toEqual({
      path,
      status: 200,
      isEmpty: false,
    })
  })

  test('asks for several prices at once, and uses the tools of assistants that read', async () => {
    const batch = await send('POST', '/v1/prices/batch', { codes: ['WTI_USD'] })
    expect(batch.status).toBe(200)
    const call = async (name: string, input: object) => {
      const answer = await send('POST', '/mcp', {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: input },
      })
      const { result } = (await answer.json()) as {
        result: { isError?: boolean; content: { text: string }[] }
      }
      return { isError: result.isError ?? false, text: result.content[0]!.text }
    }
    expect((await call('latest_prices', { codes: ['WTI_USD'] })).isError).toBe(false)
    const alert = { code: 'WTI_USD', operator: 'greater_than', value: 80, confirm: true }
    expect(await call('create_alert', alert)).toEqual({
      isError: true,
      text: expect.stringContaining('your role is read_only'),
    })
  })

  test('is refused by every operation that changes something, whatever its body', async () => {
    const changing = interfaceRows.filter(
      ({ method, path, access, sample }) =>
        method !== 'GET' &&
        access.startsWith('key') &&
        access !== 'keyless' &&
        sample &&
        !allowed.has(`${method} ${path}`),
    )
    expect(changing.length).toBeGreaterThan(40)
    const accepted: string[] = []
    for (const { method, path, sample, body } of changing) {
      const answer = await send(method, sample!, body)
      const text = await answer.text()
      if (answer.status !== 403 || !text.includes('read_only'))
        accepted.push(`${method} ${path}: ${answer.status} ${text.slice(0, 120)}`)
    }
    expect(accepted).toEqual([])
  }, 120_000)
})
