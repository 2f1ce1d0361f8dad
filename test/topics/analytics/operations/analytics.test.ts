import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import type { InternalRoute, TSchema } from 'elysia'
import fc from 'fast-check'
import { dayMs, isoDay, parseDay } from '../../../../src/lib/time/instant.ts'
import { runs as sweep } from '../../../support/full.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import * as definitions from '../../../support/interface/definitions.ts'
import { answersOf } from '../../../support/interface/shape.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses } from '../../../support/real-data.ts'

const instance = openTestInstance()
const token = instance.key('enterprise')

/** Records closes under a code: each at 19:30 of its day. */
function put(code: string, days: readonly definitions.Day[], to = instance): void {
  const { series } = to.services.catalogue.resolve(code, to.clock.now())!
  to.services.ingest.write(
    days.map(({ day, value }) => ({
      seriesId: series.id,
      observedAt: parseDay(day)! + 19.5 * 3_600_000,
      value,
    })),
    parseDay(days.at(-1)!.day)! + dayMs,
  )
}

const daysFrom = (first: string, values: readonly number[]): definitions.Day[] =>
  values.map((value, i) => ({ day: isoDay(parseDay(first)! + i * dayMs), value }))

async function ask(path: string, key = token) {
  // Each request a second later, so that no rolling window fills.
  instance.clock.advance(1001)
  const response = await instance.get(`/v1/analytics/${path}`, key)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

// biome-ignore lint/suspicious/noExplicitAny: a body as JSON.parse gives it; the schema check says what it is.
type Json = Record<string, any>

const routes = instance.app.routes as InternalRoute[]

function documented(path: string, body: unknown): boolean {
  const route = routes.find(route => route.path === `/v1/analytics/${path.split('?')[0]}`)!
  const shape = answersOf(route)[200]!
  return Value.Check(shape['x-serialised'] as TSchema, body)
}

/**
 * The fields of a 200, which must be both under `data` and at the top level, with the documented
 * values.
 */
async function answered(path: string, key = token): Promise<Json> {
  const { status, text } = await ask(path, key)
  const body = JSON.parse(text)
  expect(status, text).toBe(200)
  expect(documented(path, body), text).toBe(true)
  const { status: word, data, ...top } = body
  expect(word).toBe('success')
  expect(top).toEqual(data)
  return data
}

async function refused(path: string, key = token) {
  const { status, text, headers } = await ask(path, key)
  const body = JSON.parse(text)
  const error = body.error?.code ? body.error : body
  expect(error.code).toBe(headers.get('x-error-code'))
  return { status, error }
}

/** Every number equal to 1e-9 of its size. */
function near(answer: unknown, expected: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(expected)) {
    const number = (answer as Record<string, number>)[name]!
    expect(Math.abs(number - value), `${name}: ${number} is not ${value}`).toBeLessThanOrEqual(
      1e-9 * Math.max(1, Math.abs(value)),
    )
  }
}

/**
 * Stretches of real series that between them have holidays, a hole, a negative price and a spike.
 */
const real = [
  {
    code: 'WTI_USD',
    file: 'oil-prices/wti-daily.csv',
    last: '2024-06-28',
    periods: [30, 90, 365, 1825],
  },
  {
    code: 'WCS_CRUDE_USD',
    file: 'oil-prices/wti-daily.csv',
    last: '2020-04-30',
    periods: [30, 90, 365],
  },
  { code: 'MARS_USD', file: 'oil-prices/wti-daily.csv', last: '2020-04-20', periods: [30, 365] },
  {
    code: 'BRENT_CRUDE_USD',
    file: 'oil-prices/brent-daily.csv',
    last: '2024-06-28',
    periods: [30, 90, 365, 1825],
  },
  {
    code: 'DUBAI_CRUDE_USD',
    file: 'oil-prices/brent-daily.csv',
    last: '2020-04-30',
    periods: [30, 365],
  },
  {
    code: 'NATURAL_GAS_USD',
    file: 'natural-gas/daily.csv',
    last: '2024-06-28',
    periods: [30, 365],
  },
  { code: 'GAS_WAHA_USD', file: 'natural-gas/daily.csv', last: '2005-10-31', periods: [45, 365] },
] as const
type RealCode = (typeof real)[number]['code']
const closesOf = Object.fromEntries(
  real.map(definition => [
    definition.code,
    realCloses(definition.file, definition.last).slice(-1700),
  ]),
) as Record<RealCode, definitions.Day[]>
if (needs('../shared/data').isMet) for (const { code } of real) put(code, closesOf[code])
const cases = real.flatMap(definition =>
  definition.periods.map(period => ({ code: definition.code, last: definition.last, period })),
)
const realTest = needs('../shared/data').test

describe('/v1/analytics on real series, as recomputed from the definitions to 1e-9', () => {
  for (const { code, last, period } of cases) {
    const closes = closesOf[code]
    realTest(`statistics of ${code} to ${last} over ${period} days`, async () => {
      const { statistics, ...head } = await answered(`statistics?code=${code}&period=${period}`)
      near(statistics, definitions.statistics(closes, period))
      expect(head).toMatchObject({ code, period, tier: 'enterprise', tier_name: 'Enterprise' })
    })

    realTest(`trend of ${code} to ${last} over ${period} days`, async () => {
      const result = await answered(`trend?code=${code}&period=${period}`)
      const inside = definitions.window(closes, period)
      const fit = definitions.line(inside)
      const [first, newest] = [inside[0]!.value, inside.at(-1)!.value]
      near(result.trend, {
        slope: fit.slope,
        strength: 100 * fit.rSquared,
        price_change_pct: 100 * (newest / first - 1),
      })
      const moved = Math.abs(fit.rise) > Math.abs(fit.mean) / 100
      expect(result.trend.direction).toBe(moved ? (fit.rise > 0 ? 'up' : 'down') : 'sideways')
      near(result.momentum, { rsi: definitions.rsiAt(closes, 14) })
      const sma = definitions.smaAt(closes, 20)
      near(result.moving_averages, {
        sma_20: sma,
        ema_20: definitions.emaAt(closes, 20),
        price_vs_sma: 100 * (newest / sma - 1),
      })
      expect(result.moving_averages.golden_cross).toBe(
        definitions.smaAt(closes, 50) > definitions.smaAt(closes, 200),
      )
      const levels = definitions.pivots(inside)
      near(result.levels, { pivot_point: levels.pivot_point })
      near(result.levels.support, { 0: levels.support[0]!, 1: levels.support[1]! })
      near(result.levels.resistance, { 0: levels.resistance[0]!, 1: levels.resistance[1]! })
    })

    if (period >= 20) {
      realTest(`forecast of ${code} to ${last} over ${period} days`, async () => {
        const inside = definitions.window(closes, period)
        const sigma = definitions.deviation(definitions.returns(inside))
        const drift = definitions.emaDrift(closes, period)
        const last = closes.at(-1)!.value
        const average = definitions.smaAt(closes, 20)
        const closesAYear = definitions.closesAYear(inside)
        if (inside.some(close => close.value <= 0)) {
          const { status, error } = await refused(`forecast?code=${code}&period=${period}`)
          expect({ status, code: error.code }).toEqual({ status: 404, code: 'DATA_NOT_AVAILABLE' })
          expect(error.message).toContain('zero or negative')
          return
        }
        for (const [method, share] of [
          ['sma', 0],
          ['ema', 1],
          ['combined', 0.5],
        ] as const) {
          const result = await answered(`forecast?code=${code}&method=${method}&period=${period}`)
          near(result, {
            current_price: last,
            data_points: inside.length,
            observations_per_year: closesAYear,
            volatility: definitions.volatility(inside),
          })
          for (const row of result.forecasts) {
            const h = row.horizon_days
            const n = (h * closesAYear) / 365
            const value = share * last * Math.exp(drift * n) + (1 - share) * average
            near(row, { forecast_value: value, forecast_change_pct: 100 * (value / last - 1) })
            for (const deviations of [1, 2]) {
              const edges = [-1, 1].map(
                sign => value * Math.exp(sign * deviations * sigma * Math.sqrt(n)),
              )
              const band = row.confidence_intervals[`sigma_${deviations}`]
              near(band, {
                low: edges[0]!,
                high: edges[1]!,
                probability: deviations === 1 ? 0.6827 : 0.9545,
              })
            }
          }
        }
      })
    }
  }

  const pairs: [RealCode, RealCode, number][] = [
    ['WTI_USD', 'BRENT_CRUDE_USD', 30],
    ['WTI_USD', 'BRENT_CRUDE_USD', 1825],
    ['NATURAL_GAS_USD', 'WTI_USD', 365],
    ['WCS_CRUDE_USD', 'DUBAI_CRUDE_USD', 90],
    ['MARS_USD', 'WCS_CRUDE_USD', 365],
  ]
  for (const [a, b, period] of pairs) {
    realTest(`correlation of ${a} and ${b} over ${period} days, whole and rolling`, async () => {
      const { joined: correlations, closes } = definitions.pairs(closesOf[a], closesOf[b], period)
      const analysis = await answered(`correlation?code1=${a}&code2=${b}&period=${period}`)
      near(analysis, { correlation: definitions.pearson(correlations), data_points: closes })
      for (const window of [7, 20]) {
        const rolling = await answered(
          `correlation?type=rolling&code1=${a}&code2=${b}&period=${period}&window=${window}`,
        )
        const rows = rolling.correlations as { date: string; correlation: number }[]
        const expected = correlations.slice(window - 1).map((correlation, i) => ({
          date: correlation.day,
          correlation: definitions.pearson(correlations.slice(i, i + window)),
        }))
        expect(rows.map(row => row.date)).toEqual(expected.map(correlation => correlation.date))
        rows.forEach((row, i) => {
          // The reference's one pass loses digits where seven returns hardly vary.
          expect(Math.abs(row.correlation - expected[i]!.correlation)).toBeLessThan(1e-8)
        })
        near(rolling, {
          latest: rows.at(-1)!.correlation,
          average: definitions.mean(rows.map(row => row.correlation)),
        })
        if (window === 7) {
          const spread = definitions.deviation(rows.map(row => row.correlation))
          expect(analysis.stability).toBe(
            spread < 0.25 ? 'stable' : spread < 0.5 ? 'moderate' : 'unstable',
          )
        }
      }
    })
  }

  realTest(`a matrix of five codes, symmetric, each pair on its own common dates`, async () => {
    const codes = real.slice(0, 5).map(definition => definition.code)
    const result = await answered(`correlation?type=matrix&codes=${codes.join(',')}&period=365`)
    expect(result.codes).toEqual(codes)
    let least = Number.POSITIVE_INFINITY
    for (const a of codes) {
      for (const b of codes) {
        const { joined, closes } = definitions.pairs(closesOf[a], closesOf[b], 365)
        near(result.matrix[a], { [b]: definitions.pearson(joined) })
        least = Math.min(least, closes)
      }
    }
    expect(result.data_points).toBe(least)
  })

  realTest(`wti_brent over 365 days, with its history`, async () => {
    const days = definitions
      .common(closesOf.WTI_USD, closesOf.BRENT_CRUDE_USD)
      .map(day => ({ ...day, value: day.a - day.b }))
    const result = await answered('spread?spread=wti_brent&period=365&type=historical')
    const { median: _, volatility: __, ...expected } = definitions.statistics(days, 365)
    near(result.historical, expected)
    const last = days.at(-1)!
    near(result, { current_spread: last.value, price1: last.a, price2: last.b })
    const inside = definitions.window(days, 365).reverse()
    const rows = result.history as {
      date: string
      spread: number
      price1: number
      price2: number
    }[]
    expect(rows.map(row => row.date)).toEqual(inside.map(day => day.day))
    for (const [i, row] of rows.entries())
      near(row, { spread: inside[i]!.value, price1: inside[i]!.a, price2: inside[i]!.b })
  })
})

describe('/v1/analytics with textbook vectors', () => {
  const rsiCloses = [
    44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826,
    45.8931, 46.0328, 45.614, 46.282, 46.282,
  ]
  const averageCloses = [
    22.27, 22.19, 22.08, 22.17, 22.18, 22.13, 22.23, 22.43, 22.24, 22.29, 22.15, 22.39,
  ]
  put('ESPO_CRUDE_USD', daysFrom('2026-11-01', rsiCloses))
  put('FORTIES_USD', daysFrom('2026-11-01', averageCloses))

  test('RSI(14) is 70.53 at the fifteenth close', async () => {
    const result = await answered('trend?code=ESPO_CRUDE_USD&type=rsi')
    expect(result.rsi.toFixed(2)).toBe('70.53')
    expect(result).toMatchObject({ window: 14, interpretation: 'overbought', position: 'above' })
    expect(result.values).toHaveLength(1)
  })

  test('SMA(10) and EMA(10) from the tenth close on', async () => {
    const valuesOf = async (type: string) => {
      const result = await answered(`trend?code=FORTIES_USD&type=${type}&window=10`)
      return (result.values as { value: number }[]).map(row => row.value.toFixed(2))
    }
    expect(await valuesOf('sma')).toEqual(['22.22', '22.21', '22.23'])
    expect(await valuesOf('ema')).toEqual(['22.22', '22.21', '22.24'])
  })
})

describe('/v1/analytics/spread by its definitions', () => {
  const own = openTestInstance()
  const key = own.key()
  const at = startAt - dayMs
  const legs = {
    WTI_USD: 72,
    BRENT_CRUDE_USD: 75.1,
    DUBAI_CRUDE_USD: 74.2,
    GASOLINE_USD: 2.1,
    HEATING_OIL_USD: 2.3,
    NATURAL_GAS_USD: 3.2,
  }
  for (const [code, price] of Object.entries(legs))
    own.record(code, [price + 1, price + 2, price - 0.5, price + 0.3, price], at, dayMs)
  const ask = async (id: string) => {
    own.clock.advance(1001)
    return JSON.parse(await (await own.get(`/v1/analytics/spread?spread=${id}`, key)).text()).data
  }

  const table: [string, number, string, string, string][] = [
    ['wti_brent', 72 - 75.1, 'WTI_USD', 'BRENT_CRUDE_USD', 'USD/barrel'],
    ['wti_dubai', 72 - 74.2, 'WTI_USD', 'DUBAI_CRUDE_USD', 'USD/barrel'],
    ['321', (2 * 2.1 * 42 + 2.3 * 42 - 3 * 72) / 3, 'GASOLINE_USD', 'WTI_USD', 'USD/barrel'],
    ['gasoline_crack', 2.1 * 42 - 72, 'GASOLINE_USD', 'WTI_USD', 'USD/barrel'],
    ['heating_oil_crack', 2.3 * 42 - 72, 'HEATING_OIL_USD', 'WTI_USD', 'USD/barrel'],
    ['gas_oil_ratio', 72 / (3.2 * 5.8), 'WTI_USD', 'NATURAL_GAS_USD', 'ratio'],
  ]
  for (const [id, value, code1, code2, unit] of table) {
    test(id, async () => {
      const result = await ask(id)
      near(result, {
        current_spread: value,
        price1: legs[code1 as 'WTI_USD'],
        price2: legs[code2 as 'WTI_USD'],
      })
      expect(result).toMatchObject({ spread: id, code1, code2, unit, type: 'current', period: 30 })
      expect(result.historical.data_points).toBe(5)
      expect(result.history).toBeUndefined()
    })
  }

  test('GET /v1/analytics/spread lists every available spread', async () => {
    own.clock.advance(1001)
    const { data } = JSON.parse(await (await own.get('/v1/analytics/spread', key)).text())
    expect(data.available_spreads.map((spread: { id: string }) => spread.id)).toEqual(
      table.map(([id]) => id),
    )
  })
})

describe('/v1/analytics with too little data', () => {
  put('MURBAN_CRUDE_USD', daysFrom('2026-11-01', [70, 71, 72, 73]))
  put(
    'OMAN_CRUDE_USD',
    daysFrom('2026-11-01', [70, 71, 72, 73, 72, 71, 73, 74, 73, 72, 75, 74, 73, 75]),
  )

  const table: [string, number, number][] = [
    ['statistics?code=MURBAN_CRUDE_USD', 4, 5],
    ['statistics?code=OMAN_CRUDE_USD&period=4', 4, 5],
    ['statistics?code=BONNY_LIGHT_USD', 0, 5],
    ['trend?code=MURBAN_CRUDE_USD', 4, 5],
    ['trend?code=OMAN_CRUDE_USD', 14, 21],
    ['trend?code=OMAN_CRUDE_USD&type=sma', 14, 21],
    ['trend?code=OMAN_CRUDE_USD&type=ema&window=14', 14, 15],
    ['trend?code=OMAN_CRUDE_USD&type=rsi', 14, 15],
    ['trend?code=MURBAN_CRUDE_USD&type=levels', 4, 5],
    ['forecast?code=MURBAN_CRUDE_USD', 4, 5],
    ['forecast?code=OMAN_CRUDE_USD', 14, 21],
    ['correlation?code1=OMAN_CRUDE_USD&code2=MURBAN_CRUDE_USD', 4, 5],
    ['correlation?type=rolling&code1=OMAN_CRUDE_USD&code2=OMAN_CRUDE_USD&window=14', 14, 15],
    ['correlation?type=matrix&codes=OMAN_CRUDE_USD,MURBAN_CRUDE_USD', 4, 5],
  ]
  for (const [path, have, need] of table) {
    test(`${path}: 404 that names ${have} and ${need}`, async () => {
      const { status, error } = await refused(path)
      expect({ status, code: error.code, have: error.have, need: error.need }).toEqual({
        status: 404,
        code: 'DATA_NOT_AVAILABLE',
        have,
        need,
      })
      expect(error.message).toContain(`${have} of the ${need} needed`)
    })
  }

  test('a matrix names the pair, a spread the leg', async () => {
    const { error } = await refused('correlation?type=matrix&codes=OMAN_CRUDE_USD,MURBAN_CRUDE_USD')
    expect(error.codes).toEqual(['OMAN_CRUDE_USD', 'MURBAN_CRUDE_USD'])
    expect((await refused('spread?spread=321')).error).toMatchObject({
      code: 'DATA_NOT_AVAILABLE',
      leg: 'GASOLINE_USD',
      have: 0,
      need: 5,
    })
  })

  test('the least that is enough is enough', async () => {
    put('JOHAN_SVERDRUP_USD', daysFrom('2026-11-01', [70, 71, 70, 72, 73]))
    expect((await answered('statistics?code=JOHAN_SVERDRUP_USD')).statistics.data_points).toBe(5)
    expect((await answered('trend?code=JOHAN_SVERDRUP_USD&type=rsi&window=4')).values).toHaveLength(
      1,
    )
  })
})

describe('/v1/analytics refuses', () => {
  const missing: [string, string][] = [
    ['statistics', 'code'],
    ['statistics?code=', 'code'],
    ['trend', 'code'],
    ['correlation', 'code1'],
    ['correlation?code1=WTI_USD', 'code2'],
    ['correlation?type=rolling&code2=WTI_USD', 'code1'],
    ['correlation?type=matrix', 'codes'],
  ]
  for (const [path, parameter] of missing) {
    test(`${path}: ${parameter} is missing`, async () => {
      const { status, error } = await refused(path)
      expect({ status, code: error.code, parameter: error.parameter }).toEqual({
        status: 400,
        code: 'MISSING_PARAMETER',
        parameter,
      })
    })
  }

  const invalid: [string, string][] = [
    ['statistics?code=WTI_USD&period=1', 'period'],
    ['statistics?code=WTI_USD&period=1826', 'period'],
    ['statistics?code=WTI_USD&period=0x20', 'period'],
    ['statistics?code=WTI_USD&period=30.5', 'period'],
    ['forecast?code=WTI_USD&period=19', 'period'],
    ['forecast?code=WTI_USD&method=arima', 'method'],
    ['forecast?method=arima', 'method'],
    ['trend?code=WTI_USD&type=dance', 'type'],
    ['trend?code=WTI_USD&type=sma&window=1', 'window'],
    ['trend?code=WTI_USD&type=rsi&window=501', 'window'],
    ['correlation?type=pearson', 'type'],
    ['correlation?type=rolling&code1=WTI_USD&code2=BRENT_CRUDE_USD&period=30&window=31', 'window'],
    ['correlation?type=matrix&codes=WTI_USD', 'codes'],
    ['correlation?type=matrix&codes=WTI_USD,wti', 'codes'],
    ['spread?spread=brent_wti', 'spread'],
    ['spread?spread=wti_brent&type=past', 'type'],
  ]
  for (const [path, parameter] of invalid) {
    test(`${path}: ${parameter} is invalid`, async () => {
      const { status, error } = await refused(path)
      expect({ status, code: error.code, parameter: error.parameter }).toEqual({
        status: 400,
        code: 'INVALID_PARAMETER',
        parameter,
      })
    })
  }

  test('words that are not known come with those that are', async () => {
    expect((await refused('trend?code=WTI_USD&type=dance')).error.allowed).toEqual([
      'analysis',
      'sma',
      'ema',
      'rsi',
      'levels',
      'macd',
      'bollinger',
      'atr',
    ])
    expect((await refused('spread?spread=x')).error.allowed).toContain('gas_oil_ratio')
  })

  test('unknown codes are named, all of them', async () => {
    const { status, error } = await refused('correlation?code1=WTI_USDX&code2=NO_SUCH')
    expect({ status, code: error.code, invalid_codes: error.data.invalid_codes }).toEqual({
      status: 400,
      code: 'invalid_code',
      invalid_codes: ['WTI_USDX', 'NO_SUCH'],
    })
    expect(error.data.suggestions).toContain('WTI_USD')
    expect((await refused('statistics?code=WTI_USD,BRENT_CRUDE_USD')).error.code).toBe(
      'invalid_code',
    )
  })

  test('a matrix takes ten codes and no more', async () => {
    const codes = instance.services.catalogue
      .list()
      .slice(0, 11)
      .map(item => item.code)
    expect((await refused(`correlation?type=matrix&codes=${codes.join(',')}`)).error).toMatchObject(
      {
        code: 'too_many_codes',
        data: { max: 10, requested: 11 },
      },
    )
  })
})

describe('/v1/analytics and plans', () => {
  const [analytics, forecast] = ['statistics?code=ESPO_CRUDE_USD', 'forecast']
  const table: [string, { trial?: boolean }, number, number][] = [
    ['free', {}, 403, 403],
    ['free', { trial: true }, 403, 403],
    ['developer', {}, 403, 403],
    ['starter', {}, 200, 403],
    ['professional', {}, 200, 200],
    ['scale', {}, 200, 200],
    ['enterprise', {}, 200, 200],
  ]
  for (const [plan, options, toAnalytics, toForecast] of table) {
    test(`${plan}${options.trial ? ' on trial' : ''}: analytics ${toAnalytics}, forecast ${toForecast}`, async () => {
      const key = instance.key(plan, options)
      for (const path of [
        analytics,
        'trend?code=ESPO_CRUDE_USD&type=levels',
        'correlation?code1=ESPO_CRUDE_USD&code2=FORTIES_USD',
        'spread',
      ]) {
        expect((await ask(path, key)).status, path).toBe(toAnalytics)
      }
      expect((await ask(forecast, key)).status).toBe(toForecast)
    })
  }

  test('a refusal names the feature and the plan that has it', async () => {
    const key = instance.key('developer')
    expect((await refused(analytics, key)).error).toMatchObject({
      code: 'INSUFFICIENT_PLAN',
      feature: 'analytics',
      required_plan: 'starter',
    })
    expect((await refused(forecast, key)).error).toMatchObject({
      feature: 'forecast',
      required_plan: 'professional',
      required_tier: 'Reservoir Mastery',
    })
  })

  test('an analytics response names the plan of the caller and counts against the quota, and a refusal does not', async () => {
    const key = instance.key('starter')
    expect(await answered(analytics, key)).toMatchObject({
      tier: 'starter',
      tier_name: 'Production Boost',
    })
    expect(
      (await ask('statistics?code=BONNY_LIGHT_USD', key)).headers.get('x-ratelimit-used'),
    ).toBe('1')
    expect((await ask(analytics, key)).headers.get('x-ratelimit-used')).toBe('2')
  })
})

describe('/v1/analytics whatever the prices are', () => {
  const wild = openTestInstance()
  const key = wild.key()
  const paths = [
    'statistics?code=WTI_USD',
    'trend?code=WTI_USD',
    'trend?code=WTI_USD&type=sma&window=5',
    'trend?code=WTI_USD&type=ema&window=5',
    'trend?code=WTI_USD&type=rsi&window=5',
    'trend?code=WTI_USD&type=levels',
    'forecast?code=WTI_USD',
    'forecast?code=WTI_USD&method=combined',
    'correlation?code1=WTI_USD&code2=BRENT_CRUDE_USD',
    'correlation?type=rolling&code1=WTI_USD&code2=BRENT_CRUDE_USD&window=2',
    'correlation?type=matrix&codes=WTI_USD,BRENT_CRUDE_USD',
    'spread?spread=wti_brent&type=historical',
    'spread?spread=gas_oil_ratio',
  ]
  const price = fc.oneof(
    fc.constantFrom(0, 0.01, 70, -37.63, 1e-6, 1400),
    fc.integer({ min: -5000, max: 20_000 }).map(cents => cents / 100),
  )
  const run = fc.array(price, { minLength: 30, maxLength: 30 })
  const runs = fc.oneof(
    run,
    price.map(value => Array<number>(30).fill(value)),
  )

  test('an analytics response has numbers or null and matches its documentation, whatever the prices are', async () => {
    await fc.assert(
      fc.asyncProperty(runs, runs, runs, async (first, second, third) => {
        for (const [code, values] of [
          ['WTI_USD', first],
          ['BRENT_CRUDE_USD', second],
          ['NATURAL_GAS_USD', third],
        ] as const) {
          wild.record(code, values, startAt, dayMs)
        }
        for (const path of paths) {
          wild.clock.advance(1001)
          const response = await wild.get(`/v1/analytics/${path}`, key)
          const body = (await response.json()) as { error?: { code: string } }
          if (response.status === 200)
            expect(documented(path, body), `${path} ${JSON.stringify(body)}`).toBe(true)
          else
            expect({ status: response.status, code: body.error?.code }, path).toEqual({
              status: 404,
              code: 'DATA_NOT_AVAILABLE',
            })
        }
      }),
      { numRuns: sweep(40) },
    )
  })

  test('equal prices have no z-score, no correlation and volatility 0', async () => {
    for (const code of ['WTI_USD', 'BRENT_CRUDE_USD'])
      wild.record(code, Array(30).fill(71.23), startAt, dayMs)
    const get = async (path: string) => {
      wild.clock.advance(1001)
      return ((await (await wild.get(`/v1/analytics/${path}`, key)).json()) as { data: Json }).data
    }
    expect((await get('statistics?code=WTI_USD')).statistics).toMatchObject({
      z_score: null,
      z_score_interpretation: null,
      std_dev: 0,
      percentile: 100,
      volatility: 0,
    })
    expect(await get('correlation?code1=WTI_USD&code2=BRENT_CRUDE_USD')).toMatchObject({
      correlation: null,
      strength: 'none',
      direction: 'none',
    })
  })
})

describe('/v1/analytics after a change of the closes', () => {
  const own = openTestInstance()
  const key = own.key()
  const values = [70, 71.5, 70.8, 72.4, 500, 73.1, 72.2, 74.6]
  const days = daysFrom('2026-11-09', values)
  put('WTI_USD', days, own)
  put(
    'BRENT_CRUDE_USD',
    daysFrom(
      '2026-11-09',
      values.map(value => value * 1.05 + Math.sin(value)),
    ),
    own,
  )
  const get = async (path: string) => {
    own.clock.advance(1001)
    return ((await (await own.get(`/v1/analytics/${path}`, key)).json()) as { data: Json }).data
  }
  const statistics = async () => (await get('statistics?code=WTI_USD')).statistics
  const matrix = async () =>
    (await get('correlation?type=matrix&codes=WTI_USD,BRENT_CRUDE_USD')).matrix.WTI_USD
      .BRENT_CRUDE_USD
  const { series } = own.services.catalogue.resolve('WTI_USD', startAt)!

  test('a quarantined day is absent, and there again when it is cleared', async () => {
    near(await statistics(), definitions.statistics(days, 30))
    const before = await matrix()
    const bad = own.services.quarantine.add({
      seriesId: series.id,
      fromOn: '2026-11-13',
      toOn: '2026-11-13',
      reason: 'spike',
      createdAt: startAt,
    })
    near(
      await statistics(),
      definitions.statistics(
        days.filter(day => day.day !== '2026-11-13'),
        30,
      ),
    )
    expect(await matrix()).not.toBe(before)
    own.services.quarantine.remove(bad.id)
    near(await statistics(), definitions.statistics(days, 30))
    expect(await matrix()).toBe(before)
  })

  test('a correction and a new observation count from the next request on', async () => {
    const before = await matrix()
    const corrected = days.map(day => (day.value === 500 ? { ...day, value: 72.9 } : day))
    put('WTI_USD', corrected, own)
    near(await statistics(), definitions.statistics(corrected, 30))
    expect(await matrix()).not.toBe(before)
    own.services.ingest.write([{ seriesId: series.id, observedAt: startAt, value: 75 }])
    near(
      await statistics(),
      definitions.statistics([...corrected, { day: '2026-11-20', value: 75 }], 30),
    )
  })

  test('fixture data is marked in a header', async () => {
    expect(
      (await own.get('/v1/analytics/statistics?code=WTI_USD', key)).headers.get('x-service-data'),
    ).toBeNull()
    own.services.series.markFixture([series.id])
    own.services.catalogue.reload()
    for (const path of [
      'statistics?code=WTI_USD',
      'correlation?code1=BRENT_CRUDE_USD&code2=wti',
      'spread?spread=wti_brent',
      'trend?code=WTI_USD&type=levels',
    ]) {
      expect(
        (await own.get(`/v1/analytics/${path}`, key)).headers.get('x-service-data'),
        path,
      ).toBe('fixture')
    }
  })
})

test('without a code, forecast lists its methods', async () => {
  const result = await answered('forecast')
  expect((result.methods as { id: string }[]).map(method => method.id)).toEqual([
    'sma',
    'ema',
    'combined',
  ])
  expect(result).toMatchObject({ default_method: 'ema', horizons: [1, 7, 30] })
})

test('the analytics API accepts codes in any letter case and by alias and returns the canonical codes', async () => {
  put('LOUISIANA_LIGHT_USD', daysFrom('2026-11-01', [70, 71, 72, 73, 74]))
  const alias = instance.services.catalogue.resolve('LOUISIANA_LIGHT_USD', startAt)!.series
    .aliases[0]
  for (const name of ['louisiana_light_usd', ...(alias ? [alias.toLowerCase()] : [])]) {
    expect((await answered(`statistics?code=${name}`)).code).toBe('LOUISIANA_LIGHT_USD')
  }
})
