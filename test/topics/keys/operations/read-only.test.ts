import { describe, expect, test } from 'bun:test'
import { stateOf } from '../../../support/interface/every-route.ts'
import { type People, people } from '../../../support/topics/people.ts'

/** A read-only key of a person, alongside their own. */
async function readOnlyKey(all: People) {
  const { key, account } = all.person('ann')
  const made = await all.ask('POST', '/v1/api-keys', `Token ${key}`, { read_only: true })
  const { api_key } = made.body.data as { api_key: { plain_token: string } }
  all.record('WTI_USD', [70, 71, 72], all.clock.now(), 86_400_000)
  return { account, readOnly: `Token ${api_key.plain_token}`, own: `Token ${key}` }
}

const price_alert = {
  name: 'WTI above 70',
  commodity_code: 'WTI_USD',
  condition_operator: 'greater_than',
  condition_value: 70,
}

describe('a read-only key', () => {
  test.each([
    ['/v1/prices/batch', { codes: ['WTI_USD'] }],
    ['/v1/alerts/backtest', { price_alert }],
    ['/v1/alerts/test', { commodity_code: 'WTI_USD' }],
    ['/v1/diesel-prices/stations', { lat: 40.7, lng: -74 }],
  ])('reads by POST %s, which changes nothing', async (path, body) => {
    const all = people()
    const { readOnly } = await readOnlyKey(all)
    const answer = await all.ask('POST', path, readOnly, body)
    expect({ status: answer.status, errorCode: answer.headers.get('x-error-code') }).toEqual({
      status: 200,
      errorCode: null,
    })
  })

  test('tests an alert, which sends nothing and changes nothing', async () => {
    const all = people()
    const { readOnly, own } = await readOnlyKey(all)
    const made = await all.ask('POST', '/v1/alerts', own, { price_alert })
    const { id } = (made.body.data ?? made.body) as { id: string }
    const before = stateOf(all.services.db)
    const tested = await all.ask('POST', `/v1/alerts/${id}/test`, readOnly)
    expect({ status: tested.status, errorCode: tested.headers.get('x-error-code') }).toEqual({
      status: 200,
      errorCode: null,
    })
    const { alerts, alert_triggers } = stateOf(all.services.db)
    expect({ alerts, alert_triggers }).toEqual({
      alerts: before.alerts,
      alert_triggers: before.alert_triggers,
    })
  })

  test('uses MCP: it lists tools, reads by them, and is refused where a tool changes something', async () => {
    const all = people()
    const { readOnly, own } = await readOnlyKey(all)
    const speak = async (method: string, params: object = {}, authorization = readOnly) => {
      const answer = await all.ask(
        'POST',
        '/mcp',
        authorization,
        { jsonrpc: '2.0', id: 1, method, params },
        { accept: 'application/json, text/event-stream' },
      )
      expect(answer.status, method).toBe(200)
      return answer.body.result as {
        tools?: unknown[]
        isError?: boolean
        content?: { text: string }[]
      }
    }
    await speak('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    })
    expect((await speak('tools/list')).tools).not.toBeEmpty()
    const read = { name: 'latest_prices', arguments: { codes: ['WTI_USD'] } }
    expect((await speak('tools/call', read)).content![0]!.text).toContain('72')

    const alert = { code: 'WTI_USD', operator: 'greater_than', value: 80, confirm: true }
    const write = { name: 'create_alert', arguments: alert }
    const before = stateOf(all.services.db).alerts
    const refused = await speak('tools/call', write)
    expect({ isError: refused.isError, text: refused.content![0]!.text }).toEqual({
      isError: true,
      text: expect.stringContaining('KEY_READ_ONLY'),
    })
    expect(stateOf(all.services.db).alerts).toBe(before!)
    expect((await speak('tools/call', write, own)).isError).toBeUndefined()
  })

  test('a read-only key and an impersonating operator have the same read access and cannot change anything', async () => {
    const all = people()
    const { account, readOnly, own } = await readOnlyKey(all)
    const operator = `Bearer ${all.services.adminTokens.rotate()}`
    const begun = await all.ask('POST', `/admin/v1/accounts/${account.account.id}/look`, operator, {
      minutes: 10,
    })
    const looking = `Bearer ${(begun.body.data as { token: string }).token}`
    for (const caller of [readOnly, looking]) {
      const batch = await all.ask('POST', '/v1/prices/batch', caller, { codes: ['WTI_USD'] })
      expect(batch.status).toBe(200)
      for (const [path, body] of [
        ['/v1/alerts', { price_alert }],
        ['/v1/account/webhook-secret/roll', {}],
        ['/v1/notifications/mark_all_read', {}],
      ] as const) {
        const refused = await all.ask('POST', path, caller, body)
        expect({
          path,
          status: refused.status,
          errorCode: refused.headers.get('x-error-code'),
        }).toEqual({ path, status: 403, errorCode: 'KEY_READ_ONLY' })
      }
    }
    expect((await all.ask('POST', '/v1/alerts', own, { price_alert })).status).toBe(201)
  })
})
