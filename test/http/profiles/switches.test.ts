import { describe, expect, test } from 'bun:test'
import { type SwitchName, switchNames } from '../../../src/plans/clients/switches.ts'
import { openTestInstance } from '../../support/instance/instance.ts'
import { withProfiles } from '../../support/instance/renamed-instance.ts'
import {
  type Answer,
  type Asked,
  dataOf,
  eachSwitch,
  type Fields,
  switchClients,
} from '../../support/instance/switch-clients.ts'

const { ask } = switchClients()

const thousands = (value: unknown) =>
  value === null ? null : Math.round((value as number) * 1e6) / 1e3

/**
 * The response with a switch and without. `after` is compared as a whole, so that nothing else may
 * change.
 */
interface Case {
  name: SwitchName
  path: string
  request?: Asked
  status?: [before: number, after: number]
  after(before: Answer): unknown
}

const alert = '/v1/alerts/00000000-0000-4000-8000-000000000299'
const levelInThousands = (level: Fields): Fields => ({
  ...level,
  value: thousands(level.value),
  level: thousands(level.level),
  capacity: thousands(level.capacity),
  unit: 'thousand_barrels',
  change: thousands((level.change as Fields).week),
})
const regionInThousands = (level: Fields): Fields => ({
  ...level,
  value: thousands(level.value),
  level: thousands(level.level),
  ...('change_week' in level && { change_week: thousands(level.change_week) }),
  unit: 'thousand_barrels',
})
const withTextSettlement = (point: unknown) => ({
  ...(point as Fields),
  settlement_price: String((point as Fields).settlement_price),
})

const withTextError: Case['after'] = ({ body }) => {
  const { message, code, ...rest } = body.error as Fields
  return { error: message, error_code: code, code, message, ...rest }
}

const cases: Case[] = [
  {
    name: 'latest_list',
    path: '/v1/prices/latest?by_code=WTI_USD',
    after: before => ({ ...before.body, data: { prices: [before.body.data] } }),
  },
  {
    name: 'latest_flat_and_list',
    path: '/v1/prices/latest?by_code=WTI_USD',
    after: before => ({ ...before.body, data: { ...dataOf(before), prices: [before.body.data] } }),
  },
  {
    name: 'commodities_keyed',
    path: '/v1/commodities',
    after: ({ body }) => ({
      ...body,
      data: { commodities: body.data, metadata: { total: (body.meta as Fields).total } },
    }),
  },
  {
    name: 'unknown_code_404',
    path: '/v1/prices/past_week?by_code=NOPE_USD',
    status: [400, 404],
    after: ({ body }) => body,
  },
  {
    name: 'unknown_code_404',
    path: '/v1/prices/batch',
    request: { method: 'POST', body: { codes: ['NOPE_USD'] } },
    status: [400, 404],
    after: ({ body }) => body,
  },
  {
    name: 'prices_all_list',
    path: '/v1/prices/all?category=crude_oil',
    after: before => ({ ...before.body, data: Object.values(dataOf(before).prices as Fields) }),
  },
  ...['past_day', 'past_week', 'past_month', 'past_year', 'historical', '2026-11-19'].map(
    (window): Case => ({
      name: 'windowed_list',
      path: `/v1/prices/${window}?by_code=WTI_USD&per_page=3`,
      after: before => {
        const { prices, metadata } = dataOf(before)
        return {
          ...before.body,
          data: (prices as Fields[]).map(row => ({ ...row, date: row.created_at })),
          metadata,
        }
      },
    }),
  ),
  ...[
    '',
    '/historical',
    '/ohlc',
    '/intraday',
    '/spreads',
    '/curve',
    '/spread-history?from=2026-10-01&to=2026-11-01',
    '/continuous',
  ].map(
    (part): Case => ({
      name: 'futures_enveloped',
      path: `/v1/futures/merc-wti${part}`,
      after: ({ body }) => ({ status: 'success', data: body }),
    }),
  ),
  {
    name: 'futures_enveloped',
    path: '/v1/futures/continuous/merc-wti/historical',
    after: ({ body }) => ({ status: 'success', data: body }),
  },
  {
    name: 'storage_scalar_change',
    path: '/v1/storage/cushing',
    after: before => ({ ...before.body, data: levelInThousands(dataOf(before)) }),
  },
  {
    name: 'storage_scalar_change',
    path: '/v1/storage/spr',
    after: before => ({
      ...before.body,
      data: {
        ...levelInThousands(dataOf(before)),
        sites: (dataOf(before).sites as Fields[]).map(site => ({
          ...site,
          value: thousands(site.value),
          capacity: thousands(site.capacity),
          unit: 'thousand_barrels',
        })),
      },
    }),
  },
  {
    name: 'storage_scalar_change',
    path: '/v1/storage/regional?region=PADD3',
    after: before => {
      const { padd3, ...whole } = dataOf(before)
      return {
        ...before.body,
        data: { ...regionInThousands(whole), padd3: regionInThousands(padd3 as Fields) },
      }
    },
  },
  {
    name: 'storage_scalar_change',
    path: '/v1/storage/history/CUSHING_STORAGE?period=30d',
    after: ({ body }) => ({
      ...body,
      data: (body.data as Fields[]).map(row => ({
        ...regionInThousands(row),
        change: thousands(row.change),
      })),
    }),
  },
  {
    name: 'omit_null',
    path: '/v1/prices/latest?by_code=US_CRUDE_STORAGE',
    after: before => {
      const { currency, ...row } = dataOf(before)
      expect(currency).toBeNull()
      return { ...before.body, data: row }
    },
  },
  {
    name: 'currency_text',
    path: '/v1/prices/latest?by_code=US_CRUDE_STORAGE',
    after: before => ({ ...before.body, data: { ...dataOf(before), currency: '' } }),
  },
  {
    name: 'categories_lists',
    path: '/v1/commodities/categories',
    after: before => ({
      ...before.body,
      data: Object.fromEntries(
        Object.entries(dataOf(before)).map(([category, listed]) => [
          category,
          (listed as Fields).commodities,
        ]),
      ),
    }),
  },
  {
    name: 'list_beside',
    path: '/v1/webhooks',
    after: before => ({ ...before.body, webhooks: dataOf(before).webhooks }),
  },
  {
    name: 'record_latest',
    path: '/v1/ei/forecasts/latest',
    after: ({ body }) => ({ ...body, data: (body.data as Fields[])[0] }),
  },
  {
    name: 'record_latest',
    path: '/v1/ei/opec_productions/latest',
    after: before => {
      const { month, total_production_bpd, countries } = dataOf(before)
      const [{ date, timestamp }] = countries as [Fields]
      const record = { id: month, production_bpd: total_production_bpd, date, timestamp }
      return { ...before.body, data: { ...record, unit: 'barrels_per_day', ...dataOf(before) } }
    },
  },
  {
    name: 'storage_records',
    path: '/v1/storage/cushing',
    after: before => {
      const { change, updated_at } = dataOf(before)
      const record = { change: (change as Fields).week, timestamp: updated_at }
      return { ...before.body, data: { ...dataOf(before), ...record } }
    },
  },
  {
    name: 'plain_figures',
    path: '/v1/ei/forecasts/summary',
    after: before => {
      const { forecast_value } = dataOf(before).latest_forecast as Fields
      return { ...before.body, data: { ...dataOf(before), latest_forecast: forecast_value } }
    },
  },
  {
    name: 'plain_figures',
    path: '/v1/indicators/fuel-switching',
    after: before => {
      const { economical } = dataOf(before)
      return {
        ...before.body,
        data: { ...dataOf(before), economical: economical === 'natural_gas' },
      }
    },
  },
  {
    name: 'echo_code',
    path: '/v1/prices/latest?by_code=wti,EUR_USD',
    after: before => {
      const [wti, euro] = dataOf(before).prices as Fields[]
      expect(wti).toMatchObject({ code: 'WTI_USD', requested_code: 'WTI' })
      return {
        ...before.body,
        data: { ...dataOf(before), prices: [{ ...wti, code: 'WTI' }, euro] },
      }
    },
  },
  {
    name: 'categories_short',
    path: '/v1/commodities?category=crude_oil',
    after: ({ body }) => ({
      ...body,
      data: (body.data as Fields[]).map(row => ({ ...row, category: 'oil' })),
    }),
  },
  {
    name: 'data_list',
    path: '/v1/webhooks',
    after: ({ body }) => {
      const { webhooks, ...rest } = body.data as Fields
      return { ...body, data: webhooks, meta: rest }
    },
  },
  {
    name: 'data_list',
    path: '/v1/forecasts/archive?per_page=2',
    after: ({ body }) => ({ ...body, data: (body.data as Fields).forecasts }),
  },
  {
    name: 'data_object',
    path: '/v1/alerts',
    after: ({ text }) => {
      const alerts = JSON.parse(text) as Fields[]
      expect(alerts.length).toBeGreaterThan(0)
      return { alerts, count: alerts.length }
    },
  },
  {
    name: 'data_object',
    path: '/v1/scheduled-deliveries',
    after: ({ body }) => {
      const deliveries = body.data as Fields[]
      expect(deliveries.length).toBeGreaterThan(0)
      return { ...body, data: { scheduled_deliveries: deliveries, count: deliveries.length } }
    },
  },
  {
    name: 'spread_ports',
    path: '/v1/bunker-fuels/spreads/ports?from=SIN&to=RTM&grade=VLSFO',
    after: ({ body }) => {
      const data = body.data as Fields
      const spreads = data.spreads as { value: number; arbitrage_opportunity: unknown }
      const [cheaper, dearer] = spreads.value < 0 ? ['SIN', 'RTM'] : ['RTM', 'SIN']
      const apart = Math.abs(spreads.value)
      const text = spreads.arbitrage_opportunity
        ? `buy at ${cheaper}: ${apart} USD/t below ${dearer}`
        : `none: ${cheaper} and ${dearer} are ${apart} USD/t apart`
      return {
        ...body,
        data: {
          ...data,
          from_port: { code: 'SIN', name: 'Singapore', country: 'SG', region: 'Asia' },
          to_port: { code: 'RTM', name: 'Rotterdam', country: 'NL', region: 'Europe' },
          spreads: { ...spreads, arbitrage_opportunity: text },
        },
      }
    },
  },
  {
    name: 'spread_ports',
    path: '/v1/bunker-fuels/spreads/ports?from=SIN&to=RTM',
    after: ({ body }) => ({
      ...body,
      data: {
        ...(body.data as Fields),
        from_port: { code: 'SIN', name: 'Singapore', country: 'SG', region: 'Asia' },
        to_port: { code: 'RTM', name: 'Rotterdam', country: 'NL', region: 'Europe' },
      },
    }),
  },
  {
    name: 'components_text',
    path: '/v1/spreads/crack?id=brent_jet',
    after: ({ body }) => {
      const spread = body.data as Fields
      const components = spread.components as Fields[]
      expect(components.length).toBeGreaterThan(1)
      const texts = components.map(
        ({ weight, code, price, unit }) => `${weight} x ${code} at ${price} per ${unit}`,
      )
      return { ...body, data: { ...spread, components: texts } }
    },
  },
  {
    name: 'permit_operator_text',
    path: '/v1/ei/well-permits?per_page=2',
    after: ({ body }) => {
      const named = (permit: Fields) => ({ ...permit, operator: (permit.operator as Fields).name })
      return { ...body, data: (body.data as Fields[]).map(named) }
    },
  },
  {
    name: 'iso_week_number',
    path: '/v1/indicators/storage-analytics',
    after: ({ body }) => ({ ...body, data: { ...(body.data as Fields), week: 47 } }),
  },
  {
    name: 'diesel_flat',
    path: '/v1/diesel-prices/states/TX',
    after: before => ({ ...before.body, data: dataOf(before).regional_average }),
  },
  {
    name: 'error_string',
    path: '/v1/futures/merc-wti/spread-history',
    status: [400, 400],
    after: withTextError,
  },
  {
    name: 'error_string',
    path: '/v1/account',
    request: { key: 'nonsense' },
    status: [401, 401],
    after: withTextError,
  },
  {
    name: 'error_string',
    path: '/v1/prices/latest?by_code=NOPE_USD',
    status: [400, 400],
    after: ({ body }) => body,
  },
  {
    name: 'string_settlement',
    path: '/v1/futures/merc-wti/curve',
    after: ({ body }) => ({
      ...body,
      front_month: withTextSettlement(body.front_month),
      back_month: withTextSettlement(body.back_month),
      contracts: (body.contracts as Fields[]).map(withTextSettlement),
    }),
  },
]

describe('createClientProfiles: each switch', () => {
  for (const {
    name,
    path,
    request,
    status: [bareStatus, switchedTo] = [200, 200],
    after,
  } of cases) {
    test(`${name}: ${request?.method ?? 'GET'} ${path}`, async () => {
      const before = await ask(path, undefined, request)
      const switched = await ask(path, name, request)
      expect(
        { before: before.status, switched: switched.status },
        switched.text.slice(0, 300),
      ).toEqual({ before: bareStatus, switched: switchedTo })
      expect(switched.body).toEqual(after(before) as Fields)
      expect(switched.headers.get('content-type')).toBe(before.headers.get('content-type'))
      if (switchedTo >= 400) expect(switched.headers.get('x-error-status')).toBe(String(switchedTo))
      expect(switched.headers.get('vary')).toBe('X-Client')
    })
  }

  test('delete_with_body: an alert is deleted with an empty object', async () => {
    const create = async () => {
      const body = {
        price_alert: {
          name: 'x',
          commodity_code: 'WTI_USD',
          condition_operator: 'greater_than',
          condition_value: 1,
        },
      }
      return (await ask('/v1/alerts', undefined, { method: 'POST', body })).body.id
    }
    const [first, second] = [await create(), await create()]
    const before = await ask(`/v1/alerts/${first}`, undefined, { method: 'DELETE' })
    expect({ status: before.status, text: before.text }).toEqual({ status: 204, text: '' })
    const after = await ask(`/v1/alerts/${second}`, 'delete_with_body', { method: 'DELETE' })
    expect({ status: after.status, text: after.text }).toEqual({ status: 200, text: '{}' })
    expect(after.headers.get('content-type')).toContain('application/json')
    expect((await ask(alert, 'delete_with_body', { method: 'DELETE' })).status).toBe(404)
  })

  test('page_max_1000: windows and historical answer up to 1000 rows a page, and 100 unless asked', async () => {
    for (const path of [
      '/v1/prices/historical?start_date=2020-01-01&interval=raw',
      '/v1/prices/historical?start_date=2020-01-01&interval=1h',
    ]) {
      const sizes = async (client: string | undefined, perPage: string) => {
        const { body, headers } = await ask(
          `${path}&by_code=WTI_USD,BRENT_CRUDE_USD${perPage}`,
          client,
        )
        return [
          ((body.data as Fields).prices as Fields[]).length,
          (body.meta as Fields).per_page,
          headers.get('x-per-page'),
        ]
      }
      expect(await sizes(undefined, '&per_page=1000')).toEqual([100, 100, '100'])
      expect(await sizes('page_max_1000', '&per_page=1000')).toEqual([1000, 1000, '1000'])
      expect(await sizes('page_max_1000', '&per_page=1001')).toEqual([1000, 1000, '1000'])
      expect(await sizes('page_max_1000', '')).toEqual([100, 100, '100'])
    }
  })

  test('spread_history_default: without a range the last 30 days are answered', async () => {
    const path = '/v1/futures/merc-wti/spread-history'
    expect((await ask(path, undefined)).status).toBe(400)
    const { status, body } = await ask(path, 'spread_history_default')
    expect({ status, period: body.period }).toEqual({
      status: 200,
      period: { from: '2026-10-21', to: '2026-11-20' },
    })
    expect(body).toEqual((await ask(`${path}?from=2026-10-21&to=2026-11-20`, undefined)).body)
    expect((await ask(`${path}?from=2026-10-21`, 'spread_history_default')).status).toBe(400)
  })

  test('curve_structure_default: without a commodity the Brent curve is answered, under the first exchange word', async () => {
    const path = '/v1/spreads/curve-structure'
    expect((await ask(path, undefined)).status).toBe(400)
    const { status, body } = await ask(path, 'curve_structure_default')
    expect({ status, commodity: (body.data as Fields).commodity }).toEqual({
      status: 200,
      commodity: 'MERC_BRENT',
    })
    expect((await ask(`${path}?commodity=`, 'curve_structure_default')).status).toBe(200)
    expect((await ask(`${path}?commodity=nope`, 'curve_structure_default')).status).toBe(400)
  })

  test('signature_body signs new webhook endpoints over the body unless the request says otherwise', async () => {
    const scheme = async (client: string | undefined, more: Fields = {}) => {
      const body = { url: 'http://127.0.0.1:9/hook', events: ['price.updated'], ...more }
      const created = await ask('/v1/webhooks', client, { method: 'POST', body })
      await ask(`/v1/webhooks/${(created.body.data as Fields).id}`, undefined, { method: 'DELETE' })
      return (created.body.data as Fields).signature_scheme
    }
    expect(await scheme(undefined)).toBe('timestamped')
    expect(await scheme('signature_body')).toBe('body')
    expect(await scheme('signature_body', { signature_scheme: 'timestamped' })).toBe('timestamped')
  })

  test('retry_after_cap and quota_without_retry_after change the retry hint of an exhausted quota', async () => {
    const { services, key } = openTestInstance()
    const capped =
      '[[client_profiles]]\nname = "capped"\nmatch = { X-Client = "^capped$" }\nswitches = ["retry_after_cap"]\nvalues = { retry_after_cap = 7 }\n'
    const of = withProfiles(services, eachSwitch + capped)
    const token = key('developer')
    const keyState = services.keys.find(token)!
    for (let i = 0; i < 10_000; i += 1) services.meter.reserve(keyState)
    const retry = async (client: string | undefined) => {
      const { status, body, headers } = await ask('/v1/prices/latest', client, { key: token, of })
      expect({ status, code: body.code }).toEqual({ status: 429, code: 'MONTHLY_QUOTA_EXCEEDED' })
      return {
        header: headers.get('retry-after'),
        body: body.retry_after,
        reset: (body.reset as Fields).in_seconds,
      }
    }
    const reset = 896_400
    expect(await retry(undefined)).toEqual({ header: String(reset), body: reset, reset })
    expect(await retry('retry_after_cap')).toEqual({ header: '60', body: 60, reset })
    expect(await retry('capped')).toEqual({ header: '7', body: 7, reset })
    expect(await retry('quota_without_retry_after')).toEqual({
      header: null,
      body: undefined,
      reset,
    })
    const again = () => ask('/v1/prices/latest', 'quota_without_retry_after', { key: token, of })
    await again()
    const burst = await again()
    expect({ code: burst.body.code, retryAfter: burst.headers.get('retry-after') }).toEqual({
      code: 'RATE_LIMIT_EXCEEDED',
      retryAfter: String(burst.body.retry_after),
    })
  })

  test('default_page_max returns the whole window on the first page unless per_page is given', async () => {
    const path = '/v1/prices/past_year?by_code=WTI_USD&interval=day'
    const usual = (await ask(path, undefined)).body.meta as Fields
    expect({ per_page: usual.per_page, has_next: usual.has_next }).toEqual({
      per_page: 100,
      has_next: true,
    })
    const whole = await ask(path, 'default_page_max')
    expect(whole.body.meta).toMatchObject({ total: usual.total, total_pages: 1, has_next: false })
    expect(dataOf(whole).prices).toHaveLength(usual.total as number)
    const meta = (await ask(`${path}&per_page=5`, 'default_page_max')).body.meta as Fields
    expect(meta.per_page).toBe(5)
  })

  test.each([
    ['/v1/webhooks', 'webhooks'],
    ['/v1/data-sources', 'data_sources'],
    ['/v1/data-sources/00000000-0000-4000-8000-000000000801/logs', 'logs'],
    ['/v1/api-keys', 'api_keys'],
    ['/v1/subscriptions', 'subscriptions'],
    ['/v1/forecasts/monthly', 'forecasts'],
    ['/v1/forecasts/archive', 'forecasts'],
    ['/v1/forecasts/monthly/archive', 'forecasts'],
    ['/v1/data-quality/reports', 'reports'],
    ['/v1/well-production/top-producers', 'producers'],
    ['/v1/ei/opec_productions/top_producers', 'producers'],
    ['/v1/futures/merc-wti/historical', 'prices'],
    ['/v1/futures/merc-wti/continuous', 'prices'],
    ['/v1/futures/continuous/merc-wti/historical', 'prices'],
    ['/v1/futures/merc-wti/intraday', 'prices'],
    ['/v1/futures/merc-wti/ohlc', 'ohlc'],
    ['/v1/futures/merc-wti/curve', 'contracts'],
  ])('data_list: %s answers its list under data', async (path, name) => {
    const usual = await ask(path, undefined)
    expect(usual.status, usual.text.slice(0, 200)).toBe(200)
    const fields = path.startsWith('/v1/futures/') ? usual.body : dataOf(usual)
    const { [name]: list, ...rest } = fields
    const switched = await ask(path, 'data_list')
    // The second request counts against the limits of the key.
    const uncounted = (rows: unknown) =>
      JSON.stringify(rows).replace(/"(?:used|remaining)":\d+/g, '')
    expect(list).toBeArray()
    expect(uncounted(switched.body.data)).toEqual(uncounted(list))
    expect(switched.body.meta).toMatchObject(rest)
    expect(switched.headers.get('etag')).not.toBe(usual.headers.get('etag') ?? 'none')
  })

  test('partial fails only the unknown code when the profile or the request allows it', async () => {
    const paths = [
      '/v1/prices/latest?by_code=WTI_USD,NOPE_USD,BRENT_CRUDE_USD',
      '/v1/prices?by_code=WTI_USD,NOPE_USD,BRENT_CRUDE_USD',
      '/v1/prices/metrics?by_code=WTI_USD,NOPE_USD,BRENT_CRUDE_USD',
      '/v1/prices/past_week?by_code=WTI_USD,NOPE_USD,BRENT_CRUDE_USD',
    ]
    const lenient = { headers: { prefer: 'respond-async, handling=lenient' } }
    for (const path of paths) {
      expect((await ask(path, undefined)).status, path).toBe(400)
      const byProfile = await ask(path, 'partial')
      const byHeader = await ask(path, undefined, lenient)
      const answered = await ask(path.replace('NOPE_USD,', ''), undefined)
      for (const answer of [byProfile, byHeader]) {
        expect(answer.status, path).toBe(200)
        const { metadata, ...data } = dataOf(answer)
        const missing = metadata ? (metadata as Fields).missing_codes : data.missing_codes
        expect(missing, path).toEqual(['NOPE_USD'])
        expect(data.prices ?? data.metrics).toEqual(
          dataOf(answered).prices ?? dataOf(answered).metrics,
        )
      }
      expect(byHeader.headers.get('preference-applied')).toBe('handling=lenient')
      expect(byProfile.headers.has('preference-applied')).toBe(false)
    }
    const batch = { method: 'POST', body: { codes: ['WTI_USD', 'NOPE_USD'] } }
    expect((await ask('/v1/prices/batch', undefined, batch)).status).toBe(400)
    const some = dataOf(await ask('/v1/prices/batch', 'partial', batch))
    expect({ missing_codes: some.missing_codes, count: some.count }).toEqual({
      missing_codes: ['NOPE_USD'],
      count: 1,
    })
    for (const alone of ['NOPE_USD', 'NOPE_USD,NEITHER_USD'])
      expect((await ask(`/v1/prices/latest?by_code=${alone}`, 'partial')).status).toBe(400)
  })

  test('past_day_shifted returns the last trading day on a Sunday and reports the shift', async () => {
    const sunday = Date.parse('2026-11-22T12:00:00Z')
    const instance = openTestInstance({}, sunday)
    const friday = Date.parse('2026-11-20T21:55:00Z')
    instance.record('WTI_USD', [70, 71, 72], friday, 6 * 3_600_000)
    const of = withProfiles(instance.services, eachSwitch)
    const past = (name: string | undefined, query = '') =>
      ask(`/v1/prices/past_day?by_code=WTI_USD${query}`, name, { of, key: instance.key() })
    expect(dataOf(await past(undefined)).prices).toEqual([])
    const shifted = dataOf(await past('past_day_shifted'))
    expect((shifted.prices as Fields[]).map(row => row.price)).toEqual([72, 71, 70])
    expect(shifted.metadata).toMatchObject({
      window_shifted: true,
      from: '2026-11-19T21:55:00Z',
      to: '2026-11-20T21:55:00Z',
    })
    const dated = dataOf(await past('past_day_shifted', '&start_date=2026-11-22'))
    expect({
      prices: dated.prices,
      windowShifted: (dated.metadata as Fields).window_shifted,
    }).toEqual({ prices: [], windowShifted: undefined })
    instance.record('URALS_CRUDE_USD', [60], friday, 86_400_000)
    const daily = dataOf(await past('past_day_shifted', ',URALS_CRUDE_USD'))
    expect((daily.prices as Fields[]).map(row => row.price).toSorted()).toEqual([60, 70, 71, 72])
    instance.clock.set(Date.parse('2026-11-21T12:00:00Z'))
    expect(dataOf(await past('past_day_shifted')).metadata).not.toContainKey('window_shifted')
  })

  test('every switch of the list is shown above', () => {
    const apart = [
      'delete_with_body',
      'page_max_1000',
      'default_page_max',
      'partial',
      'past_day_shifted',
      'spread_history_default',
      'curve_structure_default',
      'signature_body',
    ]
    const shown = new Set([
      ...cases.map(scenario => scenario.name),
      ...apart,
      'retry_after_cap',
      'quota_without_retry_after',
    ])
    expect([...shown].sort()).toEqual([...switchNames].sort())
  })
})
