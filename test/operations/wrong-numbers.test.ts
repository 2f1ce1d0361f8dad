import { describe, expect, test } from 'bun:test'
import { RSI } from 'technicalindicators'
import { hourMs, isoInstant, parseDay } from '../../src/lib/time/instant.ts'
import { openTestInstance } from '../support/instance/instance.ts'
import { needs } from '../support/needs.ts'
import { realCloses, realRows } from '../support/real-data.ts'

/**
 * Numbers that were once answered wrong, each with the right one and where it is from. Real series
 * are those of EIA.
 */
const real = needs('../shared/data').test

interface Close {
  day: string
  value: number
}
type Fields = Record<string, number | string>
type Body = { data: Fields & Record<'from' | 'to', Fields> }

/** A copy that has these closes, a day after the last of them. */
function copyOf(code: string, closes: readonly Close[]) {
  const last = parseDay(closes.at(-1)!.day)!
  const instance = openTestInstance({}, last + 20 * hourMs)
  const seriesId = instance.services.catalogue.named(code)!.id
  instance.services.ingest.write(
    closes.map(({ day, value }) => ({ seriesId, observedAt: parseDay(day)!, value })),
  )
  const token = instance.key()
  const ask = async (path: string) => {
    const answer = await instance.get(path, token)
    return { status: answer.status, body: (await answer.json()) as Body }
  }
  return { instance, token, ask }
}

const diesel = (): Close[] =>
  realRows('eia-retail-fuel/weekly_gas_prices.csv')
    .filter(([day, fuel, grade]) => fuel === 'diesel' && grade === 'all' && day! <= '2025-06-23')
    .map(([day, , , , price]) => ({ day: day!, value: Number(price) }))

describe('a weekly series', () => {
  real(`has volatility by weekly returns x sqrt(52): 10.52, not 23.16`, async () => {
    const { ask } = copyOf('DIESEL_AK_USD', diesel())
    const { body } = await ask('/v1/analytics/statistics?code=DIESEL_AK_USD&period=365')
    const text = JSON.stringify(body)
    // Computed apart from this code from the file of EIA: 10.51909103959572.
    expect(Number(/"volatility":([\d.]+)/.exec(text)![1])).toBeCloseTo(10.52, 2)
    expect(text).toContain('"observations_per_year":52')
  })

  real(`has metrics and forecasts by the year of 52 closes too`, async () => {
    const { ask } = copyOf('DIESEL_AK_USD', diesel())
    const metrics = await ask('/v1/prices/metrics?by_code=DIESEL_AK_USD')
    expect(JSON.stringify(metrics.body)).toContain('"observations_per_year":52')
    const forecast = await ask('/v1/analytics/forecast?code=DIESEL_AK_USD&period=365')
    expect(JSON.stringify(forecast.body)).toContain('"observations_per_year":52')
  })
})

describe('an indicator', () => {
  type Values = { values: { date: string; value: number }[] }
  real(`has as many values as there are closes: ema 1825 days like sma`, async () => {
    const { ask } = copyOf('WTI_USD', realCloses('oil-prices/wti-daily.csv'))
    const valuesOf = async (type: string) => {
      const path = `/v1/analytics/trend?code=WTI_USD&type=${type}&window=20&period=1825`
      return ((await ask(path)).body as unknown as Values).values
    }
    const [ema, sma] = [await valuesOf('ema'), await valuesOf('sma')]
    expect(ema.length).toBe(sma.length)
    expect(ema.length).toBeGreaterThan(1200)
  })

  real(`has one value a date: RSI(9) of Henry Hub as technicalindicators has it`, async () => {
    const closes = realCloses('natural-gas/daily.csv').filter(close => close.value > 0)
    const values = closes.map(close => close.value)
    const expected = RSI.calculate({ period: 9, values }).at(-1)!
    const { ask } = copyOf('NATURAL_GAS_USD', closes)
    for (const period of [30, 365, 1825]) {
      const { body } = await ask(
        `/v1/analytics/trend?code=NATURAL_GAS_USD&type=rsi&window=9&period=${period}`,
      )
      const last = (body as unknown as Values).values.at(-1)!
      expect(Math.abs(last.value - expected)).toBeLessThan(0.006)
    }
  })
})

describe('the negative price of 2020-04-20', () => {
  const wti = () => realCloses('oil-prices/wti-daily.csv', '2020-04-20')

  real(`is -36.98, of which there is no forecast by logarithms`, async () => {
    const { ask } = copyOf('WTI_USD', wti())
    expect((await ask('/v1/prices/latest?by_code=WTI_USD')).body.data.price).toBe(-36.98)
    const forecast = await ask('/v1/analytics/forecast?code=WTI_USD&period=90')
    expect(forecast.status).not.toBe(200)
    expect(JSON.stringify(forecast.body)).toContain('zero')
  })

  real(`moved down by 302.5 percent of 18.31, and not up`, async () => {
    const closes = wti()
    const { ask } = copyOf('WTI_USD', closes)
    const before = closes.at(-2)!.value
    const { body } = await ask('/v1/prices/latest?by_code=WTI_USD')
    const { change_24h_percent: percent } = body.data as unknown as Record<string, number>
    expect(percent).toBeCloseTo((100 * (-36.98 - before)) / Math.abs(before), 2)
    expect(percent!).toBeLessThan(0)
  })
})

describe('a level or a day', () => {
  test('a level or a daily value reports its own day instead of the day of the request', async () => {
    const { ask } = copyOf('CUSHING_STORAGE', [
      { day: '2020-05-01', value: 65.4 },
      { day: '2020-05-08', value: 62.4 },
    ])
    const { body } = await ask('/v1/storage/cushing')
    const { updated_at: updated, as_of: day } = body.data as unknown as Record<string, string>
    expect({ updated: updated!.slice(0, 10), day }).toEqual({
      updated: '2020-05-08',
      day: '2020-05-08',
    })
  })

  test('a level of a series with one value a day reports its day in observed_on', async () => {
    const { ask } = copyOf('DIESEL_AK_USD', [{ day: '2025-06-23', value: 3.7 }])
    const { body } = await ask('/v1/prices/latest?by_code=DIESEL_AK_USD')
    expect(body.data.observed_on).toBe('2025-06-23')
  })
})

describe('a conversion', () => {
  test('of 1000 barrels is the tons that they are, by 7.33 barrels to the ton of crude', async () => {
    const { ask } = copyOf('WTI_USD', [{ day: '2026-11-19', value: 73.3 }])
    const { body } = await ask('/v1/prices/convert?by_code=WTI_USD&to_unit=metric_ton&amount=1000')
    const { from, to } = body.data
    expect({ amount: from.amount, fromUnit: from.unit, toUnit: to.unit }).toEqual({
      amount: 1000,
      fromUnit: 'barrel',
      toUnit: 'metric_ton',
    })
    expect(to.amount as number).toBeCloseTo(1000 / 7.33, 3)
    // The same goods are worth the same.
    expect(to.value as number).toBeCloseTo(from.value as number, 1)
  })

  test('of gasoline takes 8.33 barrels to the ton, as spreads do', async () => {
    const { ask } = copyOf('GASOLINE_RBOB_USD', [{ day: '2026-11-19', value: 2 }])
    const { body } = await ask(
      '/v1/prices/convert?by_code=GASOLINE_RBOB_USD&to_unit=metric_ton&amount=349.86',
    )
    // 349.86 gallons are 8.33 barrels.
    expect(body.data.to.amount).toBeCloseTo(1, 6)
  })
})

test('as_of before the first data of an instance returns when its data begins and no later value', async () => {
  const { instance, ask } = copyOf('WTI_USD', [{ day: '2026-11-19', value: 70 }])
  const asOf = isoInstant(parseDay('2026-11-18')!)
  const paths = [
    'prices/latest?by_code=WTI_USD',
    'analytics/statistics?code=WTI_USD',
    'prices/historical?interval=raw&by_code=WTI_USD',
  ]
  for (const path of paths) {
    const { status, body } = await ask(`/v1/${path}&as_of=${asOf}`)
    expect(JSON.stringify(body)).not.toMatch(/"(price|mean|current_price|value)":70/)
    expect([200, 404, 422]).toContain(status)
  }
  expect(
    instance.services.coverage.since(
      instance.services.catalogue.named('WTI_USD')!.id,
      instance.clock.now(),
    ),
  ).toBe(instance.clock.now())
})
