import { describe, expect, test } from 'bun:test'
import { hourMs, isoDay, isoInstant } from '../../../../src/lib/time/instant.ts'
import { listedMonths } from '../../../../src/topics/futures/math/contracts.ts'
import type { FamilyCode } from '../../../../src/topics/futures/math/families.ts'
import { startAt } from '../../../support/instance/instance.ts'
import {
  close,
  type Json,
  pricedInstance,
  settle,
} from '../../../support/topics/operations/spreads.ts'

describe('/v1/spreads/gasoil-crack', () => {
  const { instance, ask, answered, refused } = pricedInstance()
  const crack = 'gasoil-crack'

  test('names the leg that has no price', async () => {
    expect(await refused(crack)).toMatchObject({
      status: 404,
      code: 'DATA_NOT_AVAILABLE',
      leg: 'product',
    })
    settle(instance, 'GASOIL_FUTURES', [702.5], startAt - 95 * hourMs)
    expect(await refused(crack)).toMatchObject({
      status: 404,
      code: 'DATA_NOT_AVAILABLE',
      leg: 'crude',
      reason: 'no_price',
    })
  })

  test('is front-month gasoil / 7.45 - front-month Brent, dated by the older leg', async () => {
    settle(instance, 'BRENT_FUTURES', [75.1, 74.8])
    const { data } = await answered(crack)
    const [gasoil, brent] = [
      listedMonths('GASOIL_FUTURES', isoDay(startAt), 1)[0]!,
      listedMonths('BRENT_FUTURES', isoDay(startAt), 1)[0]!,
    ]
    close(data.value, 702.5 / 7.45 - 75.1)
    close(data.conversion.gasoil_usd_per_bbl, 702.5 / 7.45)
    expect(data).toMatchObject({
      spread_type: 'gasoil_crack',
      type: 'gasoil-crack',
      unit: 'USD/bbl',
      timestamp: isoInstant(startAt - 95 * hourMs),
      components: {
        product: {
          code: `GASOIL_FUTURES_${gasoil.replace('-', '_')}`,
          contract_month: gasoil,
          price: 702.5,
        },
        crude: {
          code: `BRENT_FUTURES_${brent.replace('-', '_')}`,
          contract_month: brent,
          price: 75.1,
        },
      },
      conversion: { barrels_per_tonne: 7.45 },
    })
  })

  test('refuses a leg older than 96 hours', async () => {
    instance.clock.advance(hourMs)
    expect((await ask(crack)).status).toBe(200)
    instance.clock.advance(1)
    expect(await refused(crack)).toMatchObject({
      status: 404,
      leg: 'product',
      reason: 'stale',
      last_updated: isoInstant(startAt - 95 * hourMs),
    })
  })

  test('has neither a history nor an all; unknown types are unknown routes', async () => {
    for (const path of [
      'gasoil-crack/historical',
      'gasoil-crack/all',
      'curve-structure/historical',
      'crush',
      'crush/all',
      'crack/latest',
    ]) {
      const { status, body, headers } = await ask(path)
      expect({ status, body: body as unknown, contentType: headers.get('content-type') }).toEqual({
        status: 404,
        body: undefined,
        contentType: 'text/html',
      })
    }
  })
})

describe('/v1/spreads/curve-structure', () => {
  const { instance, answered, refused } = pricedInstance()

  test('of no curve is a 404', async () => {
    expect(await refused('curve-structure?commodity=EXCH_BRENT')).toMatchObject({
      status: 404,
      code: 'DATA_NOT_AVAILABLE',
    })
    expect(await refused('curve-structure/all')).toMatchObject({
      status: 404,
      code: 'DATA_NOT_AVAILABLE',
    })
  })

  test('in backwardation has positive spreads and a negative slope', async () => {
    settle(
      instance,
      'BRENT_FUTURES',
      [80, 79.5, 79.1, 78.8, 78.5, 78.3, 78.1, 77.9, 77.8, 77.7, 77.6, 77.5],
    )
    const { data } = await answered('curve-structure?commodity=EXCH_BRENT')
    const months = listedMonths('BRENT_FUTURES', isoDay(startAt), 12).map(
      month => `BRENT_FUTURES_${month.replace('-', '_')}`,
    )
    close(data.term_slope_pct, 100 * (77.5 / 80 - 1))
    expect(data).toMatchObject({
      commodity: 'EXCH_BRENT',
      display_name: 'Brent Futures',
      structure: 'backwardation',
      severity: 'moderate',
      curve_points: 12,
      spreads: { m1_m3: 0.9, m1_m6: 1.7, m1_m12: 2.5 },
      timestamp: isoInstant(startAt - hourMs),
      front_month: { price: 80, contract: months[0]! },
      back_month_6: { price: 78.3, contract: months[5]! },
    })
  })

  const table: [string, number[], string, string][] = [
    ['EXCH_WTI', [70, 70.5, 71, 71.5, 72, 72.5, 73, 73.5, 74, 74.5, 75, 75.5], 'contango', 'steep'],
    ['EXCH_GASOIL', [700, 701, 700, 701, 700, 701, 700, 701, 700, 701, 700, 703], 'flat', 'none'],
    ['EXCH_NG', [3, 2.9, 2.8, 2.7, 2.6, 2.5, 2.4, 2.3, 2.2, 2.1, 2, 3.05], 'mixed', 'mild'],
    ['EXCH_TTF', [30, 30.1, 30.2], 'contango', 'mild'],
  ]
  const families: Record<string, FamilyCode> = {
    EXCH_WTI: 'WTI_FUTURES',
    EXCH_GASOIL: 'GASOIL_FUTURES',
    EXCH_NG: 'NATURAL_GAS_FUTURES',
    EXCH_TTF: 'TTF_FUTURES',
  }
  for (const [name, curve, structure, severity] of table) {
    test(`${name}: ${structure}, ${severity}`, async () => {
      settle(instance, families[name]!, curve)
      const { data } = await answered(`curve-structure?commodity=${name}`)
      expect(data).toMatchObject({
        commodity: name,
        structure,
        severity,
        curve_points: curve.length,
      })
      expect(data.spreads.m1_m12).toBe(
        curve.length === 12 ? Math.round((curve[0]! - curve[11]!) * 1e6) / 1e6 : null,
      )
      if (curve.length < 6)
        expect({ m1_m6: data.spreads.m1_m6, back_month_6: data.back_month_6 }).toEqual({
          m1_m6: null,
          back_month_6: null,
        })
    })
  }

  test('of all has every curve', async () => {
    const result = await answered('curve-structure/all')
    expect(result.data.map((row: Json) => row.commodity)).toEqual([
      'EXCH_BRENT',
      'EXCH_WTI',
      'EXCH_GASOIL',
      'EXCH_NG',
      'EXCH_TTF',
    ])
    expect(result.meta).toEqual({ count: 5 })
  })

  test('the curve structure accepts the family code or a slug in any letter case', async () => {
    for (const name of ['brent_futures', 'exch-brent', 'exch_brent', 'bz']) {
      expect((await answered(`curve-structure?commodity=${name}`)).data.commodity).toBe(
        'EXCH_BRENT',
      )
    }
  })

  test('needs a commodity that it offers', async () => {
    expect(await refused('curve-structure')).toMatchObject({
      status: 400,
      code: 'MISSING_PARAMETER',
      parameter: 'commodity',
    })
    expect(await refused('curve-structure?commodity=EUA_FUTURES')).toMatchObject({
      status: 400,
      code: 'INVALID_PARAMETER',
      parameter: 'commodity',
      allowed: ['EXCH_BRENT', 'EXCH_WTI', 'EXCH_GASOIL', 'EXCH_NG', 'EXCH_TTF'],
    })
  })

  test('a month without a price does not move the months behind it', async () => {
    const { instance: own, answered: get } = pricedInstance()
    settle(own, 'BRENT_FUTURES', [80, null, 79, 78.8, 78.6, 78.4])
    const { data } = await get('curve-structure?commodity=EXCH_BRENT')
    expect(data).toMatchObject({
      spreads: { m1_m3: 1, m1_m6: 1.6, m1_m12: null },
      back_month_6: { price: 78.4 },
      curve_points: 5,
    })
  })

  test('leaves prices older than 96 hours out', async () => {
    const { instance: own, answered: get, refused: no } = pricedInstance()
    settle(own, 'BRENT_FUTURES', [80, 79.5, 79], startAt - 96 * hourMs)
    expect((await get('curve-structure/all')).meta.count).toBe(1)
    own.clock.advance(1)
    expect((await no('curve-structure?commodity=EXCH_BRENT')).code).toBe('DATA_NOT_AVAILABLE')
    expect((await no('curve-structure/all')).code).toBe('DATA_NOT_AVAILABLE')
  })
})
