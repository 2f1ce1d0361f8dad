import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'

const code = 'BRENT_CRUDE_USD'
const standard = {
  name: 'Brent above 90',
  commodity_code: code,
  condition_operator: 'greater_than',
  condition_value: 90,
}
const analytics = {
  name: 'Brent far off',
  commodity_code: code,
  analytics_type: 'z_score',
  analytics_config: { threshold: 2 },
}

type Body = Record<string, unknown> & { id: string; errors: { field: string }[] }
const bodyOf = async (response: Response) => (await response.json()) as Body

const createAlert = async (
  { send }: TestInstance,
  token: string,
  body: object = standard,
): Promise<Body> => {
  const response = await send('POST', '/v1/alerts', { price_alert: body }, token)
  expect(response.status, await response.clone().text()).toBe(201)
  return bodyOf(response)
}

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
        channels: ['email', 'in_app'],
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

describe('POST /v1/alerts/test and /v1/alerts/{id}/test: testing', () => {
  test('testing an alert reports what it would do without sending, counting or changing anything', async () => {
    const home = openTestInstance()
    const { db } = home.services
    const token = home.key()
    const { id } = await createAlert(home, token, { ...standard, enabled: false })
    const count = await createAlert(home, token, { ...standard, name: 'fires' })
    const test = async (alertId: string) =>
      bodyOf(await home.send('POST', `/v1/alerts/${alertId}/test`, '', token))
    expect(await test(id)).toEqual({
      alert_id: id,
      condition: 'price above 90',
      current_price: { value: null, timestamp: null },
      would_trigger: false,
      in_cooldown: false,
      result: 'no_data',
      success: false,
      status_code: null,
      response_time_ms: 0,
      error: `${code} has no price.`,
    } as never)
    home.record(code, [90], startAt - hourMs, 1)
    await home.services.alerts.evaluation.pass()
    expect(await test(id)).toMatchObject({
      would_trigger: false,
      result: 'not_triggered',
      success: true,
      error: null,
    })
    home.record(code, [91.5], startAt, 1)
    await home.services.alerts.evaluation.pass()
    const state = () => [
      db.query('SELECT * FROM alerts JOIN alert_counters ON alert_number = number').all(),
      db.query('SELECT count(*) AS n FROM outbox').get(),
      db.query('SELECT * FROM alert_triggers').all(),
    ]
    const before = state()
    expect(await test(id)).toMatchObject({
      would_trigger: true,
      in_cooldown: false,
      result: 'would_trigger',
      current_price: { value: 91.5, timestamp: '2026-11-20T15:00:00Z' },
    })
    expect(await test(count.id)).toMatchObject({
      would_trigger: false,
      in_cooldown: true,
      result: 'in_cooldown',
    })
    const all = await bodyOf(
      await home.send('POST', `/v1/alerts/test?commodity_code=brent`, undefined, token),
    )
    expect(all).toMatchObject({
      commodity_code: code,
      current_price: { value: 91.5 },
      evaluated: 2,
      would_trigger: 1,
    })
    expect((all.results as { result: string }[]).map(result => result.result)).toEqual([
      'would_trigger',
      'in_cooldown',
    ])
    const named = await bodyOf(
      await home.send('POST', '/v1/alerts/test', { commodity_code: code }, token),
    )
    expect(named.evaluated).toBe(2)
    expect(state()).toEqual(before)
  })

  test('testing an analytics alert reports how many daily closes it needs', async () => {
    const home = openTestInstance()
    const token = home.key()
    home.record(code, [80, 81, 82], startAt, dayMs)
    await home.services.alerts.evaluation.pass()
    const { id } = await createAlert(home, token, {
      name: 'x',
      commodity_code: code,
      analytics_type: 'rsi',
      analytics_period: 14,
      analytics_config: { overbought: 70, oversold: 30 },
    })
    expect(await bodyOf(await home.send('POST', `/v1/alerts/${id}/test`, {}, token))).toMatchObject(
      {
        result: 'no_data',
        current_price: { value: 82 },
        error: `${code} has 3 daily closes of the 15 that this takes.`,
      },
    )
  })

  test('testing and backtesting an alert report in a header that they are based on fixture data', async () => {
    const home = openTestInstance()
    const token = home.key()
    const { id } = await createAlert(home, token)
    home.record(code, [91], startAt, 1)
    await home.services.alerts.evaluation.pass()
    const marks = async () => {
      const answers = [
        await home.send('POST', `/v1/alerts/${id}/test`, {}, token),
        await home.send('POST', `/v1/alerts/test?commodity_code=${code}`, {}, token),
        await home.send('POST', '/v1/alerts/backtest', { price_alert: standard }, token),
      ]
      return answers.map(response => response.headers.get('x-service-data'))
    }
    expect(await marks()).toEqual([null, null, null])
    home.services.series.markFixture([home.services.catalogue.named(code)!.id])
    home.services.catalogue.reload()
    expect(await marks()).toEqual(['fixture', 'fixture', 'fixture'])
  })

  test.each([
    ['', undefined, 400, 'MISSING_PARAMETER'],
    ['?commodity_code=', {}, 400, 'MISSING_PARAMETER'],
    ['?commodity_code=NOPE', undefined, 400, 'invalid_code'],
    ['', { commodity_code: 7 }, 422, 'validation_failed'],
  ] as const)('of a code is refused: %s %j', async (query, body, status, problem) => {
    const { send, key } = openTestInstance()
    const response = await send('POST', `/v1/alerts/test${query}`, body, key())
    expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
      status,
      errorCode: problem,
    })
  })
})

describe('POST /v1/alerts/backtest: a backtest', () => {
  test('answers what the alert would have done, and keeps nothing', async () => {
    const { record, send, get, key } = openTestInstance()
    const token = key()
    record(code, [89, 91, 92, 88, 93], startAt, dayMs)
    const response = await send(
      'POST',
      '/v1/alerts/backtest',
      { price_alert: { ...standard, cooldown_minutes: 1440 }, start_date: '2026-11-17' },
      token,
    )
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 200,
      body: {
        commodity_code: code,
        condition: 'price above 90',
        from: '2026-11-17',
        to: '2026-11-20',
        observations: 4,
        trigger_count: 3,
        triggers: [[17, 91], [18, 92], [20, 93]].map(([day, value]) => ({ triggered_at: `2026-11-${day}T15:00:00Z`, value })), // biome-ignore format: pairs
        truncated: false,
        cooldown_suppressed: 0,
      },
    })
    expect(await (await get('/v1/alerts', token)).json()).toEqual([])
    const alert = await send(
      'POST',
      '/v1/alerts/backtest',
      { price_alert: standard, vintage: true },
      token,
    )
    // All of it was recorded at one moment, of which the newest price is news.
    expect(await alert.json()).toMatchObject({ vintage: true, observations: 1, trigger_count: 1 })
    expect(alert.headers.get('x-vintage-revision-coverage-since')).toBe('2026-11-20T15:00:00Z')
    const year = await send('POST', '/v1/alerts/backtest', { price_alert: standard }, token)
    expect(await year.json()).toMatchObject({
      from: '2025-11-21',
      to: '2026-11-20',
      observations: 5,
    })
  })

  test.each([
    [{ start_date: '2026-11-20', end_date: '2026-11-19' }, 400, 'INVALID_DATE_RANGE'],
    [{ start_date: '2026-02-30' }, 422, 'validation_failed'],
    [{ end_date: 7 }, 422, 'validation_failed'],
    [{ vintage: 'yes' }, 422, 'validation_failed'],
    [{ price_alert: { ...standard, condition_operator: 'x' } }, 422, 'validation_failed'],
  ])('is refused for %j', async (change, status, problem) => {
    const { send, key } = openTestInstance()
    const response = await send(
      'POST',
      '/v1/alerts/backtest',
      { price_alert: standard, ...change },
      key(),
    )
    expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
      status,
      errorCode: problem,
    })
  })
})

describe('GET /v1/alerts/triggers and /v1/alerts/analytics_history: what has fired', () => {
  test('is listed newest first, page by page, of one alert or of all', async () => {
    const home = openTestInstance()
    const token = home.key()
    const first = await createAlert(home, token, { ...standard, cooldown_minutes: 0 })
    const second = await createAlert(home, token, {
      ...standard,
      name: 'second',
      condition_value: 92,
      cooldown_minutes: 0,
    })
    for (const value of [91, 93, 94]) {
      home.clock.advance(minuteMs)
      home.record(code, [value], home.clock.now(), 1)
      await home.services.alerts.evaluation.pass()
    }
    type Page = { triggers: Body[]; meta: Record<string, unknown> }
    const page = async (query: string) =>
      (await (await home.get(`/v1/alerts/triggers${query}`, token)).json()) as Page
    const all = await page('')
    expect(all.triggers.map(row => [row.alert_name, row.price])).toEqual([['second', 94], ['Brent above 90', 94], ['second', 93], ['Brent above 90', 93], ['Brent above 90', 91]]) // biome-ignore format: pairs
    expect(all.triggers[0]).toEqual({
      id: expect.any(String),
      alert_id: second.id,
      alert_name: 'second',
      commodity_code: code,
      condition: 'price above 92',
      price: 94,
      threshold: 92,
      metadata: null,
      triggered_at: '2026-11-20T15:03:00Z',
      channels: ['email', 'in_app'],
    } as never)
    expect(all.meta).toEqual({
      page: 1,
      per_page: 50,
      total: 5,
      total_pages: 1,
      has_next: false,
      has_prev: false,
    })
    const walked = []
    for (const n of [1, 2, 3]) walked.push(...(await page(`?per_page=2&page=${n}`)).triggers)
    expect(walked).toEqual(all.triggers)
    const alertPage = await page(`?alert_id=${first.id}&per_page=1`)
    expect({
      triggers: alertPage.triggers.map(row => row.price),
      total: alertPage.meta.total,
    }).toEqual({ triggers: [94], total: 3 })
    expect((await page('?per_page=1000')).meta.per_page).toBe(100)
  })

  test('the analytics alert history lists triggers with their measurements for plans that include it', async () => {
    const home = openTestInstance()
    const token = home.key('starter')
    home.record(code, Array.from({ length: 40 }, (_, i) => 80 + Math.sin(i)), startAt - dayMs, dayMs) // biome-ignore format: one series
    await home.services.alerts.evaluation.pass()
    await createAlert(home, token, {
      ...analytics,
      name: 'quiet',
      analytics_config: { threshold: 50 },
    })
    const { id } = await createAlert(home, token, analytics)
    home.record(code, [95], startAt, 1)
    await home.services.alerts.evaluation.pass()
    const response = await home.get('/v1/alerts/analytics_history', token)
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 200,
      body: {
        triggered_alerts: [
          {
            id,
            name: 'Brent far off',
            commodity_code: code,
            analytics_type: 'z_score',
            analytics_period: 30,
            analytics_config: { threshold: 2, direction: 'both' },
            condition: 'z-score over 30 days above 2 or below -2',
            trigger_count: 1,
            last_triggered_at: '2026-11-20T15:00:00Z',
            cooldown_minutes: 1440,
            enabled: true,
            metadata: {
              z_score: expect.any(Number),
              mean: expect.any(Number),
              std_dev: expect.any(Number),
              current_price: 95,
            },
          },
        ],
        pagination: { page: 1, per_page: 20, total: 1 },
      },
    })
  })

  test.each(['/v1/alerts/triggers', '/v1/alerts/analytics_history'])(
    '%s refuses an invalid page number',
    async path => {
      const { get, key } = openTestInstance()
      const response = await get(`${path}?page=0`, key())
      expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
        status: 400,
        errorCode: 'INVALID_PARAMETER',
      })
    },
  )
})
