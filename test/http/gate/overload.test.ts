import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { refusalOf } from '../../../src/http/faults.ts'
import type { OpenApiDocument } from '../../../src/http/openapi/openapi.ts'
import { type App, createApp } from '../../../src/instance/app/app.ts'
import { aloneVitals } from '../../../src/topics/condition/service/vitals.ts'
import listed from '../../operations/interface.json'
import { openTestInstance, startAt, type TestInstance } from '../../support/instance/instance.ts'

interface Row {
  method: string
  path: string
  access: 'key' | 'key-header-only' | 'keyless' | 'operator'
  feature: string | null
  sample: string | null
  body?: unknown
}

/** Exactly the routes that are refused: one of these requests may compute over all stored data. */
const heavy = `
GET /v1/analytics/correlation
GET /v1/analytics/forecast
GET /v1/analytics/performance
GET /v1/analytics/rolling
GET /v1/analytics/seasonality
GET /v1/analytics/spread
GET /v1/analytics/statistics
GET /v1/analytics/trend
POST /v1/alerts/backtest
POST /v1/formulas/preview
GET /v1/data-quality/reports
GET /v1/data-quality/reports/{}
GET /v1/data-quality/summary
GET /v1/drilling-intelligence
GET /v1/drilling-intelligence/basin/{}
GET /v1/drilling-intelligence/completions
GET /v1/drilling-intelligence/duc-wells
GET /v1/drilling-intelligence/frac-spreads
GET /v1/drilling-intelligence/summary
GET /v1/drilling-intelligence/trends
GET /v1/drilling-intelligence/well-permits
GET /v1/drilling-intelligence/wells-drilled
GET /v1/ei/forecasts/compare
GET /v1/ei/forecasts/historical
GET /v1/ei/forecasts/summary
GET /v1/ei/frac-focus
GET /v1/ei/frac-focus/by-chemical
GET /v1/ei/frac-focus/by-operator
GET /v1/ei/frac-focus/by-state
GET /v1/ei/frac-focus/latest
GET /v1/ei/frac-focus/search
GET /v1/ei/frac-focus/summary
GET /v1/ei/well-permits
GET /v1/ei/well-permits/by-formation
GET /v1/ei/well-permits/by-operator
GET /v1/ei/well-permits/by-state
GET /v1/ei/well-permits/search
GET /v1/ei/well-permits/states/{}
GET /v1/ei/well-permits/summary
GET /v1/forecasts/accuracy
GET /v1/forecasts/archive
GET /v1/forecasts/monthly/accuracy
GET /v1/forecasts/monthly/archive
GET /v1/futures/continuous/{}/historical
GET /v1/futures/{}/continuous
GET /v1/futures/{}/historical
GET /v1/futures/{}/spread-history
GET /v1/futures/{}/spreads
GET /v1/indicators/price-context
GET /v1/indicators/storage-analytics
GET /v1/market-brief
GET /v1/pseo/drilling-intelligence/states/{}/full
GET /v1/rig-counts/historical
GET /v1/rig-counts/summary
GET /v1/rig-counts/trends
GET /v1/spreads/basis/historical
GET /v1/spreads/crack/historical
GET /v1/spreads/margin/historical
GET /v1/spreads/physical-premium/historical
GET /v1/spreads/refining-margin/historical
GET /v1/well-production/cycle-time
GET /v1/well-production/cycle-time/cohorts
GET /v1/well-production/top-producers
`
  .trim()
  .split('\n')

/** Answered by reader threads, which may have too much to do, and not refused here. */
const readers = `
GET /admin/v1/export
GET /admin/v1/series
GET /openbb/table
GET /udf/history
GET /v1/bunker-fuels/historical
GET /v1/bunker-fuels/historical/{}
GET /v1/changes
GET /v1/changes/replay
GET /v1/delivery/{}/days
GET /v1/drilling-intelligence/latest
GET /v1/drilling/latest
GET /v1/ei/drilling_productivities
GET /v1/ei/drilling_productivities/by_basin
GET /v1/ei/drilling_productivities/duc_wells
GET /v1/ei/drilling_productivities/historical
GET /v1/ei/drilling_productivities/latest
GET /v1/ei/drilling_productivities/summary
GET /v1/ei/drilling_productivities/trends
GET /v1/ei/drilling_productivities/{}
GET /v1/ei/duc_wells
GET /v1/ei/duc_wells/latest
GET /v1/ei/forecasts
GET /v1/ei/forecasts/latest
GET /v1/ei/forecasts/prices
GET /v1/ei/forecasts/production
GET /v1/ei/forecasts/{}
GET /v1/ei/frac-focus/for-well/{}
GET /v1/ei/frac-focus/{}
GET /v1/ei/frac-focus/{}/chemicals
GET /v1/ei/frac_spreads
GET /v1/ei/frac_spreads/latest
GET /v1/ei/oil_inventories
GET /v1/ei/oil_inventories/by_product
GET /v1/ei/oil_inventories/cushing
GET /v1/ei/oil_inventories/historical
GET /v1/ei/oil_inventories/latest
GET /v1/ei/oil_inventories/summary
GET /v1/ei/oil_inventories/{}
GET /v1/ei/opec_productions
GET /v1/ei/opec_productions/by_country
GET /v1/ei/opec_productions/historical
GET /v1/ei/opec_productions/latest
GET /v1/ei/opec_productions/top_producers
GET /v1/ei/opec_productions/total
GET /v1/ei/opec_productions/{}
GET /v1/ei/rig_counts
GET /v1/ei/rig_counts/by_basin
GET /v1/ei/rig_counts/by_state
GET /v1/ei/rig_counts/historical
GET /v1/ei/rig_counts/latest
GET /v1/ei/rig_counts/{}
GET /v1/ei/well-permits/latest
GET /v1/ei/well-permits/{}
GET /v1/ei/wells/{}/timeline
GET /v1/excel/run
GET /v1/excel/run.xml
GET /v1/export/prices
GET /v1/forecasts/monthly
GET /v1/forecasts/monthly/{}
GET /v1/futures/{}/curve
GET /v1/futures/{}/intraday
GET /v1/futures/{}/ohlc
GET /v1/indicators/cftc-positioning
GET /v1/prices/all
GET /v1/prices/chart
GET /v1/prices/convert
GET /v1/prices/data-connector
GET /v1/prices/historical
GET /v1/prices/metrics
GET /v1/prices/past_day
GET /v1/prices/past_month
GET /v1/prices/past_week
GET /v1/prices/past_year
GET /v1/prices/vintages
GET /v1/rig-counts/current
GET /v1/rig-counts/latest
GET /v1/spreads/basis
GET /v1/spreads/basis/all
GET /v1/spreads/crack
GET /v1/spreads/crack/all
GET /v1/spreads/curve-structure
GET /v1/spreads/curve-structure/all
GET /v1/spreads/margin
GET /v1/spreads/margin/all
GET /v1/spreads/physical-premium
GET /v1/spreads/physical-premium/all
GET /v1/spreads/refining-margin
GET /v1/spreads/refining-margin/all
GET /v1/storage
GET /v1/storage/cushing
GET /v1/storage/regional
GET /v1/storage/spr
GET /v1/well-production
GET /v1/well-production/states
GET /v1/well-production/states/{}
GET /v1/well-production/summary
GET /v1/well-production/wells/{}
POST /grafana/query
`
  .trim()
  .split('\n')

const unnamed = (method: string, path: string) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`
const keyed = (listed as Row[]).filter(
  row => row.access === 'key' || row.access === 'key-header-only',
)
const isHeavy = ({ method, path }: Row) => heavy.includes(unnamed(method, path))
const heavyRows = keyed.filter(isHeavy)
/**
 * Responses that continue until the client leaves; refused with the word for it where no connection
 * can be held open.
 */
const isStream = ({ path }: Row) => path === '/v1/stream' || path === '/cable'

let at: TestInstance
let app: App
let isOverloaded = false

beforeAll(() => {
  at = openTestInstance({
    'limits.per_minute': '100000',
    'limits.unauthenticated_per_minute': '100000',
  })
  app = createApp(at.services, { vitals: { ...aloneVitals, isOverloaded: () => isOverloaded } })
  for (const code of ['WTI_USD', 'BRENT_CRUDE_USD']) {
    at.record(
      code,
      Array.from({ length: 60 }, (_, i) => 70 + i / 10),
      startAt - 60_000,
      86_400_000,
    )
  }
})
afterEach(() => {
  isOverloaded = false
})

function ask(
  method: string,
  path: string,
  token: string | null,
  body?: unknown,
): Promise<Response> {
  const headers = {
    ...(token !== null && { authorization: `Token ${token}` }),
    'content-type': 'application/json',
  }
  return app.handle(
    new Request(`http://localhost${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
}

const askRow = (row: Row, token: string | null) =>
  ask(row.method, row.sample ?? row.path.replace(/\{\w+\}/g, '1'), token, row.body)
const usedBy = (token: string) => at.services.meter.quotaUsage(at.services.keys.find(token)!).used

interface Nested {
  error: {
    code: string
    message: string
    status: number
    request_id: string
    docs_url: string
    retry: { retryable: boolean }
  }
}

async function expectShed(response: Response) {
  expect({
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    xErrorCode: response.headers.get('x-error-code'),
  }).toEqual({ status: 503, retryAfter: '5', xErrorCode: 'OVERLOADED' })
  const { error } = (await response.json()) as Nested
  expect(error).toMatchObject({ code: 'OVERLOADED', status: 503, retry: { retryable: true } })
  expect([error.message, error.request_id, error.docs_url].every(text => text.length > 0)).toBe(
    true,
  )
}

test('the documented routes that may answer it are those of the list', async () => {
  const document = (await (await ask('GET', '/openapi.json', null)).json()) as OpenApiDocument
  // An alias under the earlier prefix is the operation that it stands for.
  const paths = Object.entries(document.paths).filter(
    ([path]) => !path.startsWith('/v1/dark_data/'),
  )
  const documented = paths.flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      responses['503']?.description.includes('OVERLOADED')
        ? [unnamed(method.toUpperCase(), path)]
        : [],
    ),
  )
  expect(documented.sort()).toEqual([...heavy, ...readers].sort())
  expect(heavyRows.length).toBe(heavy.length)
})

describe('heavy routes while the instance is overloaded', () => {
  for (const row of heavyRows) {
    test(`${row.method} ${row.path} is refused and costs nothing`, async () => {
      isOverloaded = true
      const token = at.key()
      await expectShed(await askRow(row, token))
      expect(usedBy(token)).toBe(0)
    })
  }

  test('the alias of energy intelligence does not bypass it', async () => {
    isOverloaded = true
    await expectShed(await ask('GET', '/v1/dark_data/well-permits/search', at.key()))
  })
  test('no other route is refused for it', async () => {
    isOverloaded = true
    const refused: string[] = []
    for (const row of keyed.filter(candidate => !isHeavy(candidate) && !isStream(candidate))) {
      const response = await askRow(row, at.key())
      if (response.headers.get('x-error-code') === 'OVERLOADED')
        refused.push(`${row.method} ${row.path}`)
    }
    expect(refused).toEqual([])
  })

  const prices: [string, string, unknown?][] = [
    ['GET', '/v1/prices/latest?by_code=WTI_USD'],
    ['GET', '/v1/prices?by_code=WTI_USD,BRENT_CRUDE_USD'],
    ['GET', '/v1/prices/all'],
    ['GET', '/v1/prices/past_year?by_code=WTI_USD&interval=daily'],
    [
      'GET',
      '/v1/prices/historical?by_code=WTI_USD&start_date=2026-10-01&end_date=2026-11-01&interval=day',
    ],
    ['GET', '/v1/prices/metrics?by_code=WTI_USD'],
    ['POST', '/v1/prices/batch', { codes: ['WTI_USD', 'BRENT_CRUDE_USD'] }],
  ]
  for (const [method, path, body] of prices) {
    test(`${method} ${path} is answered and counted`, async () => {
      isOverloaded = true
      const token = at.key()
      expect((await ask(method, path, token, body)).status).toBe(200)
      expect(usedBy(token)).toBe(1)
    })
  }

  test('an overloaded heavy route still refuses a missing or unknown key with 401', async () => {
    isOverloaded = true
    for (const row of heavyRows) {
      for (const token of [null, 'f'.repeat(64)])
        expect((await askRow(row, token)).status, row.path).toBe(401)
    }
  })
  test('an overloaded heavy route still refuses a caller without the plan with 403', async () => {
    isOverloaded = true
    const token = at.key('free')
    const { entitled } = at.services.meter.quotaUsage(at.services.keys.find(token)!)
    const lacks = (feature: string) => !entitled.features.has(feature as never)
    const bound = heavyRows.filter(row => row.feature?.split(',').every(lacks))
    expect(bound.length).toBeGreaterThan(40)
    for (const row of bound) expect((await askRow(row, token)).status, row.path).toBe(403)
  })
  test('an overloaded heavy route still refuses a caller over its rate limit with 429', async () => {
    isOverloaded = true
    const small = openTestInstance({ 'limits.per_minute': '1' })
    const other = createApp(small.services, {
      vitals: { ...aloneVitals, isOverloaded: () => isOverloaded },
    })
    const request = () =>
      other.handle(
        new Request('http://localhost/v1/market-brief', {
          headers: { authorization: `Token ${token}` },
        }),
      )
    const token = small.key()
    expect([(await request()).status, (await request()).status]).toEqual([503, 429])
  })

  test('an overloaded instance refuses a spreadsheet query for a heavy path in its format and without charge', async () => {
    isOverloaded = true
    const token = at.key()
    const path = '/v1/analytics/statistics?code=WTI_USD'
    await expectShed(await ask('GET', `/v1/excel/run?path=${path.replace('?', '&')}`, token))
    const sheet = await ask('GET', `/v1/excel/run.xml?path=${path.replace('?', '&')}`, token)
    expect({ status: sheet.status, used: usedBy(token) }).toEqual({ status: 200, used: 0 })
    expect(await sheet.text()).toContain('Too many heavy requests')
    expect(
      (await ask('GET', '/v1/excel/run?path=/v1/prices/latest&by_code=WTI_USD', token)).status,
    ).toBe(200)
  })
  test('health checks still succeed under overload, and the API status is degraded', async () => {
    isOverloaded = true
    expect((await ask('GET', '/health', null)).status).toBe(200)
    const { data } = (await (await ask('GET', '/v1/status', at.key())).json()) as {
      data: { components: { name: string; status: string; message: string | null }[] }
    }
    expect(data.components.find(component => component.name === 'api')).toMatchObject({
      status: 'degraded',
      message: expect.stringContaining('Overloaded'),
    })
  })
})

test('an instance that is not overloaded computes', async () => {
  const token = at.key()
  expect((await ask('GET', '/v1/analytics/statistics?code=WTI_USD', token)).status).toBe(200)
  expect(usedBy(token)).toBe(1)
  for (const row of heavyRows)
    expect((await askRow(row, at.key())).headers.get('x-error-code'), row.path).not.toBe(
      'OVERLOADED',
    )
})

test('a simulated overload error equals the real one', () => {
  const links = { baseUrl: '', docsUrl: '', upgradeUrl: '', signupUrl: '' }
  expect(refusalOf('OVERLOADED', at.services.plans, links, startAt)).toMatchObject({
    status: 503,
    headers: { 'retry-after': '5' },
  })
})
