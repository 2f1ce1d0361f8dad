import { describe, expect, test } from 'bun:test'
import {
  dayMs,
  hourMs,
  isoDay,
  isoInstant,
  parseDay,
  weekdayOf,
} from '../../../../src/lib/time/instant.ts'
import { codesOf } from '../../../../src/topics/analytics/math/spread.ts'
import { spreads } from '../../../../src/topics/units/math/identities.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses } from '../../../support/real-data.ts'
import {
  close,
  type Json,
  pricedInstance,
  settle,
} from '../../../support/topics/operations/spreads.ts'

const pathsOf = {
  crack: 'crack',
  basis: 'basis',
  'refining-margin': 'refining-margin',
  'physical-premium': 'physical-premium',
} as const
const prices: Record<string, number> = {
  GASOIL_USD: 702.5,
  BRENT_CRUDE_USD: 75.1,
  GASOLINE_USD: 2.1,
  HEATING_OIL_USD: 2.3,
  WTI_USD: 71.23,
  JET_FUEL_NWE_USD: 760,
  SINGAPORE_JET_KEROSENE_USD: 88.4,
  DUBAI_CRUDE_USD: 74.2,
  WCS_CRUDE_USD: 58.1,
  WTI_MIDLAND_USD: 72.1,
  MARS_USD: 70.4,
  LOUISIANA_LIGHT_USD: 73.3,
  GAS_WAHA_USD: -0.45,
  GAS_HENRY_HUB_SPOT_USD: 3.1,
  DUTCH_TTF_EUR: 31.5,
  NATURAL_GAS_USD: 3.2,
  EUR_USD: 1.16,
  JKM_LNG_USD: 11.4,
  GASOLINE_CBOB_USGC_USD: 2.02,
  ULSD_USGC_USD: 2.25,
  GASOLINE_EUROBOB_NWE_USD: 690,
  NAPHTHA_NWE_USD: 560,
  DIESEL_10PPM_ARA_BARGE_USD: 715,
  FUEL_OIL_1_0_NWE_USD: 450,
  DATED_BRENT_USD: 75.8,
  FUEL_OIL_3_5_NWE_USD: 410,
  SINGAPORE_MOGAS_92_USD: 84,
  NAPHTHA_SINGAPORE_USD: 66,
  GASOIL_10PPM_SINGAPORE_USD: 89,
  FUEL_OIL_380_SINGAPORE_USD: 415,
  MURBAN_CRUDE_USD: 76,
  JOHAN_SVERDRUP_USD: 74.9,
  BONNY_LIGHT_USD: 77,
  ESPO_CRUDE_USD: 71,
  OMAN_CRUDE_USD: 74.5,
  FORTIES_USD: 75.2,
}

/** Every spread from the prices above, by hand from the documentation. */
const p = prices as Record<string, number>
const expected: Record<string, [keyof typeof pathsOf, number, string]> = {
  brent_gasoil: ['crack', p.GASOIL_USD! / 7.45 - p.BRENT_CRUDE_USD!, 'USD/bbl'],
  wti_321: [
    'crack',
    (2 * p.GASOLINE_USD! * 42 + p.HEATING_OIL_USD! * 42 - 3 * p.WTI_USD!) / 3,
    'USD/bbl',
  ],
  wti_gasoline: ['crack', p.GASOLINE_USD! * 42 - p.WTI_USD!, 'USD/bbl'],
  wti_heating_oil: ['crack', p.HEATING_OIL_USD! * 42 - p.WTI_USD!, 'USD/bbl'],
  brent_jet: ['crack', p.JET_FUEL_NWE_USD! / 7.88 - p.BRENT_CRUDE_USD!, 'USD/bbl'],
  dubai_jet: ['crack', p.SINGAPORE_JET_KEROSENE_USD! - p.DUBAI_CRUDE_USD!, 'USD/bbl'],
  wti_211: [
    'crack',
    (p.GASOLINE_USD! * 42 + p.HEATING_OIL_USD! * 42 - 2 * p.WTI_USD!) / 2,
    'USD/bbl',
  ],
  wti_brent: ['basis', p.WTI_USD! - p.BRENT_CRUDE_USD!, 'USD/bbl'],
  waha_henry_hub: ['basis', p.GAS_WAHA_USD! - p.GAS_HENRY_HUB_SPOT_USD!, 'USD/MMBtu'],
  ttf_henry_hub: [
    'basis',
    (p.DUTCH_TTF_EUR! * p.EUR_USD!) / 3.412142 - p.NATURAL_GAS_USD!,
    'USD/MMBtu',
  ],
  jkm_ttf: ['basis', p.JKM_LNG_USD! - (p.DUTCH_TTF_EUR! * p.EUR_USD!) / 3.412142, 'USD/MMBtu'],
  us_gulf_321: [
    'refining-margin',
    (2 * p.GASOLINE_CBOB_USGC_USD! * 42 + p.ULSD_USGC_USD! * 42 - 3 * p.LOUISIANA_LIGHT_USD!) / 3,
    'USD/bbl',
  ],
  oman_dubai: ['physical-premium', p.OMAN_CRUDE_USD! - p.DUBAI_CRUDE_USD!, 'USD/bbl'],
}

describe('/v1/spreads/{type}', () => {
  const { instance, answered } = pricedInstance()
  for (const [code, price] of Object.entries(prices))
    instance.record(code, [price - 1, price], startAt - hourMs, dayMs)

  for (const [id, [path, value, unit]] of Object.entries(expected)) {
    test(`${id} is what its formula says, and the sum of its components`, async () => {
      instance.clock.advance(1)
      const { data } = await answered(`${path}?id=${id}`)
      expect(data).toMatchObject({ id, type: path, unit, timestamp: isoInstant(startAt - hourMs) })
      close(data.value, value)
      close(
        data.components.reduce((sum: number, leg: Json) => sum + leg.price * leg.weight, 0),
        value,
      )
    })
  }

  test('moves by what its legs moved in 24 hours', async () => {
    // Both legs rose by 1.
    close((await answered('basis?id=wti_brent')).data.change_24h, 0)
    close((await answered('crack?id=wti_gasoline')).data.change_24h, 42 - 1)
  })

  test('does not move while its legs do not, however many digits they have', async () => {
    const still = pricedInstance()
    still.instance.record('GASOLINE_USD', [2.10049, 2.10049], startAt - hourMs, dayMs)
    still.instance.record('WTI_USD', [70.00449, 70.00449], startAt - hourMs, dayMs)
    expect((await still.answered('crack?id=wti_gasoline')).data.change_24h).toBe(0)
  })

  test('names the exchange rate that is part of it', async () => {
    const { data } = await answered('basis?id=ttf_henry_hub')
    expect(data.components.map((leg: Json) => leg.code)).toEqual([
      'DUTCH_TTF_EUR',
      'NATURAL_GAS_USD',
    ])
    expect(data.metadata.exchange_rates).toMatchObject([{ code: 'EUR_USD', rate: 1.16 }])
  })

  for (const [type, path] of Object.entries(pathsOf)) {
    test(`${path} alone answers the first of its ids, and all of them together`, async () => {
      instance.clock.advance(60_000)
      const ids = spreads[type as keyof typeof spreads].map(spread => spread.id)
      expect((await answered(path)).data.id).toBe(ids[0]!)
      const all = await answered(`${path}/all`)
      expect(all.data.map((row: Json) => row.id)).toEqual(ids)
      expect(all.meta).toEqual({ count: ids.length, unavailable: [] })
    })
  }

  test('margin is another name of refining-margin', async () => {
    expect(await answered('margin')).toEqual(await answered('refining-margin'))
    expect(await answered('margin/all')).toEqual(await answered('refining-margin/all'))
    expect(await answered('margin/historical')).toEqual(
      await answered('refining-margin/historical'),
    )
  })
})

describe('/v1/spreads/{type} where a leg has no price', () => {
  const { instance, answered, refused } = pricedInstance()
  for (const code of ['WTI_USD', 'MARS_USD']) instance.record(code, [70, 71], startAt, dayMs)
  instance.record('BRENT_CRUDE_USD', [75], startAt - 96 * hourMs, dayMs)

  test('a spread whose leg has no price is refused with the name of the leg', async () => {
    expect(await refused('basis?id=lls_wti')).toMatchObject({
      status: 404,
      code: 'DATA_NOT_AVAILABLE',
      leg: 'LOUISIANA_LIGHT_USD',
      reason: 'no_price',
    })
    expect(await refused('basis/historical?id=lls_wti')).toMatchObject({
      status: 404,
      code: 'DATA_NOT_AVAILABLE',
      leg: 'LOUISIANA_LIGHT_USD',
    })
    expect((await refused('crack')).message).toContain('GASOIL_USD')
  })

  test('counts as one when it is older than 96 hours, to the millisecond', async () => {
    expect((await answered('basis')).data.value).toBe(-4)
    instance.clock.advance(1)
    const last = isoInstant(startAt - 96 * hourMs)
    expect(await refused('basis')).toMatchObject({
      status: 404,
      leg: 'BRENT_CRUDE_USD',
      reason: 'stale',
      last_updated: last,
    })
    expect((await answered('basis/historical')).coverage.observations).toBe(0)
  })

  test('a spread whose leg has no price is left out and named, and the list returns 404 when none remains', async () => {
    const result = await answered('basis/all')
    expect(result.data.map((row: Json) => row.id)).toEqual(['mars_wti'])
    expect(result.meta.count).toBe(1)
    expect(result.meta.unavailable).toContainEqual({ id: 'wti_brent', leg: 'BRENT_CRUDE_USD' })
    expect(result.meta.unavailable).toHaveLength(spreads.basis.length - 1)
    expect(await refused('physical-premium/all')).toMatchObject({
      status: 404,
      code: 'DATA_NOT_AVAILABLE',
      leg: 'MURBAN_CRUDE_USD',
    })
  })
})

describe('/v1/spreads/{type}/historical', () => {
  const { instance, ask, answered, refused, seriesId } = pricedInstance()
  const first = parseDay('2026-08-03')!
  const weekdays = Array.from({ length: 110 }, (_, i) => first + i * dayMs).filter(
    day => weekdayOf(day) <= 5 && day <= startAt,
  )
  const valueAt = (day: number, leg: number) =>
    Math.round(7000 + 300 * Math.sin(day / dayMs / 7 + leg)) / 100
  for (const [leg, code] of ['WTI_USD', 'BRENT_CRUDE_USD'].entries()) {
    const points = weekdays.map(day => ({
      seriesId: seriesId(code),
      observedAt: day + 14 * hourMs,
      value: valueAt(day, leg),
    }))
    instance.services.ingest.write(points, startAt - dayMs)
  }
  const wantedIn = (from: string, to: string) =>
    weekdays
      .filter(day => isoDay(day) >= from && isoDay(day) <= to)
      .map(day => ({
        date: isoDay(day),
        value: valueAt(day, 0) - valueAt(day, 1),
        first: valueAt(day, 0),
        second: valueAt(day, 1),
      }))
      .reverse()
  const path = 'basis/historical'

  test('is one value a date, newest first, with the price of each leg', async () => {
    const result = await answered(`${path}?start_date=2026-09-01&end_date=2026-10-30`)
    const rows = wantedIn('2026-09-01', '2026-10-30')
    expect(result.data.map((row: Json) => row.date)).toEqual(rows.map(row => row.date))
    for (const [i, row] of rows.entries()) {
      close(result.data[i].value, row.value)
      expect(result.data[i]).toMatchObject({
        unit: 'USD/bbl',
        legs: { WTI_USD: row.first, BRENT_CRUDE_USD: row.second },
      })
    }
    expect(result).toMatchObject({
      id: 'wti_brent',
      type: 'basis',
      name: 'WTI - Brent',
      interval: 'day',
    })
  })

  test('covers 90 days up to today unless asked otherwise', async () => {
    const result = await answered(path)
    const rows = wantedIn('2026-08-23', '2026-11-20')
    expect(result.data.map((row: Json) => row.date)).toEqual(rows.map(row => row.date))
    expect(result.coverage).toEqual({
      from: '2026-08-24',
      to: '2026-11-20',
      observations: rows.length,
      complete: true,
    })
    expect((await answered(`${path}?end_date=2026-10-30`)).coverage).toMatchObject({
      from: '2026-08-03',
      to: '2026-10-30',
    })
  })

  test('is cut into pages that neither repeat nor lose a date', async () => {
    const dates: string[] = []
    for (let page = 1; page <= 4; page++) {
      const { headers, body } = await ask(`${path}?start_date=2026-08-03&per_page=30&page=${page}`)
      dates.push(...body.data.map((row: Json) => row.date))
      expect(headers.get('x-total')).toBe(String(weekdays.length))
      expect(headers.get('link')).toContain('rel="first"')
      expect(body.meta).toEqual({
        page,
        per_page: 30,
        total: weekdays.length,
        total_pages: 3,
        has_next: page < 3,
        has_prev: page > 1,
      })
      expect(body.coverage.observations).toBe(weekdays.length)
    }
    expect(dates).toEqual(wantedIn('2026-08-03', '2026-11-20').map(row => row.date))
    expect((await answered(`${path}?per_page=500`)).meta.per_page).toBe(100)
  })

  test('in weeks and months has the last value of each', async () => {
    const lastOf = (length: number) => {
      const rows = wantedIn('2026-09-01', '2026-10-30').map(row => row.date)
      const bucket = (date: string) =>
        length === 7 ? Math.floor((parseDay(date)! / dayMs + 3) / 7) : date.slice(0, 7)
      return rows.filter((date, i) => i === 0 || bucket(date) !== bucket(rows[i - 1]!))
    }
    for (const [interval, length] of [
      ['week', 7],
      ['1w', 7],
      ['month', 30],
    ] as const) {
      const result = await answered(
        `${path}?start_date=2026-09-01&end_date=2026-10-30&interval=${interval}`,
      )
      expect(result.data.map((row: Json) => row.date)).toEqual(lastOf(length))
      expect(result.coverage.observations).toBe(wantedIn('2026-09-01', '2026-10-30').length)
    }
  })

  test('a spread history that lacks a weekday is incomplete and reports the dates that it covers', async () => {
    const result = await answered(`${path}?start_date=2026-07-30&end_date=2026-08-07`)
    expect(result.coverage).toEqual({
      from: '2026-08-03',
      to: '2026-08-07',
      observations: 5,
      complete: false,
    })
    expect(
      (await answered(`${path}?start_date=2026-08-01&end_date=2026-08-09`)).coverage.complete,
    ).toBe(true)
    expect((await answered(`${path}?start_date=2020-01-01&end_date=2020-02-01`)).coverage).toEqual({
      from: null,
      to: null,
      observations: 0,
      complete: false,
    })
  })

  test('leaves quarantined days of a leg out', async () => {
    const bad = instance.services.quarantine.add({
      seriesId: seriesId('BRENT_CRUDE_USD'),
      fromOn: '2026-10-06',
      toOn: '2026-10-07',
      reason: 'stuck',
      createdAt: startAt,
    })
    const result = await answered(`${path}?start_date=2026-10-05&end_date=2026-10-09`)
    expect(result.data.map((row: Json) => row.date)).toEqual([
      '2026-10-09',
      '2026-10-08',
      '2026-10-05',
    ])
    expect(result.coverage).toMatchObject({ observations: 3, complete: false })
    instance.services.quarantine.remove(bad.id)
    expect(
      (await answered(`${path}?start_date=2026-10-05&end_date=2026-10-09`)).coverage.complete,
    ).toBe(true)
  })

  test('a spread history reports when a leg was last corrected inside the requested range', async () => {
    const range = 'start_date=2026-10-01&end_date=2026-10-15'
    expect((await answered(`${path}?${range}`)).data_revised_at).toBeNull()
    const correct = (day: string, value: number, recordedAt: number) =>
      instance.services.ingest.write(
        [{ seriesId: seriesId('WTI_USD'), observedAt: parseDay(day)! + 14 * hourMs, value }],
        recordedAt,
      )
    correct('2026-10-12', 71.5, startAt - 3 * hourMs)
    correct('2026-10-16', 71.5, startAt - 2 * hourMs)
    const result = await answered(`${path}?${range}`)
    expect(result.data_revised_at).toBe(isoInstant(startAt - 3 * hourMs))
    expect(result.data.find((row: Json) => row.date === '2026-10-12').legs.WTI_USD).toBe(71.5)
    expect((await answered(`${path}?start_date=2026-10-01`)).data_revised_at).toBe(
      isoInstant(startAt - 2 * hourMs),
    )
  })

  const invalid: [string, number, string, string | undefined][] = [
    ['basis?id=brent_wti', 400, 'INVALID_PARAMETER', 'id'],
    ['basis/historical?id=wti_321', 400, 'INVALID_PARAMETER', 'id'],
    ['basis/historical?start_date=2026-02-30', 400, 'INVALID_PARAMETER', 'start_date'],
    ['basis/historical?end_date=yesterday', 400, 'INVALID_PARAMETER', 'end_date'],
    [
      'basis/historical?start_date=2026-10-02&end_date=2026-10-01',
      400,
      'INVALID_DATE_RANGE',
      undefined,
    ],
    ['basis/historical?start_date=2027-01-01', 400, 'INVALID_DATE_RANGE', undefined],
    ['basis/historical?page=0', 400, 'INVALID_PARAMETER', 'page'],
    ['basis/historical?per_page=ten', 400, 'INVALID_PARAMETER', 'per_page'],
    ['basis/historical?interval=hour', 400, 'invalid_interval', undefined],
    ['basis/historical?interval=fortnight', 400, 'invalid_interval', undefined],
  ]
  for (const [query, status, code, parameter] of invalid) {
    test(`${query}: ${code}`, async () => {
      instance.clock.advance(5000)
      expect(await refused(query)).toMatchObject({ status, code, ...(parameter && { parameter }) })
    })
  }

  test('an unknown id comes with those that there are', async () => {
    expect((await refused('basis?id=x')).allowed).toEqual(spreads.basis.map(basin => basin.id))
  })
})

describe('/v1/spreads/{type}/historical on real series', () => {
  const { instance, answered, seriesId } = pricedInstance()
  const files = {
    WTI_USD: 'oil-prices/wti-daily.csv',
    BRENT_CRUDE_USD: 'oil-prices/brent-daily.csv',
    GASOLINE_USD: 'eia-spot-products/DGASNYH.csv',
    HEATING_OIL_USD: 'eia-spot-products/DDFUELNYH.csv',
  }
  const seriesOfLegs = Object.fromEntries(
    Object.entries(files).map(([code, file]) => [
      code,
      new Map(
        realCloses(file, '2024-12-31')
          .filter(close => close.day >= '2020-01-01')
          .map(close => [close.day, close.value]),
      ),
    ]),
  )
  if (needs('../shared/data').isMet) {
    for (const [code, days] of Object.entries(seriesOfLegs)) {
      instance.services.ingest.write(
        [...days].map(([day, value]) => ({
          seriesId: seriesId(code),
          observedAt: parseDay(day)! + 19 * hourMs,
          value,
        })),
        startAt - dayMs,
      )
    }
  }
  const of = (code: string, day: string) => seriesOfLegs[code]!.get(day)!
  const table: [string, string, string[], (day: string) => number][] = [
    [
      'basis',
      'wti_brent',
      ['WTI_USD', 'BRENT_CRUDE_USD'],
      day => of('WTI_USD', day) - of('BRENT_CRUDE_USD', day),
    ],
    [
      ...(['crack', 'wti_321', ['GASOLINE_USD', 'HEATING_OIL_USD', 'WTI_USD']] as [
        string,
        string,
        string[],
      ]),
      day =>
        (2 * of('GASOLINE_USD', day) * 42 +
          of('HEATING_OIL_USD', day) * 42 -
          3 * of('WTI_USD', day)) /
        3,
    ],
  ]
  for (const [path, id, legs, value] of table) {
    needs('../shared/data').test(
      `${path} ${id} through 2020, as recomputed to 1e-9, with the day of the negative price`,
      async () => {
        const rows: Json[] = []
        for (let page = 1; page <= 3; page++) {
          instance.clock.advance(3000)
          const result = await answered(
            `${path}/historical?id=${id}&start_date=2020-03-01&end_date=2020-12-31&page=${page}`,
          )
          rows.push(...result.data)
          expect(result.coverage.complete).toBe(false)
        }
        const days = [...seriesOfLegs[legs[0]!]!.keys()].filter(
          day =>
            day >= '2020-03-01' &&
            day <= '2020-12-31' &&
            legs.every(leg => seriesOfLegs[leg]!.has(day)),
        )
        expect(rows.map(row => row.date)).toEqual(days.reverse())
        for (const row of rows) close(row.value, value(row.date))
        expect(rows.find(row => row.date === '2020-04-20')!.legs.WTI_USD).toBe(-36.98)
      },
    )
  }
})

describe('/v1/spreads and plans', () => {
  const { instance, ask, refused } = pricedInstance()
  for (const [code, price] of Object.entries(prices)) instance.record(code, [price], startAt, dayMs)
  settle(instance, 'GASOIL_FUTURES', [702.5])
  settle(instance, 'BRENT_FUTURES', [75.1, 74.8])
  const paths = [
    ...Object.values(pathsOf).flatMap(path => [path, `${path}/all`, `${path}/historical`]),
    'margin',
    'gasoil-crack',
    'curve-structure?commodity=EXCH_BRENT',
    'curve-structure/all',
  ]
  const table: [string, { trial?: boolean }, number][] = [
    ['free', {}, 403],
    ['free', { trial: true }, 200],
    ['developer', {}, 200],
    ['enterprise', {}, 200],
  ]
  for (const [plan, options, status] of table) {
    test(`${plan}${options.trial ? ' on trial' : ''}: ${status} on every path`, async () => {
      const key = instance.key(plan, options)
      for (const path of paths) expect((await ask(path, key)).status, path).toBe(status)
    })
  }

  test('an expired trial is refused, with the plan that has them', async () => {
    const key = instance.key('free', { trial: true })
    instance.clock.advance(7 * dayMs)
    expect(await refused('crack', key)).toMatchObject({
      status: 403,
      code: 'INSUFFICIENT_PLAN',
      feature: 'calculated_metrics',
      required_plan: 'developer',
      required_tier: 'Exploration',
    })
  })
})

test('fixture data is marked in a header and in the metadata', async () => {
  const { instance, ask, seriesId } = pricedInstance()
  for (const code of ['WTI_USD', 'BRENT_CRUDE_USD']) instance.record(code, [70, 71], startAt, dayMs)
  expect((await ask('basis')).headers.get('x-service-data')).toBeNull()
  instance.services.series.markFixture([seriesId('BRENT_CRUDE_USD')])
  instance.services.catalogue.reload()
  for (const path of ['basis', 'basis/all', 'basis/historical'])
    expect((await ask(path)).headers.get('x-service-data'), path).toBe('fixture')
  expect((await ask('basis')).body.data.metadata.source_description).toContain('Fixture data')
})

test('every leg of every spread is a code of the catalogue in a unit that its formula takes', () => {
  const { services } = openTestInstance()
  const units: Record<string, string[]> = {
    'USD/bbl': ['barrel', 'gallon', 'metric_ton'],
    'USD/MMBtu': ['mmbtu', 'mwh', 'rate'],
  }
  for (const identity of Object.values(spreads).flat()) {
    for (const code of codesOf(identity)) {
      const series = services.catalogue.named(code)
      expect(series?.code, identity.id).toBe(code)
      expect(units[identity.unit], code).toContain(series!.unit)
    }
    for (const leg of identity.legs) {
      const { unit } = services.catalogue.named(leg.code)!
      if (unit === 'gallon') expect(leg.factor, leg.code).toBe(42)
      else expect(unit === 'metric_ton' || unit === 'mwh', leg.code).toBe(leg.factor !== 1)
    }
  }
})
