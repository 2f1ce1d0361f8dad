import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, parseDay } from '../../../../src/lib/time/instant.ts'
import { monthAfter } from '../../../../src/topics/calendars/math/period.ts'
import { forecastPublishedAt } from '../../../../src/topics/fundamentals/math/monthly-forecast.ts'
import { createMonthlyForecasts } from '../../../../src/topics/fundamentals/service/monthly-forecasts.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'
import {
  type EnergyAnswer,
  expectEntitled,
  expectWholePages,
} from '../../../support/topics/energy-intelligence.ts'

const noon = (day: string) => parseDay(day)! + 12 * hourMs

/** Forecasts of Brent as `[published in, month, value]`, bounds two below and three above. */
function forecasts(
  instance: TestInstance,
  code: string,
  rows: readonly (readonly [published: string, month: string, value: number])[],
): void {
  instance.services.monthlyForecasts.write(
    rows.map(([published, month, value]) => ({
      seriesId: instance.services.catalogue.named(code)!.id,
      month,
      value,
      low: value - 2,
      high: value + 3,
      dataPoints: 250,
      publishedAt: forecastPublishedAt(published),
      recordedAt: forecastPublishedAt(published),
    })),
  )
}

/**
 * September came in at 80 and October at 50; three forecasts of them were made before they began.
 */
function judged(instance: TestInstance = openTestInstance()): TestInstance {
  instance.record('BRENT_CRUDE_USD', [79, 81], noon('2026-09-10'), dayMs)
  instance.record('BRENT_CRUDE_USD', [40, 60], noon('2026-10-10'), dayMs)
  // A month is over once there are closes up to its end.
  instance.record('BRENT_CRUDE_USD', [70], noon('2026-11-02'), dayMs)
  forecasts(instance, 'BRENT_CRUDE_USD', [
    ['2026-08', '2026-09', 82],
    ['2026-08', '2026-10', 53],
    ['2026-09', '2026-09', 1],
    ['2026-09', '2026-10', 46],
    ['2026-10', '2026-10', 1],
    ['2026-11', '2026-11', 70],
    ['2026-11', '2026-12', 71],
  ])
  return instance
}
const data = async (instance: TestInstance, path: string): Promise<unknown> =>
  (await json<EnergyAnswer<unknown>>(instance.get(`/v1/forecasts${path}`, instance.key()))).data

describe('/v1/forecasts/monthly/accuracy', () => {
  test('monthly forecast accuracy matches a manual calculation over forecasts published before their month began', async () => {
    const instance = judged()
    const body = await json<EnergyAnswer<unknown>>(
      instance.get('/v1/forecasts/accuracy?commodity=BRENT_CRUDE_USD', instance.key()),
    )
    expectShape(instance.app, '/v1/forecasts/accuracy', body)
    // Errors 82 - 80 = 2, 53 - 50 = 3 and 46 - 50 = -4; of the actual values 2.5%, 6% and -8%.
    expect(body.data).toEqual({
      commodity: 'BRENT_CRUDE_USD',
      source: 'model',
      mape: 5.5,
      mae: 3,
      rmse: 3.1091,
      mean_error: 0.3333,
      avg_error_pct: 0.17,
      sample_size: 3,
      period_evaluated: '2026-09 to 2026-10',
      timestamp: '2026-11-20T15:00:00Z',
      // A month before: 82 of 80 and 46 of 50, so 100 - (2.5 + 8) / 2.
      '30_day': { accuracy: 94.75 },
    })
  })

  test('a month whose closes stop before its end has no actual value, however late it is', async () => {
    const instance = openTestInstance()
    instance.record('BRENT_CRUDE_USD', [79, 81], noon('2026-10-13'), dayMs)
    forecasts(instance, 'BRENT_CRUDE_USD', [['2026-09', '2026-10', 82]])
    const archived = (await data(instance, '/archive')) as { forecasts: { actual: number }[] }
    expect(archived.forecasts.map(row => row.actual)).toEqual([null as never])
    instance.record('BRENT_CRUDE_USD', [83], noon('2026-10-30'), dayMs)
    const complete = (await data(instance, '/archive')) as { forecasts: { actual: number }[] }
    expect(complete.forecasts.map(row => row.actual)).toEqual([81])
  })

  test('can be computed again from the archive', async () => {
    const instance = judged()
    const { forecasts: rows } = (await data(instance, '/archive?per_page=100')) as {
      forecasts: { error: number | null; published_at: string; period: string }[]
    }
    const errors = rows
      .filter(row => row.error !== null && row.published_at.slice(0, 7) < row.period)
      .map(row => row.error!)
    const accuracy = (await data(instance, '/monthly/accuracy?commodity=BRENT_CRUDE_USD')) as {
      mae: number
      sample_size: number
    }
    expect(errors.length).toBe(accuracy.sample_size)
    expect(errors.reduce((sum, error) => sum + Math.abs(error), 0) / errors.length).toBeCloseTo(
      accuracy.mae,
      4,
    )
  })

  test('of all codes together is in percent, so that units do not count', async () => {
    const instance = judged()
    const id = instance.services.catalogue.named('NATURAL_GAS_USD')!.id
    instance.services.ingest.write([
      { seriesId: id, observedAt: noon('2026-10-10'), value: 2 },
      { seriesId: id, observedAt: noon('2026-11-02'), value: 9 },
    ])
    forecasts(instance, 'NATURAL_GAS_USD', [['2026-09', '2026-10', 2.1]])
    // 2.5, 6, -8 and 5%.
    expect(await data(instance, '/accuracy')).toMatchObject({
      commodity: null,
      mape: 5.38,
      mae: 5.38,
      mean_error: 1.38,
      avg_error_pct: 1.38,
      sample_size: 4,
      rmse: 5.73,
    })
  })

  test('asked again, is of forecasts and prices that have come since', async () => {
    const instance = judged()
    const accuracy = async () => {
      const { sample_size, mae } = (await data(
        instance,
        '/accuracy?commodity=BRENT_CRUDE_USD',
      )) as {
        sample_size: number
        mae: number
      }
      return [sample_size, mae]
    }
    // 2, 3 and 4 off.
    expect([await accuracy(), await accuracy()]).toEqual([
      [3, 3],
      [3, 3],
    ])
    forecasts(instance, 'BRENT_CRUDE_USD', [['2026-07', '2026-09', 87]])
    expect(await accuracy()).toEqual([4, 4])
    // October comes in at 53, nothing and 7 off; then at 54, 1 and 8.
    instance.record('BRENT_CRUDE_USD', [46, 60], noon('2026-10-10'), dayMs)
    expect(await accuracy()).toEqual([4, 4])
    instance.record('BRENT_CRUDE_USD', [48, 60], noon('2026-10-10'), dayMs)
    expect(await accuracy()).toEqual([4, 4.5])
  })

  test('is not answered before a month is over that was forecast', async () => {
    const instance = openTestInstance()
    forecasts(instance, 'BRENT_CRUDE_USD', [['2026-11', '2026-12', 70]])
    const response = await instance.get('/v1/forecasts/accuracy', instance.key())
    expect({
      status: response.status,
      code: (await json<{ error: { code: string } }>(response)).error.code,
    }).toEqual({ status: 404, code: 'DATA_NOT_AVAILABLE' })
  })
})

describe('/v1/forecasts/monthly/archive', () => {
  test('has every forecast of months that have begun, newest first, with its error once they are over', async () => {
    const { forecasts: rows } = (await data(judged(), '/monthly/archive')) as {
      forecasts: Record<string, unknown>[]
    }
    expect(
      rows.map(row => [
        row.period,
        (row.published_at as string).slice(0, 7),
        row.forecast,
        row.actual,
        row.error,
      ]),
    ).toEqual([
      ['2026-11', '2026-11', 70, null, null],
      ['2026-10', '2026-10', 1, 50, -49],
      ['2026-10', '2026-09', 46, 50, -4],
      ['2026-10', '2026-08', 53, 50, 3],
      ['2026-09', '2026-09', 1, 80, -79],
      ['2026-09', '2026-08', 82, 80, 2],
    ])
    expect(rows[2]).toMatchObject({
      year: 2026,
      month: 10,
      quarter: 4,
      forecast_price: 46,
      actual_price: 50,
      commodity: 'BRENT_CRUDE_USD',
    })
  })

  test('can be asked for a year', async () => {
    const instance = judged()
    forecasts(instance, 'BRENT_CRUDE_USD', [['2025-11', '2025-12', 60]])
    const periods = async (year: string) =>
      (
        (await data(instance, `/archive?year=${year}`)) as { forecasts: { period: string }[] }
      ).forecasts.map(forecast => forecast.period)
    expect(await periods('2025')).toEqual(['2025-12'])
    expect(await periods('2027')).toEqual([])
    expect((await instance.get('/v1/forecasts/archive?year=last', instance.key())).status).toBe(400)
  })

  test('is whole in pages of any size', async () => {
    const instance = judged(openTestInstance({ 'limits.per_minute': '100000' }))
    await expectWholePages(
      instance,
      instance.key(),
      '/v1/forecasts/archive',
      body => (body.data as { forecasts: unknown[] }).forecasts,
    )
  })
})

describe('/v1/forecasts/monthly/{period}', () => {
  /** November to January as November saw them, October as October did. */
  const answers = () => {
    const instance = openTestInstance()
    forecasts(instance, 'BRENT_CRUDE_USD', [
      ...([
        ['2026-09', '2026-10', 50],
        ['2026-10', '2026-10', 60],
        ['2026-10', '2026-12', 1],
      ] as const),
      ...([
        ['2026-11', '2026-11', 70],
        ['2026-11', '2026-12', 74],
        ['2026-11', '2027-01', 75],
      ] as const),
    ])
    forecasts(instance, 'WTI_USD', [['2026-11', '2026-12', 66]])
    return instance
  }

  test('is the newest of a month', async () => {
    const instance = answers()
    const body = await json<EnergyAnswer<unknown>>(
      instance.get('/v1/forecasts/monthly/2026-12', instance.key()),
    )
    expectShape(instance.app, '/v1/forecasts/monthly/:period', body)
    expect(body.data).toEqual({
      period: '2026-12',
      commodity: 'BRENT_CRUDE_USD',
      price: 74,
      forecast_price: 74,
      lower_bound: 72,
      upper_bound: 77,
      low: 72,
      high: 77,
      currency: 'USD',
      unit: 'barrel',
      source: 'model',
      published_at: '2026-11-01T06:00:00Z',
      metadata: { method: 'damped_drift', data_points: 250, months: ['2026-12'], hindcast: false },
    })
    expect(await data(instance, '/monthly/2026-12?commodity=wti')).toMatchObject({
      commodity: 'WTI_USD',
      price: 66,
    })
  })

  test('of a quarter is the mean of the newest of its months, and so are its bounds', async () => {
    // (60 + 70 + 74) / 3
    expect(await data(answers(), '/monthly/2026-q4')).toMatchObject({
      period: '2026-Q4',
      price: 68,
      low: 66,
      high: 71,
      metadata: { months: ['2026-10', '2026-11', '2026-12'] },
    })
  })

  for (const [path, status, code] of [
    ['/monthly/2026-13', 400, 'INVALID_PARAMETER'],
    ['/monthly/soon', 400, 'INVALID_PARAMETER'],
    ['/monthly/2027-Q1', 404, 'DATA_NOT_AVAILABLE'],
    ['/monthly/2030-01', 404, 'DATA_NOT_AVAILABLE'],
  ] as const) {
    test(`${path} is refused with ${code}`, async () => {
      const instance = answers()
      const response = await instance.get(`/v1/forecasts${path}`, instance.key())
      expect({
        status: response.status,
        code: (await json<{ error: { code: string } }>(response)).error.code,
      }).toEqual({ status, code })
    })
  }

  test('the monthly forecast list contains the current month and the months after it', async () => {
    const instance = answers()
    const list = (await data(instance, '/monthly')) as {
      period: string
      forecasts: { period: string; commodity: string; price: number }[]
    }
    expect(list.period).toBe('2026-11')
    expect(
      list.forecasts.map(forecast => [forecast.period, forecast.commodity, forecast.price]),
    ).toEqual([
      ['2026-11', 'BRENT_CRUDE_USD', 70],
      ['2026-12', 'BRENT_CRUDE_USD', 74],
      ['2026-12', 'WTI_USD', 66],
      ['2027-01', 'BRENT_CRUDE_USD', 75],
    ])
    expect(
      ((await data(instance, '/monthly?commodity=WTI_USD')) as { forecasts: unknown[] }).forecasts
        .length,
    ).toBe(1)
    expect(
      (await instance.get('/v1/forecasts/monthly?commodity=NO_SUCH_USD', instance.key())).status,
    ).toBe(400)
  })

  test('is for the plans that have energy intelligence', () =>
    expectEntitled(answers(), '/v1/forecasts/monthly'))
})

describe('/v1/forecasts/monthly', () => {
  const closes = Array.from({ length: 900 }, (_, n) => ({
    day: new Date(parseDay('2024-06-01')! + n * dayMs).toISOString().slice(0, 10),
    value: 70 + 5 * Math.sin(n / 40),
  }))
  const setUp = () => {
    const { services, clock } = openTestInstance()
    const brent = services.catalogue.named('BRENT_CRUDE_USD')!
    return {
      brent,
      clock,
      store: services.monthlyForecasts,
      maker: createMonthlyForecasts(services.monthlyForecasts),
    }
  }
  const all = { seriesIds: undefined, fromMonth: '0000-01', toMonth: '9999-12' }

  test('are of the running month and the twelve after it, for every month that was due', () => {
    const { brent, clock, store, maker } = setUp()
    // Twenty-one closes, the first the close of 1 June 2024, are there before July 2024;
    // publications reach back 24 months.
    expect(maker.publish(brent, clock.now(), closes)).toBe(24)
    expect(store.publications(brent.id).sort()[0]).toBe(forecastPublishedAt('2024-12'))
    const newest = store.newest({ ...all, fromMonth: '2026-11' })
    expect(newest.map(forecast => forecast.month)).toEqual(
      Array.from({ length: 13 }, (_, n) => monthAfter('2026-11', n)),
    )
    expect(new Set(newest.map(forecast => forecast.publishedAt))).toEqual(
      new Set([forecastPublishedAt('2026-11')]),
    )
  })

  test('monthly forecasts use only data known before their due time and are never regenerated', () => {
    const [early, late] = [setUp(), setUp()]
    early.maker.publish(
      early.brent,
      forecastPublishedAt('2026-06'),
      closes.filter(close => close.day < '2026-06-01'),
    )
    early.maker.publish(early.brent, early.clock.now(), closes)
    late.maker.publish(late.brent, late.clock.now(), closes)
    const values = ({ store }: typeof early) =>
      store
        .page({ ...all, fromMonth: '2026-01' }, 1000, 0)
        .filter(forecast => forecast.publishedAt >= forecastPublishedAt('2024-12'))
        .map(forecast => [forecast.month, forecast.publishedAt, forecast.value, forecast.low])
    expect(values(early)).toEqual(values(late))
    const before = early.store.page(all, 1000, 0)
    expect(
      early.maker.publish(
        early.brent,
        early.clock.now(),
        closes.map(close => ({ ...close, value: 2 * close.value })),
      ),
    ).toBe(0)
    expect(early.store.page(all, 1000, 0)).toEqual(before)
  })

  test('monthly forecasts made after their due time are marked as hindcasts', async () => {
    const instance = openTestInstance()
    const brent = instance.services.catalogue.named('BRENT_CRUDE_USD')!
    createMonthlyForecasts(instance.services.monthlyForecasts).publish(
      brent,
      instance.clock.now(),
      closes,
    )
    expect(await data(instance, '/monthly/2026-12')).toMatchObject({ metadata: { hindcast: true } })
  })

  test('reach months beyond the usual ones when asked to', () => {
    const { brent, clock, store, maker } = setUp()
    maker.publish(brent, clock.now(), closes, { further: ['2026-10', '2028-06'] })
    expect(store.newest({ ...all, fromMonth: '2028-01' }).map(forecast => forecast.month)).toEqual([
      '2028-06',
    ])
  })
})
