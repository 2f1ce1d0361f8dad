import { describe, expect, test } from 'bun:test'
import { dataStatus } from '../../../src/market/calendars/freshness.ts'
import { openTestInstance, startAt } from '../../support/instance/instance.ts'

const dayMs = 86_400_000

interface SeriesAnswer {
  code: string
  cadence: string
  changed: string[]
}
/** What the tests read of answers. */
interface Answer {
  message: string
  errors: { field: string }[]
  data: SeriesAnswer[] & {
    series: SeriesAnswer & SeriesAnswer[]
    inserted: number
    price: number
    prices: { price: number }[]
    metadata: { data_status?: string }
  }
}

/** An instance with its operator's token and a reader's key. */
function withOperator() {
  const instance = openTestInstance()
  const operator = { authorization: `Bearer ${instance.services.adminTokens.rotate()}` }
  const key = instance.key()
  return {
    ...instance,
    async admin(method: string, path: string, body?: unknown) {
      const response = await instance.send(method, `/admin/v1${path}`, body, undefined, {
        ...operator,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      })
      return { status: response.status, body: (await response.json()) as Answer }
    },
    async ask(path: string) {
      const response = await instance.get(path, key)
      return { status: response.status, body: (await response.json()) as Answer }
    },
  }
}

const desk = {
  code: 'DESK_GASOIL_USD',
  name: 'Desk mark, gas oil 0.1',
  category: 'refined_products',
  unit: 'metric_ton',
  currency: 'USD',
  cadence: 'daily',
  source: 'Desk',
  min: 0,
  max: 3000,
  time_zone: 'Europe/London',
  value_time: '16:30',
  aliases: ['DGO'],
}

describe('an own series', () => {
  test('is answered like a shipped one once it has a value', async () => {
    const { admin, ask } = withOperator()
    const added = await admin('POST', '/series', desk)
    expect([added.status, added.body.data.series[0]]).toEqual([
      201,
      expect.objectContaining({
        code: 'DESK_GASOIL_USD',
        own: true,
        active: true,
        min: 0,
        max: 3000,
        decimals: 2,
        has_data: false,
        aliases: ['DGO'],
      }),
    ])
    const recorded = await admin('POST', '/observations', {
      observations: [
        { code: 'DGO', observed_at: '2026-11-18', price: 640.5 },
        { code: 'DESK_GASOIL_USD', observed_at: '2026-11-19', price: 641.25 },
      ],
    })
    expect(recorded.body.data.inserted).toBe(2)
    const latest = await ask('/v1/prices/latest?by_code=DGO')
    expect(latest.body.data).toMatchObject({
      code: 'DESK_GASOIL_USD',
      price: 641.25,
      unit: 'metric_ton',
      currency: 'USD',
      // A day alone is the time of day of the series.
      created_at: expect.stringContaining('2026-11-19T16:30:00'),
    })
    const listed = await ask('/v1/commodities/DESK_GASOIL_USD')
    expect(listed.body.data as object).toMatchObject({ has_data: true, source: 'Desk' })
    const windows = await ask('/v1/prices/past_week?by_code=DESK_GASOIL_USD')
    expect(windows.body.data.prices.map(row => row.price)).toEqual([641.25, 640.5])
  })

  test('refuses values beyond its bounds, and everything that is wrong with it at once', async () => {
    const { admin } = withOperator()
    await admin('POST', '/series', desk)
    const far = await admin('POST', '/observations', {
      observations: [{ code: 'DESK_GASOIL_USD', observed_at: '2026-11-18', price: 3001 }],
    })
    expect([far.status, far.body.message]).toEqual([
      422,
      expect.stringContaining('which lies from 0 to 3000'),
    ])
    const wrong = await admin('POST', '/series', {
      series: [
        { ...desk, code: 'WTI_USD', aliases: ['BRENT_CRUDE_USD'] },
        {
          code: 'desk',
          name: 'x',
          category: 'own',
          unit: 'barrel',
          currency: 'USD',
          min: 2,
          max: 1,
        },
        { code: 'A_B', name: '', unit: 'barrel', cadence: 'sometimes', value_time: '25:00' },
      ],
    })
    expect(wrong.status).toBe(422)
    expect(wrong.body.errors.map(error => error.field).sort()).toEqual([
      'series.0.aliases.0',
      'series.0.code',
      'series.1.code',
      'series.1.min',
      'series.2.cadence',
      'series.2.category',
      'series.2.currency',
      'series.2.name',
      'series.2.value_time',
    ])
  })

  test('is retired without losing anything, and comes back', async () => {
    const { admin, ask } = withOperator()
    await admin('POST', '/series', desk)
    const value = { code: 'DESK_GASOIL_USD', observed_at: '2026-11-19', price: 641.25 }
    await admin('POST', '/observations', { observations: [value] })
    const retired = await admin('DELETE', '/series/DESK_GASOIL_USD')
    expect(retired.body.data.series).toMatchObject({ active: false, has_data: true })
    expect((await ask('/v1/prices/latest?by_code=DESK_GASOIL_USD')).status).not.toBe(200)
    const refused = await admin('POST', '/observations', { observations: [value] })
    expect([refused.status, refused.body.message]).toEqual([
      422,
      expect.stringContaining('is retired'),
    ])
    await admin('PATCH', '/series/DESK_GASOIL_USD', { active: true })
    expect((await ask('/v1/prices/latest?by_code=DESK_GASOIL_USD')).body.data.price).toBe(641.25)
  })
})

describe('terms for a shipped series', () => {
  test('a daily WTI is not stale after five minutes', async () => {
    const { admin, ask, record, services } = withOperator()
    record('WTI_USD', [70, 71], startAt - dayMs, dayMs)
    const series = () => services.catalogue.named('WTI_USD')!
    // A Friday evening after the close before.
    const lateAt = startAt + 12 * 3_600_000
    expect(dataStatus(series(), startAt - dayMs, lateAt)).toBe('stale')
    const changed = await admin('PATCH', '/series/WTI_USD', {
      cadence: 'daily',
      release_lag_days: 2,
    })
    expect(changed.body.data.series).toMatchObject({
      own: false,
      cadence: 'daily',
      changed: ['cadence', 'release_lag_days'],
    })
    expect(dataStatus(series(), startAt - dayMs, lateAt)).toBe('current')
    expect((await ask('/v1/prices/latest?by_code=WTI_USD')).body.data.price).toBe(71)
    const listed = await admin('GET', '/series?changed=true')
    expect(listed.body.data.map(row => row.code)).toEqual(['WTI_USD'])
    const back = await admin('PATCH', '/series/WTI_USD', { reset: true })
    expect(back.body.data.series).toMatchObject({ cadence: 'intraday_5m', changed: [] })
  })

  test('outlive a new version of the shipped catalogue', async () => {
    const { admin, services } = withOperator()
    await admin('PATCH', '/series/WTI_USD', { name: 'West Texas', aliases: ['WEST_TEXAS'] })
    await admin('POST', '/series', desk)
    services.series.put([], [])
    services.catalogue.reload()
    expect(services.catalogue.named('west_texas')?.name).toBe('West Texas')
    expect(services.catalogue.named('DGO')?.code).toBe('DESK_GASOIL_USD')
  })
})
