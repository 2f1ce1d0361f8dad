import { describe, expect, test } from 'bun:test'
import { withParametersInPlace } from '../../../../src/http/openapi/parameters.ts'
import { dayMs, hourMs, minuteMs, parseDay } from '../../../../src/lib/time/instant.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

const names = [
  'fuel-switching',
  'price-context',
  'storage-analytics',
  'cftc-positioning',
  'annotations',
  'congressional-trades',
] as const

interface Answer<T> {
  data: T
  meta: {
    as_of: string
    source: string
    source_description: string
    count?: number
    total?: number
  }
}
interface Refusal {
  error: {
    code: string
    message: string
    parameter?: string
    allowed?: string[]
    leg?: string
    have?: number
    need?: number
    reason?: string
  }
}

/** The response of an indicator, validated by its schema. */
async function read<T>(instance: TestInstance, name: string, query = ''): Promise<Answer<T>> {
  const response = await instance.get(`/v1/indicators/${name}${query}`, instance.key())
  expect(response.status, await response.clone().text()).toBe(200)
  const body = await json<Answer<T>>(response)
  expectShape(instance.app, `/v1/indicators/${name}`, body)
  expect(Object.keys(body).sort()).toEqual(['data', 'meta'])
  return body
}

async function refused(
  instance: TestInstance,
  name: string,
  query = '',
): Promise<Refusal['error'] & { status: number }> {
  const response = await instance.get(`/v1/indicators/${name}${query}`, instance.key())
  return { status: response.status, ...(await json<Refusal>(response)).error }
}

describe('an operation that has a default code, or answers for all codes', () => {
  test('takes the code under the names that its neighbours have for it', async () => {
    const instance = openTestInstance()
    const names = ['by_code', 'code', 'commodity']
    const document = await json<{
      paths: Record<string, { get?: { parameters?: { name: string; required?: boolean }[] } }>
    }>(await instance.get('/openapi.json', instance.key())).then(withParametersInPlace)
    // These are lists of prices, whose `by_code` takes several codes.
    const lists =
      /^\/v1\/(prices|bunker|spreads|excel|sheets|admin)|^\/admin|^\/openbb|curve-structure/
    const deaf = Object.entries(document.paths).filter(([path, { get }]) => {
      const own = get?.parameters?.filter(({ name }) => names.includes(name)) ?? []
      const isChoice = own.length > 0 && own.every(({ required }) => !required)
      return isChoice && own.length < names.length && !lists.test(path)
    })
    expect(deaf.map(([path]) => path)).toEqual([])
  })
})

describe('/v1/indicators', () => {
  for (const name of names) {
    test(`${name} needs a plan with calculated metrics, and counts as one request`, async () => {
      const instance = openTestInstance()
      expect((await instance.get(`/v1/indicators/${name}`)).status).toBe(401)
      const free = await instance.get(`/v1/indicators/${name}`, instance.key('free'))
      expect(free.status).toBe(403)
      expect((await json<Refusal>(free)).error.code).toBe('INSUFFICIENT_PLAN')
      for (const token of [instance.key('developer'), instance.key('free', { trial: true })]) {
        expect((await instance.get(`/v1/indicators/${name}`, token)).status).toBe(404)
      }
    })

    test(`${name} is a 404 with a reason while there is no data`, async () => {
      expect(await refused(openTestInstance(), name)).toMatchObject({
        status: 404,
        code: 'DATA_NOT_AVAILABLE',
      })
    })
  }

  test('of another name is an unknown route', async () => {
    const instance = openTestInstance()
    for (const path of [
      '/v1/indicators',
      '/v1/indicators/rsi',
      '/v1/indicators/fuel-switching/today',
    ]) {
      const response = await instance.get(path, instance.key())
      expect({ status: response.status, text: await response.text() }, path).toEqual({
        status: 404,
        text: '',
      })
    }
  })
})

interface Switching {
  value: number
  economical: string
  unit: string
  breakeven_price: number
  breakeven_unit: string
  timestamp: string
  metadata: {
    gas_cost: number
    coal_cost: number
    carbon_included: boolean
    breakeven_carbon_price: number | null
    prices: { code: string; timestamp: string }[]
  }
}

describe('/v1/indicators/fuel-switching', () => {
  function priced(carbon = true): TestInstance {
    const instance = openTestInstance()
    instance.record('DUTCH_TTF_EUR', [30], startAt - 5 * minuteMs, 1)
    instance.record('COAL_ARA_USD', [108], startAt - 22 * hourMs, 1)
    instance.record('EUR_USD', [1.2], startAt - 10 * minuteMs, 1)
    if (carbon) instance.record('EU_CARBON_EUR', [80], startAt - 5 * minuteMs, 1)
    return instance
  }
  // 108 USD are 90 EUR a tonne of 6.978 MWh; 30 EUR buy 0.9 MWh of net heat.
  const gasCost = (30 / 0.9 + 80 * 0.20196) / 0.53
  const coalCost = (90 / 6.978 + 80 * 0.34056) / 0.442

  test('in Europe converts coal to euro and adds carbon to both fuels', async () => {
    const { data, meta } = await read<Switching>(priced(), 'fuel-switching')
    expect(data).toMatchObject({
      economical: 'coal',
      from_fuel: 'coal',
      to_fuel: 'natural_gas',
      unit: 'EUR/MWh',
      breakeven_unit: 'EUR/MWh',
    })
    expect(data.value).toBeCloseTo(coalCost - gasCost, 9)
    expect(data.metadata.gas_cost).toBeCloseTo(gasCost, 9)
    expect(data.breakeven_price).toBeCloseTo(0.9 * (coalCost * 0.53 - 80 * 0.20196), 9)
    expect(data.metadata.breakeven_carbon_price).toBeCloseTo(
      (30 / 0.9 / 0.53 - 90 / 6.978 / 0.442) / (0.34056 / 0.442 - 0.20196 / 0.53),
      9,
    )
    expect(data.metadata.carbon_included).toBe(true)
    expect(data.metadata.prices.map(price => price.code)).toEqual([
      'DUTCH_TTF_EUR',
      'COAL_ARA_USD',
      'EUR_USD',
      'EU_CARBON_EUR',
    ])
    // Coal is the oldest price.
    expect({ timestamp: data.timestamp, as_of: meta.as_of }).toEqual({
      timestamp: '2026-11-19T17:00:00Z',
      as_of: '2026-11-19T17:00:00Z',
    })
    expect(meta.source).toBe('market_reporting')
  })

  test('fuel switching works without a carbon price, reports that, and can then find gas the economical fuel', async () => {
    const instance = priced(false)
    instance.record('DUTCH_TTF_EUR', [10], startAt - minuteMs, 1)
    const { data } = await read<Switching>(instance, 'fuel-switching', '?region=EUROPE')
    expect(data.metadata.carbon_included).toBe(false)
    expect(data.economical).toBe('natural_gas')
    expect(data.value).toBeCloseTo(90 / 6.978 / 0.442 - 10 / 0.9 / 0.53, 9)
  })

  test('in the United States is per MMBtu, without carbon', async () => {
    const instance = openTestInstance()
    instance.record('NATURAL_GAS_USD', [3], startAt - 5 * minuteMs, 1)
    instance.record('CAPP_COAL_USD', [75], startAt - 4 * dayMs, 1)
    const { data, meta } = await read<Switching>(instance, 'fuel-switching', '?region=us')
    expect(data).toMatchObject({
      economical: 'natural_gas',
      unit: 'USD/MWh',
      breakeven_unit: 'USD/MMBtu',
    })
    expect(data.value).toBeCloseTo(3 * 10.689 - 3 * 7.74, 9)
    expect(data.breakeven_price).toBeCloseTo((3 * 10.689) / 7.74, 9)
    expect(data.metadata.breakeven_carbon_price).toBeNull()
    expect(meta.source).toBe('market_reporting; EIA')
  })

  for (const [missing, codes] of [
    ['DUTCH_TTF_EUR', ['COAL_ARA_USD', 'EUR_USD']],
    ['COAL_ARA_USD', ['DUTCH_TTF_EUR', 'EUR_USD']],
    ['EUR_USD', ['DUTCH_TTF_EUR', 'COAL_ARA_USD']],
  ] as const) {
    test(`names the leg ${missing} that has no price`, async () => {
      const instance = openTestInstance()
      for (const code of codes) instance.record(code, [30], startAt - 5 * minuteMs, 1)
      expect(await refused(instance, 'fuel-switching')).toMatchObject({
        status: 404,
        code: 'DATA_NOT_AVAILABLE',
        leg: missing,
      })
    })
  }

  test('of another region is refused with those that there are', async () => {
    expect(await refused(priced(), 'fuel-switching', '?region=asia')).toMatchObject({
      status: 400,
      code: 'INVALID_PARAMETER',
      parameter: 'region',
      allowed: ['europe', 'us'],
    })
  })
})

describe('/v1/indicators/price-context', () => {
  test('is of the closes of 52 weeks, Brent unless another is named', async () => {
    const instance = openTestInstance()
    instance.record('BRENT_CRUDE_USD', [60, 90, 70, 85, 80.005], startAt - hourMs, dayMs)
    // A close 53 weeks back is not part of it.
    instance.record('BRENT_CRUDE_USD', [500], startAt - 371 * dayMs, 1)
    const { data, meta } = await read<Record<string, unknown>>(instance, 'price-context')
    expect(data).toEqual({
      commodity: 'BRENT_CRUDE_USD',
      price: 80.01,
      percentile: 60,
      high_52w: 90,
      low_52w: 60,
      average_52w: 77.001,
      currency: 'USD',
      unit: 'barrel',
      data_points: 5,
      timestamp: '2026-11-20T14:00:00Z',
    })
    expect(meta).toEqual({
      as_of: '2026-11-20T14:00:00Z',
      source: 'market_reporting',
      source_description: 'Compiled from market reporting',
    })
    instance.record('NATURAL_GAS_USD', [3, 4, 5, 6, 3.5], startAt - hourMs, dayMs)
    expect(
      (await read<Record<string, unknown>>(instance, 'price-context', '?by_code=natural_gas')).data,
    ).toMatchObject({
      commodity: 'NATURAL_GAS_USD',
      percentile: 40,
    })
  })

  test.each(['by_code', 'code', 'commodity'])(
    'is of the code that %s names, and not of the default',
    async name => {
      const instance = openTestInstance()
      for (const code of ['BRENT_CRUDE_USD', 'WTI_USD'])
        instance.record(code, [60, 90, 70, 85, 80], startAt - hourMs, dayMs)
      const response = await instance.get(
        `/v1/indicators/price-context?${name}=WTI_USD`,
        instance.key(),
      )
      const { data } = await json<{ data: { commodity: string } }>(response)
      expect({
        commodity: data.commodity,
        serviceIgnoredParameters: response.headers.get('x-service-ignored-parameters'),
      }).toEqual({ commodity: 'WTI_USD', serviceIgnoredParameters: null })
    },
  )

  test('the price context reports how many daily closes are missing', async () => {
    const instance = openTestInstance()
    instance.record('BRENT_CRUDE_USD', [60, 90, 70, 85], startAt - hourMs, dayMs)
    expect(await refused(instance, 'price-context')).toMatchObject({
      status: 404,
      code: 'DATA_NOT_AVAILABLE',
      have: 4,
      need: 5,
    })
  })

  test('is of one code', async () => {
    const instance = openTestInstance()
    for (const [query, code] of [
      ['?by_code=WTI_USD,BRENT_CRUDE_USD', 'too_many_codes'],
      ['?by_code=NOPE_USD', 'invalid_code'],
    ] as const) {
      const response = await instance.get(`/v1/indicators/price-context${query}`, instance.key())
      expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
        status: 400,
        errorCode: code,
      })
    }
  })
})

describe('/v1/indicators/storage-analytics', () => {
  const weeks = ['2023-11-22', '2024-11-20', '2025-11-19', '2026-11-18']
  function stored(
    code: string,
    levels: readonly number[],
    instance = openTestInstance(),
  ): TestInstance {
    for (const [i, level] of levels.entries())
      instance.record(code, [level], parseDay(weeks[i]!)! + 12 * hourMs, 1)
    return instance
  }

  test('compares Cushing with the same week of earlier years', async () => {
    const instance = stored('CUSHING_STORAGE', [22, 24, 26, 27])
    const { data, meta } = await read<Record<string, unknown>>(instance, 'storage-analytics')
    expect(data).toEqual({
      // 22, 24, 26: mean 24, sample deviation 2; (27 - 24) / 2.
      code: 'CUSHING_STORAGE',
      level: 27,
      zscore: 1.5,
      seasonal_average: 24,
      seasonal_std_dev: 2,
      seasonal_years: 3,
      capacity_percent: null,
      days_of_cover: null,
      week: '2026-W47',
      unit: 'million_barrels',
      timestamp: '2026-11-18T12:00:00Z',
    })
    expect(meta).toMatchObject({ as_of: '2026-11-18T12:00:00Z', source: 'EIA' })
    const series = instance.services.catalogue.resolve('CUSHING_STORAGE', 0)!.series
    instance.services.storageCapacities.write(
      [{ seriesId: series.id, effectiveOn: '2026-03-31', capacity: 78.3, source: 'EIA' }],
      1,
    )
    // 100 x 27 / 78.3
    expect(
      (await read<{ capacity_percent: number }>(instance, 'storage-analytics', '?code=cushing'))
        .data.capacity_percent,
    ).toBeCloseTo(34.4827586207, 9)
  })

  test('has days of cover where the use is published: the level over the mean of four weeks', async () => {
    const instance = stored('US_CRUDE_STORAGE', [410, 420, 430, 424])
    instance.record(
      'US_REFINERY_INPUTS',
      [99, 15.5, 16, 16.5, 16],
      parseDay('2026-11-18')! + 12 * hourMs,
      7 * dayMs,
    )
    expect(
      (await read<unknown>(instance, 'storage-analytics', '?code=US_CRUDE_STORAGE')).data,
    ).toMatchObject({ days_of_cover: 26.5, level: 424 })
  })

  test('takes a level in percent as the capacity it fills', async () => {
    const instance = stored('EU_GAS_STORAGE', [90, 95, 85, 81.25])
    expect(
      (await read<unknown>(instance, 'storage-analytics', '?code=EU_GAS_STORAGE')).data,
    ).toMatchObject({
      capacity_percent: 81.25,
      unit: 'percent',
    })
  })

  test('is a 404 with too few years, or with years that do not differ', async () => {
    expect(await refused(stored('CUSHING_STORAGE', [22]), 'storage-analytics')).toMatchObject({
      status: 404,
      have: 0,
      need: 2,
    })
    const same = await refused(stored('CUSHING_STORAGE', [22, 22, 22, 27]), 'storage-analytics')
    expect({ status: same.status, code: same.code }).toEqual({
      status: 404,
      code: 'DATA_NOT_AVAILABLE',
    })
  })

  test('is of storage codes only', async () => {
    expect(await refused(openTestInstance(), 'storage-analytics', '?code=WTI_USD')).toMatchObject({
      status: 400,
      code: 'INVALID_PARAMETER',
      parameter: 'code',
    })
  })
})

interface Position {
  market: string
  net_position: number
  change: number | null
  report_date: string
  commodity: string | null
}

describe('/v1/indicators/cftc-positioning', () => {
  const report = (
    market: string,
    reportedOn: string,
    long: number,
    short: number,
    source = 'CFTC',
  ) => [
    {
      market,
      reportedOn,
      managedMoneyLong: long,
      managedMoneyShort: short,
      openInterest: 1000,
      source,
    },
  ]
  function reported(): TestInstance {
    const instance = openTestInstance()
    instance.services.positions.write(
      [
        report('WTI', '2026-11-03', 200, 50),
        report('WTI', '2026-11-10', 210, 80),
        report('WHEAT', '2026-11-10', 90, 95),
        // A week is missing.
        report('WTI', '2026-10-20', 100, 90),
      ],
      1,
    )
    return instance
  }

  test('are listed newest first, with the change since the report before, whenever that was', async () => {
    const { data, meta } = await read<Position[]>(reported(), 'cftc-positioning')
    expect(
      data.map(({ market, net_position, change, report_date, commodity }) => [
        market,
        report_date,
        net_position,
        change,
        commodity,
      ]),
    ).toEqual([
      ['WHEAT', '2026-11-10', -5, null, null],
      ['WTI', '2026-11-10', 130, -20, 'WTI_USD'],
      ['WTI', '2026-11-03', 150, 140, 'WTI_USD'],
      ['WTI', '2026-10-20', 10, null, 'WTI_USD'],
    ])
    expect(data[1]).toMatchObject({
      managed_money_long: 210,
      managed_money_short: 80,
      open_interest: 1000,
    })
    expect(meta).toMatchObject({
      as_of: '2026-11-10T00:00:00Z',
      source: 'CFTC',
      source_description: 'Published by CFTC',
      count: 4,
      total: 4,
    })
  })

  test('of one market come in pages that keep their changes', async () => {
    const instance = reported()
    const response = await instance.get(
      '/v1/indicators/cftc-positioning?market=wti&per_page=2',
      instance.key(),
    )
    expect(
      ['x-total', 'x-total-pages', 'x-has-next'].map(name => response.headers.get(name)),
    ).toEqual(['3', '2', 'true'])
    const body = await json<Answer<Position[]>>(response)
    expect(body.data.map(row => row.change)).toEqual([-20, 140])
    const second = await read<Position[]>(
      instance,
      'cftc-positioning',
      '?market=WTI&per_page=2&page=2',
    )
    expect(second.data.map(row => row.report_date)).toEqual(['2026-10-20'])
    expect((await read<Position[]>(instance, 'cftc-positioning', '?page=9')).data).toEqual([])
  })

  test('of an unknown market are refused with those that there are', async () => {
    expect(await refused(reported(), 'cftc-positioning', '?market=CORN')).toMatchObject({
      status: 400,
      parameter: 'market',
      allowed: ['WHEAT', 'WTI'],
    })
  })

  test('CFTC positioning reports in a header when it includes fixture data', async () => {
    const instance = reported()
    expect(
      (await instance.get('/v1/indicators/cftc-positioning', instance.key())).headers.get(
        'x-service-data',
      ),
    ).toBeNull()
    instance.services.positions.write([report('RBOB', '2026-11-10', 1, 2, 'fixture')], 1)
    expect(
      (await instance.get('/v1/indicators/cftc-positioning', instance.key())).headers.get(
        'x-service-data',
      ),
    ).toBe('fixture')
    expect((await read<unknown>(instance, 'cftc-positioning')).meta.source_description).toContain(
      'Fixture data',
    )
  })
})

describe('/v1/indicators/annotations', () => {
  test('are listed newest first, of one commodity if named', async () => {
    const instance = openTestInstance()
    const note = (id: string, on: string, commodity: string | null) => ({
      id,
      on,
      commodity,
      title: `Title ${id}`,
      description: `Text ${id}`,
      category: 'opec',
      source: 'desk',
    })
    instance.services.annotations.write(
      [
        note('a', '2026-11-05', 'WTI_USD'),
        note('b', '2026-11-09', null),
        note('c', '2026-10-01', 'BRENT_CRUDE_USD'),
      ],
      1,
    )
    const { data, meta } = await read<{ id: string }[]>(instance, 'annotations')
    expect(data.map(row => row.id)).toEqual(['b', 'a', 'c'])
    expect(data[1]).toEqual({
      id: 'a',
      title: 'Title a',
      description: 'Text a',
      category: 'opec',
      date: '2026-11-05',
      commodity: 'WTI_USD',
    } as (typeof data)[0])
    expect(meta).toMatchObject({ as_of: '2026-11-09T00:00:00Z', source: 'desk', count: 3 })
    expect(
      (await read<{ id: string }[]>(instance, 'annotations', '?commodity=wti')).data.map(
        row => row.id,
      ),
    ).toEqual(['a'])
    expect((await read<unknown[]>(instance, 'annotations', '?commodity=GOLD_USD')).data).toEqual([])
  })
})

describe('/v1/indicators/congressional-trades', () => {
  test('are not available until a file has been imported, then listed as disclosed', async () => {
    const instance = openTestInstance()
    const before = await refused(instance, 'congressional-trades')
    expect(before).toMatchObject({ status: 404, code: 'DATA_NOT_AVAILABLE', reason: 'no_source' })
    expect(before.message).toContain('has not imported this dataset')
    const trade = (ticker: string, disclosedOn: string) => ({
      member: 'Jordan Example',
      ticker,
      transactionType: 'purchase' as const,
      amountRange: '$1,001 - $15,000',
      transactedOn: dayAfter(disclosedOn, -20),
      disclosedOn,
      source: 'import',
    })
    instance.services.congressionalTrades.write(
      [trade('ABC', '2026-10-30'), trade('XYZ', '2026-11-03')],
      1,
    )
    const { data, meta } = await read<Record<string, string>[]>(instance, 'congressional-trades')
    expect(data.map(row => row.ticker)).toEqual(['XYZ', 'ABC'])
    expect(data[0]).toEqual({
      member: 'Jordan Example',
      ticker: 'XYZ',
      transaction_type: 'purchase',
      amount_range: '$1,001 - $15,000',
      transaction_date: '2026-10-14',
      disclosure_date: '2026-11-03',
    })
    expect(meta).toMatchObject({ as_of: '2026-11-03T00:00:00Z', source: 'import', count: 2 })
  })
})
