import { describe, expect, test } from 'bun:test'
import type { OpecProduction } from '../../../../src/topics/fundamentals/dataset/opec-productions.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'
import {
  type EnergyAnswer,
  expectAlias,
  expectEntitled,
  expectWholePages,
} from '../../../support/topics/energy-intelligence.ts'

const of = (country: string, month: string, bpd: number, source = 'EIA'): OpecProduction => ({
  country,
  month,
  bpd,
  source,
})

function filled(instance: TestInstance = openTestInstance(), source = 'EIA'): TestInstance {
  const rows = [
    of('Saudi Arabia', '2026-09', 9_000_000),
    of('Iraq', '2026-09', 4_200_000),
    of('Gabon', '2026-09', 200_000),
    of('Saudi Arabia', '2026-10', 9_100_000),
    of('Iraq', '2026-10', 4_150_000),
    of('Gabon', '2026-10', 250_000),
  ]
  instance.services.opec.write(
    rows.map(row => ({ ...row, source })),
    instance.clock.now(),
  )
  return instance
}
const data = async (instance: TestInstance, path: string): Promise<unknown> =>
  (
    await json<EnergyAnswer<unknown>>(
      instance.get(`/v1/ei/opec_productions${path}`, instance.key()),
    )
  ).data

describe('/v1/ei/opec_productions', () => {
  test('by record has both units and the change against the month before', async () => {
    const instance = filled()
    const body = await json<EnergyAnswer<unknown>>(
      instance.get('/v1/ei/opec_productions/4', instance.key()),
    )
    expectShape(instance.app, '/v1/ei/opec_productions/:id', body)
    expect(body.data).toEqual({
      id: '4',
      country: 'Saudi Arabia',
      production_mbpd: 9.1,
      production_bpd: 9_100_000,
      unit: 'million_barrels_per_day',
      change: 0.1,
      date: '2026-10-01',
      month: '2026-10',
      source: 'EIA',
      timestamp: '2026-11-20T15:00:00Z',
    })
  })

  test('of the newest month is every country and their sum', async () => {
    expect(await data(filled(), '/latest')).toMatchObject({
      month: '2026-10',
      total_production_mbpd: 13.5,
      total_production_bpd: 13_500_000,
      countries: [
        { country: 'Saudi Arabia' },
        { country: 'Iraq', change: -0.05 },
        { country: 'Gabon' },
      ],
    })
    expect(await data(filled(), '/total')).toEqual({
      total_production_mbpd: 13.5,
      total_production_bpd: 13_500_000,
      change: 0.1,
      unit: 'million_barrels_per_day',
      as_of_date: '2026-10-01',
    })
  })

  test('by producer is ranked, the same list twice', async () => {
    const answer = (await data(filled(), '/top_producers?limit=2')) as {
      producers: unknown[]
      data: unknown[]
      as_of: string
    }
    expect(answer.producers).toEqual([
      {
        rank: 1,
        name: 'Saudi Arabia',
        country: 'Saudi Arabia',
        production_mbpd: 9.1,
        production_bpd: 9_100_000,
        percentage: 67.41,
      },
      {
        rank: 2,
        name: 'Iraq',
        country: 'Iraq',
        production_mbpd: 4.15,
        production_bpd: 4_150_000,
        percentage: 30.74,
      },
    ])
    expect({ data: answer.data, as_of: answer.as_of }).toEqual({
      data: answer.producers,
      as_of: '2026-10-01',
    })
  })

  test('by country has parts that add up to the whole', async () => {
    const rows = (await data(filled(), '/by_country')) as { country: string; percentage: number }[]
    expect(rows.map(row => row.country)).toEqual(['Saudi Arabia', 'Iraq', 'Gabon'])
    expect(rows.reduce((sum, row) => sum + row.percentage, 0)).toBeCloseTo(100, 1)
  })

  test('can be asked for a country in any case and for months', async () => {
    const instance = filled()
    const months = async (query: string) =>
      ((await data(instance, query)) as { country: string; date: string }[]).map(
        row => `${row.country} ${row.date}`,
      )
    expect(await months('?country=iraq')).toEqual(['Iraq 2026-10-01', 'Iraq 2026-09-01'])
    expect(await months('/historical?country=saudi_arabia&start_date=2026-09-02')).toEqual([
      'Saudi Arabia 2026-10-01',
    ])
    expect(await months('?country=gabon&end_date=2026-09-30')).toEqual(['Gabon 2026-09-01'])
    expect(await months('?country=norway')).toEqual([])
  })

  test('missing OPEC production data is reported as DATA_NOT_AVAILABLE', async () => {
    const instance = openTestInstance()
    for (const path of ['/latest', '/total', '/by_country', '/top_producers']) {
      const response = await instance.get(`/v1/ei/opec_productions${path}`, instance.key())
      expect({
        status: response.status,
        code: (await json<{ error: { code: string } }>(response)).error.code,
      }).toEqual({ status: 404, code: 'DATA_NOT_AVAILABLE' })
    }
    expect(await data(instance, '')).toEqual([])
    expect((await instance.get('/v1/ei/opec_productions/1', instance.key())).status).toBe(404)
    expect(
      (await instance.get('/v1/ei/opec_productions/top_producers?limit=51', instance.key())).status,
    ).toBe(400)
  })

  test('that is invented is marked as such', async () => {
    const real = filled()
    const invented = filled(openTestInstance(), 'fixture')
    expect(
      (await real.get('/v1/ei/opec_productions/latest', real.key())).headers.get('x-service-data'),
    ).toBeNull()
    expect(
      (await invented.get('/v1/ei/opec_productions/latest', invented.key())).headers.get(
        'x-service-data',
      ),
    ).toBe('fixture')
  })

  test('is whole in pages of any size', async () => {
    const instance = filled(openTestInstance({ 'limits.per_minute': '100000' }))
    await expectWholePages(
      instance,
      instance.key(),
      '/v1/ei/opec_productions',
      body => body.data as unknown[],
    )
  })

  test('is for the plans that have energy intelligence', () =>
    expectEntitled(filled(), '/v1/ei/opec_productions/total'))

  test('answers the same under the older prefix', async () => {
    const instance = filled()
    const rest = [
      '',
      '/1',
      '/latest',
      '/total',
      '/by_country',
      '/historical',
      '/top_producers?limit=1',
      '/99',
    ]
    await expectAlias(
      instance,
      instance.key(),
      rest.map(path => `/v1/ei/opec_productions${path}`),
    )
  })
})
