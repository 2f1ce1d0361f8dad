import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, parseDay } from '../../../../src/lib/time/instant.ts'
import { parsePeriod } from '../../../../src/topics/calendars/math/period.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'
import {
  type EnergyAnswer,
  expectAlias,
  expectEntitled,
  expectWholePages,
} from '../../../support/topics/energy-intelligence.ts'

/**
 * Two publications of two agencies; October is over, at a mean of 75 for Brent and 14 for US
 * production.
 */
function filled(instance: TestInstance = openTestInstance(), fixture = false): TestInstance {
  instance.record(
    'BRENT_CRUDE_USD',
    [70, 74, 76, 80],
    parseDay('2026-10-30')! + 12 * hourMs,
    7 * dayMs,
  )
  instance.record('BRENT_CRUDE_USD', [90], parseDay('2026-11-02')! + 12 * hourMs, dayMs)
  instance.record(
    'US_CRUDE_PRODUCTION',
    [13.9, 14.1],
    parseDay('2026-10-28')! + 12 * hourMs,
    7 * dayMs,
  )
  const of = (
    source: string,
    code: string,
    publishedOn: string,
    period: string,
    value: number,
  ) => ({
    source,
    period,
    value,
    publishedOn,
    targetOn: parsePeriod(period)!.lastOn,
    fixture,
    seriesId: instance.services.catalogue.named(code)!.id,
  })
  instance.services.outlooks.write(
    [
      of('EIA', 'BRENT_CRUDE_USD', '2026-10-06', '2026-10', 72),
      of('EIA', 'BRENT_CRUDE_USD', '2026-10-06', '2026-11', 71),
      of('EIA', 'US_CRUDE_PRODUCTION', '2026-10-06', '2026-10', 13.3),
      of('IEA', 'BRENT_CRUDE_USD', '2026-10-06', '2026-Q4', 69),
      of('EIA', 'BRENT_CRUDE_USD', '2026-11-03', '2026-11', 74),
      of('EIA', 'BRENT_CRUDE_USD', '2026-11-03', '2026-12', 76),
      of('IEA', 'BRENT_CRUDE_USD', '2026-11-03', '2026-11', 70.5),
    ],
    instance.clock.now(),
  )
  return instance
}
const data = async (instance: TestInstance, path: string): Promise<unknown> =>
  (await json<EnergyAnswer<unknown>>(instance.get(`/v1/ei/forecasts${path}`, instance.key()))).data

describe('/v1/ei/forecasts', () => {
  test('are listed newest publication first, each with the end of its period', async () => {
    const instance = filled()
    const body = await json<EnergyAnswer<{ id: string }[]>>(
      instance.get('/v1/ei/forecasts', instance.key()),
    )
    expectShape(instance.app, '/v1/ei/forecasts', body)
    expect(body.data.map(row => row.id)).toEqual(['5', '6', '7', '1', '2', '3', '4'])
    expect(body.data[0]).toEqual({
      id: '5',
      source: 'EIA',
      commodity: 'BRENT_CRUDE_USD',
      forecast_value: 74,
      unit: 'barrel',
      currency: 'USD',
      period: '2026-11',
      published_date: '2026-11-03',
      target_date: '2026-11-30',
      timestamp: '2026-11-20T15:00:00Z',
    } as never)
  })

  test('can be asked for a code by any of its names and for days of publication', async () => {
    const instance = filled()
    const ids = async (query: string) =>
      ((await data(instance, query)) as { id: string }[]).map(row => row.id)
    expect(await ids('?commodity=us_crude_production')).toEqual(['3'])
    expect(await ids('?commodity=BRENT')).toEqual(['5', '6', '7', '1', '2', '4'])
    expect(await ids('?end_date=2026-10-31')).toEqual(['1', '2', '3', '4'])
    expect(await ids('/latest')).toEqual(['5', '6', '7'])
    expect(await ids('/latest?commodity=US_CRUDE_PRODUCTION')).toEqual(['3'])
    const response = await instance.get('/v1/ei/forecasts?commodity=NO_SUCH_USD', instance.key())
    expect({
      status: response.status,
      code: (await json<{ code: string }>(response)).code,
    }).toEqual({ status: 400, code: 'invalid_code' })
  })

  test('are of prices or of production by region', async () => {
    const instance = filled()
    expect(await data(instance, '/production')).toEqual([
      {
        region: 'US',
        source: 'EIA',
        forecast_production: 13.3,
        unit: 'million_barrels_per_day',
        period: '2026-10',
        published_date: '2026-10-06',
        commodity: 'US_CRUDE_PRODUCTION',
      },
    ])
    expect(((await data(instance, '/prices')) as unknown[]).length).toBe(6)
    expect(
      ((await data(instance, '/prices?commodity=US_CRUDE_PRODUCTION')) as unknown[]).length,
    ).toBe(0)
  })

  test('of periods that are over stand against what came', async () => {
    const instance = filled()
    // Brent: 100 - 100 x 3 / 75; production: 100 - 100 x 0.7 / 14.
    expect(await data(instance, '/historical')).toMatchObject([
      {
        date: '2026-10-31',
        commodity: 'BRENT_CRUDE_USD',
        forecast_value: 72,
        actual_value: 75,
        accuracy_percent: 96,
      },
      {
        date: '2026-10-31',
        commodity: 'US_CRUDE_PRODUCTION',
        forecast_value: 13.3,
        actual_value: 14,
        accuracy_percent: 95,
      },
    ])
    instance.clock.set(parseDay('2026-12-01')! + hourMs)
    instance.record('BRENT_CRUDE_USD', [90], parseDay('2026-11-30')!, dayMs)
    const later = (await data(instance, '/historical?start_date=2026-11-01')) as {
      period: string
      actual_value: number
    }[]
    expect(later.map(row => [row.period, row.actual_value])).toEqual(Array(3).fill(['2026-11', 90]))
  })

  test('of OPEC production stand against the sum of its countries', async () => {
    const instance = filled()
    const seriesId = instance.services.catalogue.named('OPEC_PRODUCTION')!.id
    instance.services.outlooks.write(
      [
        {
          source: 'EIA',
          seriesId,
          period: '2026-10',
          value: 27,
          publishedOn: '2026-10-06',
          targetOn: '2026-10-31',
          fixture: false,
        },
      ],
      1,
    )
    const actual = async () =>
      (
        (await data(instance, '/historical?commodity=OPEC_PRODUCTION')) as {
          actual_value: number | null
        }[]
      )[0]!.actual_value
    expect(await actual()).toBeNull()
    instance.services.opec.write(
      [{ country: 'Iraq', month: '2026-10', bpd: 28_500_000, source: 'EIA' }],
      1,
    )
    expect(await actual()).toBe(28.5)
  })

  test('of two agencies stand side by side, the newest of each', async () => {
    expect(await data(filled(), '/compare?commodity=BRENT_CRUDE_USD')).toEqual([
      {
        period: '2026-Q4',
        commodity: 'BRENT_CRUDE_USD',
        eia_forecast: null,
        iea_forecast: 69,
        actual_value: null,
        difference: null,
      },
      {
        period: '2026-12',
        commodity: 'BRENT_CRUDE_USD',
        eia_forecast: 76,
        iea_forecast: null,
        actual_value: null,
        difference: null,
      },
      {
        period: '2026-11',
        commodity: 'BRENT_CRUDE_USD',
        eia_forecast: 74,
        iea_forecast: 70.5,
        actual_value: null,
        difference: 3.5,
      },
      {
        period: '2026-10',
        commodity: 'BRENT_CRUDE_USD',
        eia_forecast: 72,
        iea_forecast: null,
        actual_value: 75,
        difference: null,
      },
    ])
  })

  test('come to a summary of the newest publication', async () => {
    const instance = filled()
    expect(await data(instance, '/summary')).toMatchObject({
      total_forecasts: 7,
      latest_forecast: { id: '5', period: '2026-11' },
      as_of_date: '2026-11-03',
      // (74 + 76 + 70.5) / 3
      average_forecast: 73.5,
    })
    expect(await data(instance, '/summary?commodity=US_CRUDE_PRODUCTION')).toMatchObject({
      total_forecasts: 1,
      average_forecast: 13.3,
    })
    const empty = openTestInstance()
    expect((await empty.get('/v1/ei/forecasts/summary', empty.key())).status).toBe(404)
  })

  test('that are invented are marked as such', async () => {
    const [real, invented] = [filled(), filled(openTestInstance(), true)]
    const mark = async (instance: TestInstance, path: string) =>
      (await instance.get(path, instance.key())).headers.get('x-service-data')
    for (const path of ['', '/1', '/summary', '/compare', '/historical'].map(
      rest => `/v1/ei/forecasts${rest}`,
    )) {
      expect([path, await mark(real, path), await mark(invented, path)]).toEqual([
        path,
        null,
        'fixture',
      ])
    }
  })

  test('are whole in pages of any size, in every list', async () => {
    const instance = filled(openTestInstance({ 'limits.per_minute': '100000' }))
    for (const path of ['', '/prices', '/compare'])
      await expectWholePages(
        instance,
        instance.key(),
        `/v1/ei/forecasts${path}`,
        body => body.data as unknown[],
      )
  })

  test('are for the plans that have energy intelligence', () =>
    expectEntitled(filled(), '/v1/ei/forecasts/latest'))

  test('answer the same under the older prefix', async () => {
    const instance = filled()
    const rest = [
      '',
      '/1',
      '/latest',
      '/summary',
      '/prices',
      '/production',
      '/historical',
      '/compare',
      '/99',
      '?commodity=NO_SUCH_USD',
    ]
    await expectAlias(
      instance,
      instance.key(),
      rest.map(path => `/v1/ei/forecasts${path}`),
    )
  })
})
