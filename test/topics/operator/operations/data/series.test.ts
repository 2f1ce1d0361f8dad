import { describe, expect, test } from 'bun:test'
import { dataStatus } from '../../../../../src/topics/calendars/math/freshness.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'

const dayMs = 86_400_000

interface SeriesAnswer {
  code: string
  cadence: string
  changed: string[]
}
/** The fields of responses that the tests read. */
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

describe('a custom series', () => {
  test('is answered like a shipped one once it has a value', async () => {
    const { admin, ask } = withOperator()
    const added = await admin('POST', '/series', desk)
    expect({ status: added.status, first: added.body.data.series[0] }).toEqual({
      status: 201,
      first: expect.objectContaining({
        code: 'DESK_GASOIL_USD',
        own: true,
        active: true,
        min: 0,
        max: 3000,
        decimals: 2,
        has_data: false,
        aliases: ['DGO'],
      }),
    })
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
    expect({ status: far.status, message: far.body.message }).toEqual({
      status: 422,
      message: expect.stringContaining('0 to 3000 (USD'),
    })
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

  test('names the way to pence where its currency is written for them', async () => {
    const { admin } = withOperator()
    for (const currency of ['GBp', 'GBX']) {
      const wrong = await admin('POST', '/series', { ...desk, currency, unit: 'therm' })
      expect(wrong.body.errors).toMatchObject([
        { field: 'currency', message: expect.stringContaining('GBP, with a unit in pence') },
      ])
    }
    const right = { ...desk, currency: 'GBP', unit: 'pence_per_therm' }
    expect((await admin('POST', '/series', right)).status).toBe(201)
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
    expect({ status: refused.status, message: refused.body.message }).toEqual({
      status: 422,
      message: expect.stringContaining('is retired'),
    })
    await admin('PATCH', '/series/DESK_GASOIL_USD', { active: true })
    expect((await ask('/v1/prices/latest?by_code=DESK_GASOIL_USD')).body.data.price).toBe(641.25)
  })
})

describe('days of release', () => {
  const stocks = {
    code: 'DESK_STOCKS',
    name: 'Stocks at the terminal',
    category: 'terminal',
    unit: 'barrel',
    currency: null,
    calendar: 'us_government',
    release_days: ['WED'],
    release_time: '10:30',
    time_zone: 'America/New_York',
  }

  test('release days determine when a value is due, which values are missing and how long a value is current', async () => {
    const { admin, ask, services, clock } = withOperator()
    const added = await admin('POST', '/series', stocks)
    expect(added.body.data.series[0]).toMatchObject({
      cadence: 'weekly',
      release_days: ['wed'],
      release_time: '10:30',
      release_holiday: 'after',
      // The Wednesday before Thanksgiving.
      next_release_at: '2026-11-25T15:30:00Z',
    })
    // Weeks that end on Friday; that of 6 November, out after Veterans Day, has not come.
    const fridays = ['2026-10-16', '2026-10-23', '2026-10-30', '2026-11-13']
    await admin('POST', '/observations', {
      observations: fridays.map((day, i) => ({
        code: 'DESK_STOCKS',
        observed_at: day,
        price: 100 + i,
      })),
    })
    const report = async () => (await ask('/v1/data-quality/reports/DESK_STOCKS')).body.data
    expect(await report()).toMatchObject({
      metrics: { expected_points: 5, missing_points: 1 },
      next_release_at: '2026-11-25T15:30:00Z',
    })
    expect(services.seriesFaults.of(services.catalogue.named('DESK_STOCKS')!)).toMatchObject([
      { kind: 'missing', points: 1, sinceOn: '2026-11-05' },
    ])
    const freshness = async () => (await ask('/v1/commodities/DESK_STOCKS')).body.data
    expect(await freshness()).toMatchObject({
      freshness: { data_status: 'current', next_release_at: '2026-11-25T15:30:00Z' },
    })
    // The release of the 25th is missed; Thanksgiving is a holiday.
    clock.advance(Date.parse('2026-11-27T15:31:00Z') - clock.now())
    expect(await freshness()).toMatchObject({
      freshness: { data_status: 'delayed', next_release_at: '2026-12-02T15:30:00Z' },
    })
    clock.advance(Date.parse('2026-12-09T15:31:00Z') - clock.now())
    expect(await freshness()).toMatchObject({ freshness: { data_status: 'stale' } })
  })

  test('the series list shows the current release date and properties of a series after every change', async () => {
    const { admin, clock, services } = withOperator()
    await admin('POST', '/series', stocks)
    const listed = async () => [...(await admin('GET', '/series?own=true')).body.data]
    const row = { code: 'DESK_STOCKS', has_data: false, next_release_at: '2026-11-25T15:30:00Z' }
    expect(await listed()).toMatchObject([row])
    await admin('POST', '/observations', {
      observations: [{ code: 'DESK_STOCKS', observed_at: '2026-11-13', price: 100 }],
    })
    expect(await listed()).toMatchObject([{ ...row, has_data: true }])
    await admin('PATCH', '/series/DESK_STOCKS', { name: 'Stocks of the desk' })
    expect(await listed()).toMatchObject([{ ...row, has_data: true, name: 'Stocks of the desk' }])
    const { catalogue } = services
    catalogue.attribute(catalogue.named('DESK_STOCKS')!.id, {
      publisher: { name: 'Bureau', text: 'By the bureau.', licenseClass: 'open' },
    })
    expect(await listed()).toMatchObject([{ attribution: 'By the bureau.' }])
    clock.advance(Date.parse('2026-11-25T15:30:00Z') - clock.now())
    expect(await listed()).toMatchObject([{ next_release_at: '2026-12-02T15:30:00Z' }])
  })

  test('are changed and taken back, and refused where they make no calendar', async () => {
    const { admin } = withOperator()
    const daily = await admin('PATCH', '/series/WTI_USD', { release_days: ['last'] })
    expect(daily.body.data.series).toMatchObject({ cadence: 'monthly', changed: ['release_days'] })
    const back = await admin('PATCH', '/series/WTI_USD', { release_days: null })
    expect(back.body.data.series).toMatchObject({
      cadence: 'intraday_5m',
      release_days: [],
      next_release_at: null,
      changed: [],
    })
    const faultsOf = async (change: object) =>
      (await admin('PATCH', '/series/WTI_USD', change)).body.errors.map(error => error.field)
    expect(await faultsOf({ release_days: ['wed', '15'] })).toEqual(['release_days'])
    expect(await faultsOf({ release_days: [] })).toEqual(['release_days'])
    expect(await faultsOf({ release_days: ['32'] })).toEqual(['release_days.0'])
    expect(await faultsOf({ release_time: '10:30' })).toEqual(['release_time'])
    expect(await faultsOf({ release_days: ['wed'], release_time: '25:00' })).toEqual([
      'release_time',
    ])
    expect(await faultsOf({ release_days: ['sun'], release_holiday: 'skip' })).toEqual([
      'release_days',
    ])
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

test('a new series with an unknown currency is refused, and one with a new unit or a misspelled category is added with a warning', async () => {
  const { admin } = withOperator()
  const currencyOf = async (currency: string) => {
    const { status, body } = await admin('POST', '/series', { ...desk, currency })
    return { status, errors: body.errors }
  }
  for (const [currency, message] of [
    ['UDS', 'Did you mean USD?'],
    ['usd', 'Did you mean USD?'],
    ['QQQ', 'must be a currency code of ISO 4217, or null'],
  ] as const)
    expect(await currencyOf(currency)).toMatchObject({
      status: 422,
      errors: [{ field: 'currency', message: expect.stringContaining(message) }],
    })
  const warningsOf = async (series: object) =>
    ((await admin('POST', '/series', series)).body.data as { warnings?: object[] }).warnings
  const series = [
    { ...desk, code: 'DESK_A', aliases: [], category: 'refined_product', unit: 'quintal' },
    { ...desk, code: 'DESK_B', aliases: [], category: 'weather', unit: 'MWh' },
  ]
  expect(await warningsOf({ series })).toEqual([
    {
      code: 'DESK_A',
      field: 'category',
      message: 'category refined_product is new. Did you mean refined_products?',
    },
    {
      code: 'DESK_A',
      field: 'unit',
      message: 'unit quintal is new: prices in it cannot be converted.',
    },
    { code: 'DESK_B', field: 'unit', message: 'unit MWh is new. Did you mean mwh?' },
  ])
  expect(await warningsOf(desk)).toBeUndefined()
})
