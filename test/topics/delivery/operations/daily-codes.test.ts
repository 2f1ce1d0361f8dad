import { describe, expect, test } from 'bun:test'
import { isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import { shippedTermsOf } from '../../../../src/topics/catalogue/math/delivery-codes.ts'
import { dayOfDate, periodsOf } from '../../../../src/topics/delivery/math/days.ts'
import { deliveryTerms } from '../../../../src/topics/delivery/math/terms.ts'
import { withDelivery } from '../../../support/topics/delivery.ts'

const leg = 'POWER_DA_DE_LU_EUR'
const daily = 'POWER_DE_EUR'
const terms = deliveryTerms(shippedTermsOf(leg)!)!

/** An instance whose market has the days of 20 and 21 November, and part of the 22nd. */
async function withMarket() {
  const instance = withDelivery()
  const push = async (observations: object[], when: string) => {
    instance.clock.set(parseInstant(when)!)
    const { status, body } = await instance.admin('POST', '/observations', { observations })
    expect({ status, held: body.data?.held }).toEqual({ status: 200, held: 0 })
    return body.data
  }
  const auction = (date: string, when: string, first: number, count = 96) =>
    push(
      periodsOf(terms, dayOfDate(terms, date))
        .slice(0, count)
        .map(({ start }, i) => ({
          code: leg,
          observed_at: isoInstant(start),
          price: first + (i % 2),
        })),
      when,
    )
  await auction('2026-11-20', '2026-11-19T11:45:00Z', 40)
  await auction('2026-11-21', '2026-11-20T11:45:00Z', 50)
  await auction('2026-11-22', '2026-11-21T11:45:00Z', 60, 95)
  const latest = async () =>
    (await instance.ask(`/v1/prices/latest?by_code=${daily}&precision=full`)).body.data
  const days = async (more = '') => {
    const { body } = await instance.ask(
      `/v1/prices/historical?code=${daily}&start_date=2026-11-18&end_date=2026-11-25${more}`,
    )
    return body.data.prices.map((row: { created_at: string; price: number }) => [
      row.created_at.slice(0, 10),
      row.price,
    ])
  }
  return { ...instance, push, auction, latest, days }
}

describe('a daily code of a market with delivery periods', () => {
  test('answers the mean of each whole market day, and says of what', async () => {
    const { latest, days, ask, auction, clock } = await withMarket()
    expect(await latest()).toMatchObject({
      price: 50.5,
      derived: true,
      derived_from: leg,
      created_at: '2026-11-21T00:00:00Z',
      updated_at: '2026-11-20T11:45:00Z',
    })
    expect(await days()).toEqual([
      ['2026-11-21', 50.5],
      ['2026-11-20', 40.5],
    ])
    expect(await days('&interval=day')).toEqual(await days())
    const { data } = (await ask(`/v1/commodities/${daily}`)).body
    expect(data).toMatchObject({
      has_data: true,
      derived_from: leg,
      first_observation: '2026-11-20',
      last_observation: '2026-11-21T00:00:00Z',
    })
    await auction('2026-11-22', '2026-11-21T12:00:00Z', 60)
    // The day of the new mean has not begun.
    expect(await latest()).toMatchObject({ price: 50.5, created_at: '2026-11-21T00:00:00Z' })
    clock.set(parseInstant('2026-11-22T00:00:00Z')!)
    expect(await latest()).toMatchObject({ price: 60.5, created_at: '2026-11-22T00:00:00Z' })
  })

  test('answers a recorded value in its place, and the mean again when it is undone', async () => {
    const { latest, push, days, admin } = await withMarket()
    await push([{ code: daily, observed_at: '2026-11-21', price: 51.25 }], '2026-11-21T18:00:00Z')
    const recorded = await latest()
    expect({
      price: recorded.price,
      derived: recorded.derived,
      derived_from: recorded.derived_from,
    }).toEqual({ price: 51.25, derived: undefined, derived_from: undefined })
    expect(await days()).toEqual([
      ['2026-11-21', 51.25],
      ['2026-11-20', 40.5],
    ])
    const { batches } = (await admin('GET', '/batches?per_page=1')).body.data
    const undone = await admin('POST', `/batches/${batches[0].id}/undo`, {})
    expect(undone.status).toBe(200)
    expect(await latest()).toMatchObject({ price: 50.5, derived_from: leg })
  })

  test('marks the means among the rows of its history, in raw rows, bars of a day and another currency', async () => {
    const { ask, push } = await withMarket()
    await push([{ code: daily, observed_at: '2026-11-21', price: 51.25 }], '2026-11-21T18:00:00Z')
    await push([{ code: 'EUR_USD', observed_at: '2026-11-19', price: 1.1 }], '2026-11-21T18:00:00Z')
    const range = `code=${daily}&start_date=2026-11-18&end_date=2026-11-25`
    const marks = async (more = '') => {
      const { status, body } = await ask(`/v1/prices/historical?${range}${more}`)
      expect({ more, status }).toEqual({ more, status: 200 })
      return body.data.prices.map((row: { derived?: boolean; derived_from?: string }) => [
        row.derived,
        row.derived_from,
      ])
    }
    const recorded = [undefined, undefined]
    for (const more of ['', '&interval=day', '&currency=USD', '&precision=full'])
      expect(await marks(more), more).toEqual([recorded, [true, leg]])
    expect(await marks('&as_of=2026-11-20T12:00:00Z')).toEqual([
      [true, leg],
      [true, leg],
    ])
    expect(await marks('&interval=month')).toEqual([recorded])
  })

  test('knows with as_of what was published by then', async () => {
    const { days, push } = await withMarket()
    await push(
      [{ code: leg, observed_at: '2026-11-20T23:00:00Z', price: 146 }],
      '2026-11-21T13:00:00Z',
    )
    const first = ['2026-11-20', 40.5]
    expect(await days('&as_of=2026-11-20T11:00:00Z')).toEqual([first])
    expect(await days('&as_of=2026-11-21T12:00:00Z')).toEqual([['2026-11-21', 50.5], first])
    expect(await days()).toEqual([['2026-11-21', 51.5], first])
  })

  test('follows corrections of the periods, and formulas over it do', async () => {
    const { push, admin, ask, latest } = await withMarket()
    const formula = `${daily} * 2`
    const terms = { name: 'Twice', category: 'power', unit: 'mwh', currency: 'EUR', formula }
    expect((await admin('POST', '/series', { code: 'DESK_TWICE_EUR', ...terms })).status).toBe(201)
    const twice = async () =>
      (await ask('/v1/prices/latest?by_code=DESK_TWICE_EUR&precision=full')).body.data.price
    expect(await twice()).toBe(101)
    await push(
      [{ code: leg, observed_at: '2026-11-20T23:00:00Z', price: 146 }],
      '2026-11-21T13:00:00Z',
    )
    expect((await latest()).price).toBe(51.5)
    expect(await twice()).toBe(103)
  })

  test('of the peak hours of a hub in the United States has their mean, and none on days without peak', async () => {
    const { clock, admin, ask } = withDelivery()
    const hub = 'POWER_PJM_WESTERN_HUB_USD'
    const hubTerms = deliveryTerms(shippedTermsOf(hub)!)!
    // Wednesday, Thanksgiving, Friday and Saturday.
    for (const [i, date] of ['2026-11-25', '2026-11-26', '2026-11-27', '2026-11-28'].entries()) {
      clock.set(parseInstant(`2026-11-${24 + i}T18:31:00Z`)!)
      const observations = periodsOf(hubTerms, dayOfDate(hubTerms, date)).map(
        ({ start }, hour) => ({
          code: hub,
          observed_at: isoInstant(start),
          price: hour >= 7 && hour < 23 ? 50 + i : 20,
        }),
      )
      const { body } = await admin('POST', '/observations', { observations, source: 'Desk' })
      expect(body.data.held).toBe(0)
    }
    const { body } = await ask(
      '/v1/prices/historical?code=POWER_PJM_WEST_USD&start_date=2026-11-24&end_date=2026-11-29',
    )
    expect(
      body.data.prices.map((row: Record<string, unknown>) => [
        row.created_at,
        row.price,
        row.derived_from,
      ]),
    ).toEqual([
      ['2026-11-27T00:00:00Z', 52, hub],
      ['2026-11-25T00:00:00Z', 50, hub],
    ])
    const latest = (await ask(`/v1/prices/latest?by_code=${hub}`)).body.data
    expect(latest).toMatchObject({
      metadata: { license_class: 'view' },
      day: { date: '2026-11-27' },
    })
    const day = (await ask(`/v1/delivery/${hub}?date=2026-11-28`)).body.data
    expect({ base: day.base, peak: day.peak, off_peak: day.off_peak }).toEqual({
      base: (16 * 53 + 8 * 20) / 24,
      peak: null,
      off_peak: day.base,
    })
  })

  test('without periods is as any code', async () => {
    const { ask } = withDelivery()
    expect((await ask(`/v1/prices/latest?by_code=${daily}`)).status).not.toBe(200)
    expect((await ask(`/v1/commodities/${daily}`)).body.data.has_data).toBe(false)
  })
})
