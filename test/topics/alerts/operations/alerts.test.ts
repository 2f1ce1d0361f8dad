import { describe, expect, test } from 'bun:test'
import { hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import {
  analytics,
  type Body,
  bodyOf,
  code,
  createAlert,
  standard,
} from '../../../support/topics/operations/alerts.ts'

describe('POST /v1/alerts: making an alert', () => {
  test('answers it whole, wrapped and bare alike', async () => {
    const home = openTestInstance()
    const token = home.key()
    const expected = {
      id: expect.any(String),
      name: 'Brent above 90',
      commodity_code: code,
      condition_operator: 'greater_than',
      condition_value: 90,
      analytics_type: null,
      analytics_period: null,
      analytics_config: null,
      webhook_url: null,
      cooldown_minutes: 60,
      enabled: true,
      trigger_count: 0,
      last_triggered_at: null,
      created_at: '2026-11-20T15:00:00Z',
      updated_at: '2026-11-20T15:00:00Z',
      metadata: null,
      in_cooldown: false,
      suspended_reason: null,
    }
    expect(await createAlert(home, token)).toEqual(expected as never)
    const bare = await home.send(
      'POST',
      '/v1/alerts',
      { ...standard, commodity_code: 'brent' },
      token,
    )
    expect({ status: bare.status, body: await bare.json() }).toEqual({
      status: 201,
      body: expected,
    })
  })

  test.each([
    [
      { analytics_type: 'z_score', analytics_config: { threshold: 2 } },
      'greater_than',
      2,
      { threshold: 2, direction: 'both' },
    ],
    [
      { analytics_type: 'z_score', analytics_config: { threshold: 1.5, direction: 'below' } },
      'less_than',
      1.5,
      { threshold: 1.5, direction: 'below' },
    ],
    [
      {
        analytics_type: 'rsi',
        analytics_config: { overbought: 70, oversold: 30 },
        analytics_period: 14,
      },
      'greater_than',
      70,
      { overbought: 70, oversold: 30 },
    ],
    [
      { analytics_type: 'volatility_spike', analytics_config: { multiplier: 2.5 } },
      'greater_than',
      2.5,
      { multiplier: 2.5 },
    ],
    [
      { analytics_type: 'trend_reversal', analytics_config: {}, analytics_period: 20 },
      'not_equals',
      0,
      {},
    ],
    [{ analytics_type: 'trend_reversal', analytics_period: 20 }, 'not_equals', 0, {}],
  ] as const)(
    'an alert created with %j has the operator %s and the value %d',
    async (fields, operator, value, config) => {
      const home = openTestInstance()
      const alert = await createAlert(home, home.key(), {
        name: 'x',
        commodity_code: code,
        ...fields,
      })
      expect(alert).toMatchObject({
        condition_operator: operator,
        condition_value: value,
        analytics_type: fields.analytics_type,
        analytics_config: config,
        analytics_period: 'analytics_period' in fields ? fields.analytics_period : 30,
        cooldown_minutes: 1440,
      })
    },
  )

  test('of what a list answers for an analytics alert makes the same alert', async () => {
    const home = openTestInstance()
    const token = home.key()
    const first = await createAlert(home, token, analytics)
    const again = await createAlert(home, token, first)
    expect(again).toEqual({ ...first, id: again.id })
  })

  const wrong: [string, object][] = [
    ['name', { name: undefined }],
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: 'a\nb' }],
    ['name', { name: 7 }],
    ['commodity_code', { commodity_code: undefined }],
    ['commodity_code', { commodity_code: 'BRENT_CRUDE_USDD' }],
    ['condition_operator', { condition_operator: undefined }],
    ['condition_operator', { condition_operator: 'above' }],
    ['condition_value', { condition_value: undefined }],
    ['condition_value', { condition_value: null }],
    ['condition_value', { condition_value: '90' }],
    ['condition_value', { condition_value: 1_000_000.01 }],
    ['condition_value', { condition_value: -1_000_001 }],
    ['cooldown_minutes', { cooldown_minutes: -1 }],
    ['cooldown_minutes', { cooldown_minutes: 1441 }],
    ['cooldown_minutes', { cooldown_minutes: 1.5 }],
    ['enabled', { enabled: 'yes' }],
    ['webhook_url', { webhook_url: 'http://example.com/hook' }],
    ['webhook_url', { webhook_url: 'https://127.0.0.1/hook' }],
    ['webhook_url', { webhook_url: 'https://169.254.169.254/latest' }],
    ['webhook_url', { webhook_url: 'ftp://example.com' }],
    ['webhook_url', { webhook_url: `https://example.com/${'x'.repeat(2048)}` }],
    ['metadata', { metadata: [] }],
    ['metadata', { metadata: { note: 'x'.repeat(4096) } }],
    ['metadata', { metadata: { note: '\ud800' } }],
    ['metadata.tolerance', { condition_operator: 'equals', metadata: { tolerance: -1 } }],
    ['metadata', { condition_operator: 'between', metadata: { min: 80 } }],
    ['metadata', { condition_operator: 'between' }],
    ['metadata', { condition_operator: 'between', metadata: { min: 90, max: 80 } }],
    ['analytics_type', { analytics_type: 'macd' }],
    ['analytics_period', { analytics_type: 'trend_reversal', analytics_period: 1 }],
    ['analytics_period', { analytics_type: 'trend_reversal', analytics_period: 366 }],
    ['analytics_config.threshold', { analytics_type: 'z_score' }],
    [
      'analytics_config.threshold',
      { analytics_type: 'z_score', analytics_config: { threshold: 0 } },
    ],
    [
      'analytics_config.direction',
      { analytics_type: 'z_score', analytics_config: { threshold: 2, direction: 'up' } },
    ],
    ['analytics_config.overbought', { analytics_type: 'rsi', analytics_config: { oversold: 30 } }],
    [
      'analytics_config.overbought',
      { analytics_type: 'rsi', analytics_config: { overbought: 70.5, oversold: 30 } },
    ],
    [
      'analytics_config.oversold',
      { analytics_type: 'rsi', analytics_config: { overbought: 30, oversold: 30 } },
    ],
    [
      'analytics_config.oversold',
      { analytics_type: 'rsi', analytics_config: { overbought: 70, oversold: 0 } },
    ],
    [
      'analytics_config.multiplier',
      { analytics_type: 'volatility_spike', analytics_config: { multiplier: 1 } },
    ],
    ['analytics_config', { analytics_type: 'z_score', analytics_config: 'high' }],
  ]
  const plain = openTestInstance()
  const plainKey = plain.key('enterprise')
  test.each(wrong)('is refused for %s: %j', async (field, change) => {
    plain.clock.advance(minuteMs)
    const response = await plain.send(
      'POST',
      '/v1/alerts',
      { price_alert: { ...standard, ...change } },
      plainKey,
    )
    const body = await bodyOf(response)
    expect({
      status: response.status,
      code: body.code,
      bodyField: body.field,
      firstField: body.errors[0]!.field,
    }).toEqual({ status: 422, code: 'validation_failed', bodyField: field, firstField: field })
  })

  test.each([
    ['price_alert', { price_alert: 'x' }],
    ['body', '[]'],
    ['name', {}],
  ])('is refused for %s when there is no alert in the body', async (field, body) => {
    plain.clock.advance(minuteMs)
    const response = await plain.send('POST', '/v1/alerts', body, plainKey)
    expect({ status: response.status, field: (await bodyOf(response)).field }).toEqual({
      status: 422,
      field,
    })
  })

  test('creating an alert reports every fault and suggests codes that are similar to an unknown one', async () => {
    plain.clock.advance(minuteMs)
    const response = await plain.send(
      'POST',
      '/v1/alerts',
      { ...standard, name: '', commodity_code: 'BRENT_CRUD_USD', enabled: 1 },
      plainKey,
    )
    const { errors } = (await response.json()) as { errors: { field: string; message: string }[] }
    expect(errors.map(fault => fault.field).sort()).toEqual(['commodity_code', 'enabled', 'name'])
    expect(errors.find(fault => fault.field === 'commodity_code')!.message).toContain(code)
  })

  test('ignores what only the service sets', async () => {
    const home = openTestInstance()
    const alert = await createAlert(home, home.key(), {
      ...standard,
      id: '00000000-0000-4000-8000-000000000001',
      account_id: 'x',
      trigger_count: 9,
      last_triggered_at: '2026-01-01T00:00:00Z',
      in_cooldown: true,
      suspended_reason: 'plan',
      created_at: '2020-01-01T00:00:00Z',
    })
    expect(alert).toMatchObject({
      trigger_count: 0,
      last_triggered_at: null,
      in_cooldown: false,
      suspended_reason: null,
      created_at: '2026-11-20T15:00:00Z',
    })
    expect(alert.id).not.toBe('00000000-0000-4000-8000-000000000001')
  })

  test('twice under one Idempotency-Key makes one', async () => {
    const { send, get, key } = openTestInstance()
    const token = key()
    const answers = []
    for (let i = 0; i < 2; i += 1)
      answers.push(await send('POST', '/v1/alerts', standard, token, { 'idempotency-key': 'one' }))
    expect(answers.map(response => [response.status, response.headers.get('idempotent-replayed')])).toEqual([[201, null], [201, 'true']]) // biome-ignore format: a pair each
    expect(await (await get('/v1/alerts', token)).json()).toHaveLength(1)
  })

  test('past what the plan allows is refused, and deleting makes room', async () => {
    const { send, key, clock } = openTestInstance()
    const token = key('starter')
    let id = ''
    for (let i = 0; i < 100; i += 1) {
      if (i % 50 === 0) clock.advance(61_000)
      id = (await bodyOf(await send('POST', '/v1/alerts', analytics, token))).id
    }
    clock.advance(61_000)
    const over = await send('POST', '/v1/alerts', analytics, token)
    expect({ status: over.status, body: await over.json() }).toEqual({
      status: 422,
      body: expect.objectContaining({
        code: 'alert_limit_reached',
        limit: 100,
        current_count: 100,
      }),
    })
    expect((await send('DELETE', `/v1/alerts/${id}`, undefined, token)).status).toBe(204)
    expect((await send('POST', '/v1/alerts', analytics, token)).status).toBe(201)
  })

  test.each([
    ['starter', standard, 'standard_alerts'],
    ['developer', analytics, 'standard_alerts'],
    ['free', standard, 'standard_alerts'],
  ] as const)(
    'an alert on the %s plan is refused for a kind that the plan lacks before its fields are validated',
    async (plan, body, feature) => {
      const { send, key } = openTestInstance()
      const response = await send(
        'POST',
        '/v1/alerts',
        { price_alert: { ...body, name: '' } },
        key(plan),
      )
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      expect({
        status: response.status,
        code: error.code,
        required_feature: error.required_feature,
      }).toEqual({ status: 403, code: 'INSUFFICIENT_PLAN', required_feature: feature })
    },
  )
})

describe('GET /v1/alerts: the list', () => {
  test('is bare, by code and then by creation, and only of the account', async () => {
    const home = openTestInstance()
    const [token, otherToken] = [home.key(), home.key()]
    for (const [name, commodity_code] of [
      ['b', 'WTI_USD'],
      ['a', code],
      ['c', 'WTI_USD'],
      ['d', code],
    ]) {
      // biome-ignore format: pairs
      home.clock.advance(1000)
      await createAlert(home, token, { ...standard, name, commodity_code })
    }
    await createAlert(home, otherToken)
    const listed = (await (await home.get('/v1/alerts', token)).json()) as Body[]
    expect(listed.map(row => row.name)).toEqual(['a', 'd', 'b', 'c'])
  })

  test('GET /v1/alerts lists an alert as suspended when the plan no longer includes its kind', async () => {
    const home = openTestInstance()
    const token = home.key('professional')
    await createAlert(home, token)
    const { keys } = home.services
    const { account } = keys.find(token)!
    keys.putAccount({ ...account.account, plan: 'starter' })
    expect(await (await home.get('/v1/alerts', token)).json()).toMatchObject([
      { enabled: true, suspended_reason: 'plan' },
    ])
  })
})

describe('GET, PATCH and DELETE /v1/alerts/{id}: one alert', () => {
  const fires = async (home: TestInstance, token: string, body: object = standard) => {
    const alert = await createAlert(home, token, body)
    for (const value of [91, 92]) {
      home.clock.advance(hourMs)
      home.record(code, [value], home.clock.now(), 1)
      await home.services.alerts.evaluation.pass()
    }
    return alert
  }

  test('comes with its newest triggers', async () => {
    const home = openTestInstance()
    const token = home.key()
    const { id } = await fires(home, token)
    const shown = await bodyOf(await home.get(`/v1/alerts/${id}`, token))
    expect(shown).toMatchObject({
      id,
      trigger_count: 2,
      last_triggered_at: '2026-11-20T17:00:00Z',
      in_cooldown: true,
    })
    expect(shown.trigger_history).toEqual(
      [92, 91].map((value, i) => ({
        triggered_at: `2026-11-20T1${7 - i}:00:00Z`,
        value,
        condition: 'price above 90',
        channels: ['in_app'],
        metadata: null,
      })),
    )
  })

  test.each([
    [{ condition_value: 95 }, false],
    [{ condition_operator: 'less_than' }, false],
    [{ commodity_code: 'WTI_USD' }, false],
    [{ metadata: { tolerance: 3 }, condition_operator: 'equals' }, false],
    [{ ...analytics }, false],
    [
      {
        name: 'other',
        cooldown_minutes: 120,
        webhook_url: 'https://example.com/hook',
        metadata: { note: 'x' },
      },
      true,
    ],
    [{ condition_value: 90, commodity_code: 'brent' }, true],
    [{}, true],
  ])('changed by %j is in cooldown after that: %p', async (change, cools) => {
    const home = openTestInstance()
    const token = home.key()
    const { id } = await fires(home, token)
    home.clock.advance(1000)
    const response = await home.send('PATCH', `/v1/alerts/${id}`, { price_alert: change }, token)
    const changed = await bodyOf(response)
    expect({ status: response.status, in_cooldown: changed.in_cooldown }).toEqual({
      status: 200,
      in_cooldown: cools,
    })
    const {
      commodity_code: code,
      metadata,
      analytics_config,
      ...plain
    } = { metadata: undefined, analytics_config: undefined, commodity_code: undefined, ...change }
    expect(changed).toMatchObject({
      ...plain,
      trigger_count: 2,
      updated_at: '2026-11-20T17:00:01Z',
    })
    if (code === 'WTI_USD') expect(changed.commodity_code).toBe(code)
  })

  test('keeps what a change does not name; null clears address and metadata', async () => {
    const home = openTestInstance()
    const token = home.key()
    const full = {
      ...standard,
      webhook_url: 'https://example.com/hook',
      metadata: { note: 'x' },
      cooldown_minutes: 5,
      enabled: false,
    }
    const alert = await createAlert(home, token, full)
    const patch = async (body: object) =>
      bodyOf(await home.send('PATCH', `/v1/alerts/${alert.id}`, body, token))
    expect(await patch({ name: 'renamed' })).toEqual({ ...alert, name: 'renamed' })
    expect(await patch({ price_alert: { webhook_url: null, metadata: null } })).toMatchObject({
      webhook_url: null,
      metadata: null,
      cooldown_minutes: 5,
    })
    expect(
      await patch({ analytics_type: 'rsi', analytics_config: { overbought: 80, oversold: 20 } }),
    ).toMatchObject({
      condition_value: 80,
    })
    expect(await patch({ analytics_period: 10 })).toMatchObject({
      analytics_type: 'rsi',
      analytics_period: 10,
      analytics_config: { overbought: 80 },
    })
    expect(
      await patch({ analytics_type: null, condition_operator: 'less_than', condition_value: 3 }),
    ).toMatchObject({
      analytics_type: null,
      analytics_period: null,
      analytics_config: null,
      condition_operator: 'less_than',
      condition_value: 3,
    })
  })

  test.each([
    ['condition_value', analytics, { condition_value: 3 }],
    ['analytics_config.overbought', analytics, { analytics_type: 'rsi' }],
    ['condition_operator', analytics, { analytics_type: null }],
    [
      'metadata',
      { ...standard, condition_operator: 'between', metadata: { min: 1, max: 2 } },
      { metadata: null },
    ],
    ['name', standard, { name: null }],
    ['commodity_code', standard, { commodity_code: 'NOPE' }],
  ])('is not changed when %s does not fit', async (field, body, change) => {
    const home = openTestInstance()
    const token = home.key()
    const alert = await createAlert(home, token, body)
    const response = await home.send('PATCH', `/v1/alerts/${alert.id}`, change, token)
    expect({ status: response.status, field: (await bodyOf(response)).field }).toEqual({
      status: 422,
      field,
    })
    const { trigger_history: _, ...after } = await bodyOf(
      await home.get(`/v1/alerts/${alert.id}`, token),
    )
    expect(after).toEqual(alert)
  })

  test('can be switched off on a plan that lost its kind, and not turned into a kind that the plan does not have', async () => {
    const home = openTestInstance()
    const token = home.key('professional')
    const alert = await createAlert(home, token)
    const analyticsAlert = await createAlert(home, token, analytics)
    const { account } = home.services.keys.find(token)!
    home.services.keys.putAccount({ ...account.account, plan: 'starter' })
    expect(
      (await home.send('PATCH', `/v1/alerts/${alert.id}`, { enabled: false }, token)).status,
    ).toBe(200)
    const turned = await home.send(
      'PATCH',
      `/v1/alerts/${analyticsAlert.id}`,
      { ...standard, analytics_type: null },
      token,
    )
    expect(turned.status).toBe(403)
  })

  test('is gone once deleted, with its triggers', async () => {
    const home = openTestInstance()
    const token = home.key()
    const { id } = await fires(home, token)
    const deleted = await home.send('DELETE', `/v1/alerts/${id}`, undefined, token)
    expect({ status: deleted.status, text: await deleted.text() }).toEqual({
      status: 204,
      text: '',
    })
    expect((await home.get(`/v1/alerts/${id}`, token)).status).toBe(404)
    expect(await (await home.get('/v1/alerts', token)).json()).toEqual([])
    expect(await (await home.get('/v1/alerts/triggers', token)).json()).toMatchObject({
      triggers: [],
      meta: { total: 0 },
    })
  })

  test('of another account is as unknown as none, whatever is done with it', async () => {
    const home = openTestInstance()
    const [token, otherToken] = [home.key(), home.key()]
    const { id } = await createAlert(home, token)
    const unknown = [id, '00000000-0000-4000-8000-000000000299', 'nonsense']
    for (const alertId of unknown) {
      for (const [method, path] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['POST', '/test'],
      ] as const) {
        // biome-ignore format: pairs
        const response = await home.send(method, `/v1/alerts/${alertId}${path}`, method === 'GET' ? undefined : {}, otherToken)
        const { error } = (await response.json()) as { error: Record<string, unknown> }
        expect({ status: response.status, code: error.code, message: error.message }).toEqual({
          status: 404,
          code: 'NOT_FOUND',
          message: `No alert has the id "${alertId}".`,
        })
      }
      expect((await home.get(`/v1/alerts/triggers?alert_id=${alertId}`, otherToken)).status).toBe(
        404,
      )
    }
    expect((await home.get(`/v1/alerts/${id}`, token)).status).toBe(200)
  })
})
