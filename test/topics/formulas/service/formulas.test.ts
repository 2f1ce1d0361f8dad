import { describe, expect, test } from 'bun:test'
import { transact } from '../../../../src/database/database.ts'
import { viewFeeds } from '../../../../src/feeds/publishers/publishers.ts'
import { createFormulas } from '../../../../src/topics/formulas/service/formulas.ts'
import { lastTradingDay } from '../../../../src/topics/futures/math/contracts.ts'
import { createCloseStore } from '../../../../src/topics/prices/store/closes.ts'
import { createObservationStore } from '../../../../src/topics/prices/store/observations.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'
import { createFollower, type WireChange } from '../../../support/topics/follower.ts'

const dayMs = 86_400_000
const day = (text: string) => Date.parse(`${text}T00:00:00Z`)

interface PriceBody {
  price: number
  source: string
  derived?: boolean
  status?: string
  missing_legs?: { code: string; reason: string }[]
  legs?: { code: string; price: number | null }[]
  updated_at: string
}
interface Answer {
  message: string
  errors: { field: string; reason?: string; column?: number; path?: string[] }[]
  data: PriceBody & {
    prices: { price: number; code: string; created_at: string }[]
    inserted: number
    id: number
    recorded_at: string
  }
}

const spread = {
  code: 'DESK_SPREAD_USD',
  name: 'Brent less WTI',
  category: 'crude_oil',
  unit: 'barrel',
  currency: 'USD',
  formula: 'BRENT_CRUDE_USD - WTI_USD',
}

/** An instance with its operator's token, a reader's key and the desk's spread. */
async function withSpread(terms: Record<string, unknown> = spread) {
  const instance = openTestInstance()
  const operator = { authorization: `Bearer ${instance.services.adminTokens.rotate()}` }
  const key = instance.key()
  const admin = async (method: string, path: string, body?: unknown) => {
    const response = await instance.send(method, `/admin/v1${path}`, body, undefined, operator)
    return { status: response.status, body: (await response.json()) as Answer }
  }
  const read = async (path: string) => {
    const response = await instance.get(path, key)
    return { status: response.status, body: (await response.json()) as Answer }
  }
  const text = async (path: string) => await (await instance.get(path, key)).text()
  const push = async (code: string, prices: Record<string, number>) => {
    const observations = Object.entries(prices).map(([on, price]) => ({
      code,
      observed_at: on,
      price,
    }))
    instance.clock.advance(1000)
    return await admin('POST', '/observations', { observations })
  }
  for (const code of ['WTI_USD', 'BRENT_CRUDE_USD'])
    await admin('PATCH', `/series/${code}`, { cadence: 'daily' })
  const added = await admin('POST', '/series', terms)
  expect({ status: added.status, message: added.body.message }).toEqual({
    status: 201,
    message: undefined as never,
  })
  return { ...instance, key, admin, read, text, push }
}

describe('a series by formula', () => {
  test('is answered wherever codes are, and names its legs', async () => {
    const { read, text, push } = await withSpread()
    await push('WTI_USD', { '2026-11-18': 60, '2026-11-19': 61 })
    await push('BRENT_CRUDE_USD', { '2026-11-18': 64, '2026-11-19': 66 })
    const latest = (await read('/v1/prices/latest?by_code=DESK_SPREAD_USD')).body.data
    expect(latest).toMatchObject({
      price: 5,
      source: 'formula',
      derived: true,
      formula: spread.formula,
      status: 'ok',
      missing_legs: [],
      legs: [
        { code: 'BRENT_CRUDE_USD', price: 66, currency: 'USD', unit: 'barrel', status: 'ok' },
        { code: 'WTI_USD', price: 61, status: 'ok' },
      ],
      change_24h: 1,
    })
    const week = (await read('/v1/prices/past_week?by_code=DESK_SPREAD_USD&interval=raw')).body
    expect(week.data.prices.map(row => row.price)).toEqual([5, 4])
    const bars = (await read('/v1/prices/past_month?by_code=DESK_SPREAD_USD&interval=day')).body
    expect(bars.data.prices.map(row => row.price)).toEqual([5, 4])
    expect(
      await text('/v1/export/prices?codes=DESK_SPREAD_USD&columns=code,observed_at,price'),
    ).toBe(
      'code,observed_at,price\nDESK_SPREAD_USD,2026-11-18T00:00:00Z,4\nDESK_SPREAD_USD,2026-11-19T00:00:00Z,5\n',
    )
  })

  test('follows corrections and deletions, and as_of knows what was known', async () => {
    const { read, admin, push } = await withSpread()
    await push('WTI_USD', { '2026-11-18': 60, '2026-11-19': 61 })
    const brent = await push('BRENT_CRUDE_USD', { '2026-11-18': 64, '2026-11-19': 66 })
    await push('BRENT_CRUDE_USD', { '2026-11-19': 68 })
    const price = async (query = '') =>
      (await read(`/v1/prices/latest?by_code=DESK_SPREAD_USD${query}`)).body.data.price
    expect(await price()).toBe(7)
    expect(await price(`&as_of=${brent.body.data.recorded_at}`)).toBe(5)
    await admin('DELETE', '/values', {
      code: 'BRENT_CRUDE_USD',
      observed_at: '2026-11-19',
      reason: 'test',
    })
    // The newest of Brent is that of the day before.
    expect(await price()).toBe(3)
  })

  test('has another past as soon as an earlier value of a leg becomes known', async () => {
    const { read, admin } = await withSpread()
    const push = async (code: string, price: number, recorded_at: string) => {
      const observation = { code, observed_at: '2026-11-16', price, recorded_at }
      const { body } = await admin('POST', '/observations', { observations: [observation] })
      return body.data
    }
    await push('BRENT_CRUDE_USD', 64, '2026-11-17T12:00:00Z')
    await push('WTI_USD', 60, '2026-11-17T12:00:00Z')
    await push('WTI_USD', 62, '2026-11-18T12:00:00Z')
    const path = '/v1/prices/latest?by_code=DESK_SPREAD_USD&as_of=2026-11-18T06:00:00Z'
    expect((await read(path)).body.data.price).toBe(4)
    await push('WTI_USD', 61, '2026-11-18T00:00:00Z')
    expect((await read(path)).body.data.price).toBe(3)
  })

  test('says which leg is stale, quarantined or without a value, and invents nothing', async () => {
    const { read, admin, push, clock } = await withSpread()
    await push('WTI_USD', { '2026-11-18': 60, '2026-11-19': 61 })
    const latest = async () => await read('/v1/prices/latest?by_code=DESK_SPREAD_USD')
    expect((await latest()).status).toBe(404)
    await push('BRENT_CRUDE_USD', { '2026-11-18': 64, '2026-11-19': 66 })
    const quarantined = await admin('POST', '/quarantine', {
      code: 'WTI_USD',
      from: '2026-11-19',
      to: '2026-11-19',
      reason: 'test',
    })
    expect((await latest()).body.data).toMatchObject({
      price: 6,
      status: 'quarantined',
      missing_legs: [{ code: 'WTI_USD', reason: 'quarantined' }],
    })
    await admin('DELETE', `/quarantine/${quarantined.body.data.id}`)
    expect((await latest()).body.data).toMatchObject({ price: 5, status: 'ok' })
    clock.advance(6 * dayMs)
    expect((await latest()).body.data).toMatchObject({ price: 5, status: 'stale' })
  })

  test('is stale in each answer while a leg is, also where its newest value is of today', async () => {
    const { services, admin, push, clock } = await withSpread()
    const quote = () => services.latestPrices.quote(services.catalogue.named('DESK_SPREAD_USD')!)
    await push('WTI_USD', { '2026-11-18': 60, '2026-11-19': 61 })
    await push('BRENT_CRUDE_USD', { '2026-11-18': 64, '2026-11-19': 66 })
    expect(quote()).toMatchObject({ status: 'current', formula: { status: 'ok' } })
    clock.advance(6 * dayMs)
    await push('BRENT_CRUDE_USD', { '2026-11-25': 70 })
    expect(quote()).toMatchObject({ status: 'stale', formula: { status: 'stale' } })
    // A worse status of another leg hides that one is stale, but it is.
    await admin('POST', '/quarantine', {
      code: 'BRENT_CRUDE_USD',
      from: '2026-11-25',
      to: '2026-11-25',
      reason: 'test',
    })
    expect(quote()).toMatchObject({ status: 'stale', formula: { status: 'quarantined' } })
  })

  test('is refused at the column of its text, and over circles with their path', async () => {
    const { admin } = await withSpread()
    const fault = async (code: string, formula: string, method = 'POST') => {
      const path = method === 'POST' ? '/series' : `/series/${code}`
      const body = method === 'POST' ? { ...spread, code, formula } : { formula }
      const answer = await admin(method, path, body)
      return [answer.status, answer.body.errors?.[0]]
    }
    expect(await fault('DESK_A', 'BRENT_CRUDE_USD + DUTCH_TTF_EUR')).toEqual([
      422,
      expect.objectContaining({ field: 'formula', reason: 'units', column: 17, length: 1 }),
    ])
    expect(await fault('DESK_A', '1 + BRENTT')).toEqual([
      422,
      expect.objectContaining({ reason: 'unknown_code', column: 5, length: 6 }),
    ])
    const meant = expect.stringContaining('(column 5). Did you mean BRENT_CRUDE_USD')
    expect(await fault('DESK_A', '1 + BRENT_CRUDE_USDD')).toEqual([
      422,
      expect.objectContaining({ message: meant }),
    ])
    expect(await fault('DESK_A', ' ')).toEqual([
      422,
      expect.objectContaining({ reason: 'syntax', column: 2, length: 1 }),
    ])
    await admin('POST', '/series', { ...spread, code: 'DESK_TWICE', formula: '2*DESK_SPREAD_USD' })
    expect(await fault('DESK_SPREAD_USD', '1 + DESK_TWICE', 'PATCH')).toEqual([
      422,
      expect.objectContaining({
        reason: 'cycle',
        column: 5,
        path: ['DESK_SPREAD_USD', 'DESK_TWICE', 'DESK_SPREAD_USD'],
      }),
    ])
    expect((await fault('WTI_USD', 'BRENT_CRUDE_USD', 'PATCH'))[0]).toBe(422)
  })

  test('gives a plain number a unit through a formula for it, as the refusal says', async () => {
    const { admin, push, read } = await withSpread()
    await admin('PATCH', '/series/DUTCH_TTF_EUR', { cadence: 'daily' })
    const slope = '0.1485*plain(BRENT_CRUDE_USD)'
    const declared = { unit: 'mwh', currency: 'EUR' }
    for (const named of ['unit', 'fx']) {
      const call = named === 'unit' ? `unit(${slope}, mmbtu)` : `fx(${slope}, EUR)`
      const formula = `DUTCH_TTF_EUR - ${call}`
      const { body } = await admin('POST', '/series', {
        ...declared,
        code: 'DESK_NETBACK',
        formula,
      })
      expect(body.errors).toMatchObject([{ field: 'formula', column: 17 }])
      expect(body.message).toContain('create a formula with its unit and currency')
    }
    const first = { code: 'DESK_SLOPE', unit: 'mmbtu', currency: 'USD', formula: slope }
    const second = { ...declared, code: 'DESK_NETBACK', formula: 'DUTCH_TTF_EUR - DESK_SLOPE' }
    expect((await admin('POST', '/series', { series: [first, second] })).status).toBe(201)
    await push('BRENT_CRUDE_USD', { '2026-11-19': 60 })
    await push('EUR_USD', { '2026-11-19': 1.1 })
    await push('DUTCH_TTF_EUR', { '2026-11-19': 30 })
    const { data } = (await read('/v1/prices/latest?by_code=DESK_NETBACK')).body
    expect(data.price).toBeCloseTo(30 - (0.1485 * 60 * 3.412142) / 1.1, 1)
  })

  test('needs neither a name nor a category, and has the cadence of its finest leg', async () => {
    const { admin } = await withSpread()
    const { code, unit, currency } = { ...spread, code: 'DESK_PLAIN' }
    const formula = 'BRENT_CRUDE_USD + 0*plain(EUR_USD)'
    const added = await admin('POST', '/series', { code, unit, currency, formula })
    expect(added.body.data as unknown).toMatchObject({
      series: [
        { code, name: code, category: 'formula', cadence: 'intraday_5m', source: 'formula' },
      ],
    })
  })

  test('follows a new cadence of a leg over any number of levels, and takes none itself', async () => {
    const { admin, services } = await withSpread()
    const cadences = () => formulas.map(({ code }) => services.catalogue.named(code)!.cadence)
    const own = { unit: 'barrel', currency: 'USD' }
    const formulas = [
      { ...own, code: 'DESK_MEAN', formula: 'avg(WTI_USD, 1 month)' },
      { ...own, code: 'DESK_OVER', formula: 'DESK_MEAN + 0*lag(BRENT_CRUDE_USD, 1)' },
      { ...own, code: 'DESK_FRONT', formula: 'CL.1' },
    ]
    await admin('POST', '/series', { series: formulas })
    expect(cadences()).toEqual(['daily', 'daily', 'intraday_5m'])
    await admin('PATCH', '/series/BRENT_CRUDE_USD', { cadence: null })
    expect(cadences()).toEqual(['daily', 'daily', 'intraday_5m'])
    await admin('PATCH', '/series/WTI_USD', { cadence: 'weekly' })
    await admin('PATCH', '/series/WTI_FUTURES', { cadence: 'monthly' })
    expect(cadences()).toEqual(['weekly', 'weekly', 'monthly'])
    const refused = await admin('PATCH', '/series/DESK_MEAN', { cadence: 'daily' })
    expect({ status: refused.status, errors: refused.body.errors }).toMatchObject({
      status: 422,
      errors: [{ field: 'cadence' }],
    })
    // The settings of a formula of an earlier version have the cadence of its creation.
    const before = services.catalogue.named('DESK_MEAN')!
    services.seriesChanges.put(before, { ...before.terms, cadence: 'intraday_5m' })
    expect(cadences()).toEqual(['weekly', 'weekly', 'monthly'])
    const renamed = await admin('PATCH', '/series/DESK_MEAN', { name: 'Mean' })
    expect(renamed.status).toBe(200)
  })

  test('has the cadence of the feed that fills its leg', async () => {
    const { admin, services } = await withSpread()
    const { catalogue } = services
    const formula = { code: 'DESK_GAS', unit: 'mmbtu', currency: 'USD', formula: 'NATURAL_GAS_USD' }
    await admin('POST', '/series', formula)
    const gas = catalogue.named('NATURAL_GAS_USD')!
    const cadence = () => catalogue.named('DESK_GAS')!.cadence
    expect([gas.cadence, cadence()]).toEqual(['intraday_5m', 'intraday_5m'])
    const publisher = { name: 'desk', text: 'Desk', licenseClass: 'open' as const }
    catalogue.attribute(gas.id, { publisher, cadence: 'daily', releaseLagDays: 1 })
    expect(cadence()).toBe('daily')
  })

  test('may use series that are before it in the same request, by code or alias, and none after it', async () => {
    const { admin, push, read } = await withSpread()
    const own = { name: 'Ours', category: 'crude_oil', unit: 'barrel', currency: 'USD' }
    const base = { ...own, code: 'DESK_BASE_USD', cadence: 'weekly', aliases: ['DESK_OURS'] }
    const twice = { ...own, name: undefined, code: 'DESK_TWICE_USD', formula: '2 * DESK_BASE_USD' }
    const more = { ...twice, code: 'DESK_MORE_USD', formula: 'DESK_TWICE_USD + desk_ours' }
    const reversed = await admin('POST', '/series', { series: [twice, base] })
    expect(reversed.status).toBe(422)
    expect(reversed.body.errors).toMatchObject([{ field: 'series.0.formula' }])
    const second = { ...base, code: 'DESK_SECOND_USD' }
    const clash = await admin('POST', '/series', { series: [base, second] })
    expect(clash.body.errors).toMatchObject([{ field: 'series.1.aliases.0' }])
    const added = await admin('POST', '/series', { series: [base, twice, more] })
    expect({ status: added.status, errors: added.body.errors }).toEqual({
      status: 201,
      errors: undefined as never,
    })
    await push('DESK_BASE_USD', { '2026-11-19': 10 })
    const { data } = (await read('/v1/prices/latest?by_code=DESK_MORE_USD')).body
    expect(data.price).toBe(30)
    const { cadence } = (await read('/v1/commodities/DESK_MORE_USD')).body.data as never as {
      cadence: string
    }
    expect(cadence).toBe('weekly')
  })

  test('a series by formula refuses pushed values', async () => {
    const { push } = await withSpread()
    const pushed = await push('DESK_SPREAD_USD', { '2026-11-18': 1 })
    expect({ status: pushed.status, first: pushed.body.errors[0] }).toEqual({
      status: 422,
      first: expect.objectContaining({ reason: 'computed' }),
    })
  })

  test('changes with its text at once', async () => {
    const { read, admin, push } = await withSpread()
    await push('WTI_USD', { '2026-11-19': 61 })
    await push('BRENT_CRUDE_USD', { '2026-11-19': 66 })
    await read('/v1/prices/latest?by_code=DESK_SPREAD_USD')
    await admin('PATCH', '/series/DESK_SPREAD_USD', { formula: 'WTI_USD - BRENT_CRUDE_USD' })
    expect((await read('/v1/prices/latest?by_code=DESK_SPREAD_USD')).body.data.price).toBe(-5)
  })

  test('has records in the feed of changes when the unit of a code that it converts is another one', async () => {
    const { admin, push, read } = await withSpread()
    const fuel = { ...spread, code: 'DESK_FUEL_USD', formula: undefined, unit: 'gallon' }
    const converted = { ...spread, code: 'DESK_BARREL_USD', formula: 'unit(DESK_FUEL_USD, barrel)' }
    expect((await admin('POST', '/series', fuel)).status).toBe(201)
    await push('DESK_FUEL_USD', { '2026-11-18': 2 })
    expect((await admin('POST', '/series', converted)).status).toBe(201)
    const follower = createFollower()
    let since = 'start'
    const follow = async () => {
      const path = `/v1/changes?since=${since}&codes=DESK_BARREL_USD&derived=true`
      const data = (await read(path)).body.data as unknown as {
        changes: WireChange[]
        cursor: string
      }
      since = data.cursor
      follower.take(data.changes)
      return follower.stateAt('9999')
    }
    expect(await follow()).toEqual(['DESK_BARREL_USD,2026-11-18T00:00:00Z,84'])
    expect((await admin('PATCH', '/series/DESK_FUEL_USD', { unit: 'barrel' })).status).toBe(200)
    expect((await read('/v1/prices/latest?by_code=DESK_BARREL_USD')).body.data.price).toBe(2)
    expect(await follow()).toEqual(['DESK_BARREL_USD,2026-11-18T00:00:00Z,2'])
  })

  test('is hidden from whom a leg is hidden', async () => {
    const instance = await withSpread()
    const { admin, read, push } = instance
    await admin('POST', '/series', {
      ...spread,
      code: 'DESK_SECRET_USD',
      formula: undefined,
      visible_to: ['11111111-2222-4333-8444-555555555555'],
    })
    await admin('POST', '/series', { ...spread, code: 'DESK_OVER', formula: '2*DESK_SECRET_USD' })
    await push('DESK_SECRET_USD', { '2026-11-19': 61 })
    const hidden = await read('/v1/prices/latest?by_code=DESK_OVER')
    expect({ status: hidden.status, body: hidden.body as unknown }).toEqual({
      status: 404,
      body: expect.objectContaining({
        error: expect.objectContaining({
          code: 'DATA_NOT_AVAILABLE',
          status: 'not_visible',
          missing_legs: [{ code: null, reason: 'not_visible' }],
        }),
      }),
    })
    expect(JSON.stringify(hidden.body)).not.toContain('SECRET')
    expect(JSON.stringify((await read('/v1/commodities')).body)).not.toContain('DESK_OVER')
  })

  test('is never converted at a rate that is for some accounts alone', async () => {
    const { admin, read, push } = await withSpread()
    const rate = {
      code: 'USD_ISK',
      name: 'Krona of our desk',
      category: 'fx',
      unit: 'rate',
      currency: 'ISK',
    }
    const converted = { ...spread, code: 'DESK_ISK', currency: 'ISK', formula: 'fx(WTI_USD, ISK)' }
    expect((await admin('POST', '/series', rate)).status).toBe(201)
    await push('USD_ISK', { '2026-11-19': 120 })
    await push('WTI_USD', { '2026-11-19': 60 })
    expect((await admin('POST', '/series', converted)).status).toBe(201)
    expect((await read('/v1/prices/latest?by_code=DESK_ISK')).body.data.price).toBe(7200)
    const visible_to = ['11111111-2222-4333-8444-555555555555']
    expect((await admin('PATCH', '/series/USD_ISK', { visible_to })).status).toBe(200)
    expect((await read('/v1/prices/latest?by_code=DESK_ISK')).status).toBe(404)
    const again = await admin('POST', '/series', { ...converted, code: 'DESK_ISK_TWO' })
    expect({ status: again.status, reason: again.body.errors[0]?.reason }).toEqual({
      status: 422,
      reason: 'unknown_currency',
    })
    expect(JSON.stringify(again.body)).not.toContain('USD_ISK')
  })

  test('without a value is answered by what it lacks', async () => {
    const { read, push } = await withSpread()
    await push('WTI_USD', { '2026-11-19': 61 })
    const none = await read('/v1/prices/latest?by_code=DESK_SPREAD_USD')
    expect({ status: none.status, body: none.body as unknown }).toEqual({
      status: 404,
      body: expect.objectContaining({
        error: expect.objectContaining({
          message: 'The formula of DESK_SPREAD_USD has no value: BRENT_CRUDE_USD is incomplete.',
          status: 'incomplete',
          missing_legs: [{ code: 'BRENT_CRUDE_USD', reason: 'incomplete' }],
        }),
      }),
    })
  })

  test('is left out of exports and the feed where it rests on values that may not be passed on', async () => {
    const { services, push, text } = await withSpread()
    await push('WTI_USD', { '2026-11-17': 60, '2026-11-18': 60, '2026-11-19': 61 })
    await push('BRENT_CRUDE_USD', { '2026-11-17': 63 })
    const [feed] = viewFeeds
    const seriesId = services.catalogue.named('BRENT_CRUDE_USD')!.id
    const points = [{ seriesId, observedAt: day('2026-11-18'), value: 64 }]
    services.batches.record(
      { kind: 'feed', actor: 'feed', feed: { name: feed!, periodKind: 0 } },
      points,
    )
    const query = 'codes=DESK_SPREAD_USD&columns=code,observed_at,price'
    expect(await text(`/v1/export/prices?${query}`)).toBe(
      'code,observed_at,price\nDESK_SPREAD_USD,2026-11-17T00:00:00Z,3\n',
    )
    const { data } = JSON.parse(await text('/v1/changes?since=start&codes=DESK_SPREAD_USD'))
    expect(data.changes.map((change: { observed_at: string }) => change.observed_at)).toEqual([
      '2026-11-17T00:00:00Z',
    ])
    // It is shown all the same.
    expect(await text('/v1/prices/latest?by_code=DESK_SPREAD_USD')).toContain('"price":3')
  })

  test('notifies webhooks and alerts of a newest value that any leg changes', async () => {
    const { services, push } = await withSpread()
    await push('WTI_USD', { '2026-11-19': 61 })
    await push('BRENT_CRUDE_USD', { '2026-11-19': 66 })
    const heard: string[] = []
    services.ingest.listen(changes => {
      for (const { seriesId, inserted } of changes)
        heard.push(`${services.catalogue.byId(seriesId).code} ${inserted.at(-1)?.value}`)
    })
    await push('BRENT_CRUDE_USD', { '2026-11-20': 70 })
    expect(heard).toEqual(['BRENT_CRUDE_USD 70', 'DESK_SPREAD_USD 9'])
  })

  test('notifies webhooks and alerts of a newest value that a deletion or an undo in a leg changes', async () => {
    const { services, push, admin } = await withSpread()
    await push('BRENT_CRUDE_USD', { '2026-11-19': 66 })
    const pushed = await push('BRENT_CRUDE_USD', { '2026-11-20': 70 })
    await push('WTI_USD', { '2026-11-20T06:00:00Z': 61 })
    const heard: (number | undefined)[] = []
    services.ingest.listenInside(changes => {
      for (const { seriesId, revised } of changes)
        if (services.catalogue.byId(seriesId).code === spread.code) heard.push(revised[0]?.value)
    })
    const { batch } = pushed.body.data as unknown as { batch: number }
    expect((await admin('POST', `/batches/${batch}/undo`, {})).status).toBe(200)
    const named = { code: 'BRENT_CRUDE_USD', reason: 'test' }
    await push('BRENT_CRUDE_USD', { '2026-11-20T03:00:00Z': 68 })
    const value = { ...named, observed_at: '2026-11-20T03:00:00Z' }
    expect((await admin('DELETE', '/values', value)).status).toBe(200)
    expect(heard).toEqual([5, 7, 5])
  })

  test('notifies webhooks and alerts of no value between the writes of one transaction', async () => {
    const { services, push, admin } = await withSpread()
    await push('WTI_USD', { '2026-11-19': 61, '2026-11-20': 61 })
    await push('BRENT_CRUDE_USD', { '2026-11-19': 66, '2026-11-20': 66 })
    const heard: (number | undefined)[] = []
    services.ingest.listenInside(changes => {
      for (const { seriesId, inserted, revised } of changes)
        if (services.catalogue.byId(seriesId).code === spread.code)
          heard.push([...inserted, ...revised].at(-1)?.value)
    })
    const pushBoth = async (on: string, [brent, wti]: [number, number], sources: string[]) => {
      const [source, other] = sources
      const observations = [
        { code: 'BRENT_CRUDE_USD', observed_at: on, price: brent, source },
        { code: 'WTI_USD', observed_at: on, price: wti, source: other },
      ]
      const { body } = await admin('POST', '/observations', { observations })
      return (body.data as unknown as { batch: number }).batch
    }
    const undo = (batch: number) => admin('POST', `/batches/${batch}/undo`, {})
    const revised = await pushBoth('2026-11-20', [68, 62], ['exchange', 'exchange'])
    expect(heard.splice(0)).toEqual([6])
    expect((await undo(revised)).status).toBe(200)
    expect(heard.splice(0)).toEqual([5])
    const added = await pushBoth('2026-11-20T06:00:00Z', [70, 63], ['exchange', 'broker'])
    expect(heard.splice(0)).toEqual([7])
    expect((await undo(added)).status).toBe(200)
    expect(heard).toEqual([])
  })
})

test('a rank of a futures family is the contract of that rank at each time', async () => {
  const { services, read, admin, clock } = await withSpread()
  const contracts = ['2026_12', '2027_01', '2027_02'].map(month => `WTI_FUTURES_${month}`)
  for (const code of contracts) services.catalogue.resolve(code, day('2026-11-10'))
  const [december, january, february] = contracts
  const last = day(lastTradingDay('WTI_FUTURES', '2026-12'))
  const [before, after] = [last + dayMs / 2, last + dayMs + dayMs / 2]
  const settle = (code: string, value: number, observedAt: number) =>
    services.ingest.write([{ seriesId: services.catalogue.find(code)!.id, observedAt, value }])
  settle(december!, 60, before)
  settle(january!, 61, before)
  settle(january!, 64, after)
  settle(february!, 66, after)
  const formula = '2*CL.1 - plain(wti_futures.2)'
  const terms = { ...spread, code: 'DESK_ROLL', formula, align: 'same_day' }
  expect((await admin('POST', '/series', terms)).status).toBe(201)
  const rows = services.observations.oldestFirst(
    services.catalogue.named('DESK_ROLL')!.id,
    0,
    day('2027-01-01'),
  )
  expect(rows.map(({ value }) => value)).toEqual([59, 62])
  settle(february!, 67, after + 1)
  clock.set(after + 1)
  const latest = await read('/v1/prices/latest?by_code=DESK_ROLL')
  expect(latest.body.data).toMatchObject({
    price: 61,
    legs: [
      { code: 'WTI_FUTURES.1', price: 64 },
      { code: 'WTI_FUTURES.2', price: 67 },
    ],
  })
  const unknown = { ...spread, code: 'DESK_NONE', formula: 'CL.13' }
  expect((await admin('POST', '/series', unknown)).status).toBe(422)
})

test('levels of storage are legs like prices', async () => {
  const { admin, push, read } = await withSpread()
  const terms = {
    ...spread,
    code: 'DESK_STOCKS',
    unit: 'million_barrels',
    currency: null,
    formula: 'plain(US_CRUDE_STORAGE)/2',
  }
  expect((await admin('POST', '/series', terms)).status).toBe(201)
  expect((await push('US_CRUDE_STORAGE', { '2026-11-13': 424 })).status).toBe(200)
  expect((await read('/v1/prices/latest?by_code=DESK_STOCKS')).body.data.price).toBe(212)
})

test('an alert on a formula fires when a leg moves it over the bound, in the same write', async () => {
  const { push, read, send, key } = await withSpread()
  await push('WTI_USD', { '2026-11-19': 61 })
  await push('BRENT_CRUDE_USD', { '2026-11-19': 66 })
  const alert = {
    name: 'Spread',
    commodity_code: 'DESK_SPREAD_USD',
    condition_operator: 'greater_than',
    condition_value: 8,
  }
  expect((await send('POST', '/v1/alerts', { price_alert: alert }, key)).status).toBe(201)
  await push('BRENT_CRUDE_USD', { '2026-11-20': 68 })
  const fired = async () => {
    const { body } = await read('/v1/alerts')
    return (body as unknown as { trigger_count: number }[])[0]?.trigger_count
  }
  expect(await fired()).toBe(0)
  await push('WTI_USD', { '2026-11-20': 59 })
  await push('BRENT_CRUDE_USD', { '2026-11-20T12:00:00Z': 70 })
  expect(await fired()).toBe(1)
})

test('forty nested formulas over ten years are computed within a second', async () => {
  const { services, read } = await withSpread()
  const id = (code: string) => services.catalogue.named(code)!.id
  const points = (code: string, level: number) =>
    Array.from({ length: 3650 }, (_, i) => ({
      seriesId: id(code),
      observedAt: day('2026-11-19') - i * dayMs,
      value: level + (i % 7),
    }))
  services.ingest.write([...points('WTI_USD', 60), ...points('BRENT_CRUDE_USD', 65)])
  const nested = Array.from({ length: 39 }, (_, i) => {
    const below = i === 0 ? 'DESK_SPREAD_USD' : `DESK_LEVEL_${i}`
    const formula = `${below} + 0.1*avg(WTI_USD, ${1 + (i % 3)} months) - 0.1*lag(${below}, 1 week)`
    return {
      code: `DESK_LEVEL_${i + 1}`,
      terms: { ...spread, formula, source: 'formula', cadence: 'daily' as const },
    }
  })
  services.seriesChanges.add(nested)
  await read('/v1/prices/latest?by_code=WTI_USD')
  // Processor time: other tests run on the same machine.
  const began = process.cpuUsage()
  const { body } = await read('/v1/prices/latest?by_code=DESK_LEVEL_39')
  const { user, system } = process.cpuUsage(began)
  expect(body.data.price).toBeGreaterThan(0)
  expect((user + system) / 1000).toBeLessThan(1000)
})

describe('formulas of many accounts over one code', () => {
  test('cost each new price of it milliseconds, also after another formula is created', async () => {
    const { services, push, read } = await withSpread()
    const points = (code: string) =>
      Array.from({ length: 7300 }, (_, i) => ({
        seriesId: services.catalogue.named(code)!.id,
        observedAt: day('2026-11-18') - i * dayMs,
        value: 60 + (i % 7),
      }))
    services.ingest.write([...points('WTI_USD'), ...points('BRENT_CRUDE_USD')])
    const add = (from: number, count: number) =>
      services.seriesChanges.add(
        Array.from({ length: count }, (_, i) => ({
          code: `DESK_OF_${from + i}`,
          terms: {
            ...spread,
            formula: `BRENT_CRUDE_USD - ${from + i}*avg(WTI_USD, ${i + 2} days)`,
            source: 'formula',
          },
        })),
      )
    add(0, 300)
    const began = process.cpuUsage()
    for (let i = 1; i <= 10; i += 1) {
      if (i === 5) add(300, 1)
      await push('WTI_USD', { [`2026-11-19T00:0${i % 10}:00Z`]: 61 + i / 10 })
    }
    const { user, system } = process.cpuUsage(began)
    expect((user + system) / 1000).toBeLessThan(3000)
    expect((await read('/v1/prices/latest?by_code=DESK_OF_7')).body.data.price).toBeDefined()
  })

  test('compute means of a whole history as fast as those of a week', async () => {
    const { services, read } = await withSpread()
    services.ingest.write(
      Array.from({ length: 7300 }, (_, i) => ({
        seriesId: services.catalogue.named('WTI_USD')!.id,
        observedAt: day('2026-11-18') - i * dayMs,
        value: 60 + (i % 7),
      })),
    )
    const formula = Array.from({ length: 70 }, (_, i) => `avg(WTI_USD, ${99_999 - i} days)`)
    services.seriesChanges.add([
      { code: 'DESK_MEANS', terms: { ...spread, formula: formula.join(' + '), source: 'formula' } },
    ])
    const began = process.cpuUsage()
    const year = await read('/v1/prices/historical?by_code=DESK_MEANS&interval=day')
    const { user, system } = process.cpuUsage(began)
    expect(year.body.data.prices[0]!.price).toBeCloseTo(70 * 63, 0)
    expect((user + system) / 1000).toBeLessThan(3000)
  })

  test('show nothing of a transaction that was undone after they were computed in it', async () => {
    const { services, push, read } = await withSpread()
    await push('WTI_USD', { '2026-11-18': 60 })
    await push('BRENT_CRUDE_USD', { '2026-11-18': 64 })
    const point = (code: string, value: number, observedAt: number) => ({
      seriesId: services.catalogue.named(code)!.id,
      observedAt,
      value,
    })
    expect(() =>
      transact(services.db, () => {
        services.ingest.write([point('BRENT_CRUDE_USD', 90, day('2026-11-18'))])
        services.ingest.write([point('WTI_USD', 50, day('2026-11-19'))])
        throw new Error('the disk is full')
      }),
    ).toThrow('the disk is full')
    const latest = await read('/v1/prices/latest?by_code=DESK_SPREAD_USD')
    expect(latest.body.data.price).toBe(4)
    const week = await read('/v1/prices/past_week?by_code=DESK_SPREAD_USD&interval=raw')
    expect(week.body.data.prices.map(row => row.price)).toEqual([4])
  })
})

test('a long read of a formula in parts computes what follows a part once', async () => {
  const { services } = await withSpread()
  const { catalogue, clock, db, ingest, quarantine } = services
  const count = 8_640
  const firstAt = day('2025-06-01')
  const points = (code: string, value: number) => {
    const seriesId = catalogue.named(code)!.id
    const inPast = Array.from({ length: count }, (_, i) => ({
      seriesId,
      observedAt: firstAt + i * 600_000,
      value: value + i,
    }))
    return [...inPast, { seriesId, observedAt: day('2026-11-20'), value }]
  }
  ingest.write([...points('BRENT_CRUDE_USD', 66), ...points('WTI_USD', 61)])
  const stored = createObservationStore(db)
  let rowsRead = 0
  const counted: typeof stored = {
    ...stored,
    asOf(...of) {
      const rows = stored.asOf(...of)
      rowsRead += rows.length
      return rows
    },
  }
  const { observations } = createFormulas({
    stored: counted,
    closes: createCloseStore(db),
    catalogue,
    quarantine,
  })
  const columns = () => new Float64Array(300)
  const into = { observedAt: columns(), value: columns(), recordedAt: columns() }
  const { id } = catalogue.named(spread.code)!
  const end = firstAt + count * 600_000
  const point = { asOf: clock.now() + 1_000, isCovered: true }
  const times: number[] = []
  for (let from = firstAt, found = into.value.length; found === into.value.length; ) {
    found = observations.copy(id, from, end, into, point)
    times.push(...into.observedAt.subarray(0, found))
    from = times.at(-1)! + 1
  }
  expect(times).toEqual(Array.from({ length: count }, (_, i) => firstAt + i * 600_000))
  expect(rowsRead).toBeLessThan(10 * count)
})
