import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import {
  analytics,
  type Body,
  bodyOf,
  code,
  createAlert,
  standard,
} from '../../../support/topics/operations/alerts.ts'

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
      channels: ['in_app'],
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
