import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, isoDay, isoInstant } from '../../src/lib/time/instant.ts'
import { openTestInstance, startAt, type TestInstance } from '../support/instance/instance.ts'

type Row = Record<string, string | number>

/** A row of a dataset, as it came to be known. */
interface Write {
  dataset: string
  row: Row
  recordedAt: number
}

const monthOf = (n: number) => `2026-0${5 + n}`
const fridayOf = (n: number) => isoDay(Date.parse('2026-10-02') + n * 7 * dayMs)
const tradedOn = (n: number) => isoDay(Date.parse('2026-11-09') + n * dayMs)

/** A row of each dataset from three numbers: which of its places, which of its days, what value. */
const rowOf: Readonly<Record<string, (place: number, day: number, value: number) => Row>> = {
  'opec-productions': (place, day, value) => ({
    country: ['Iraq', 'Kuwait', 'Gabon'][place]!,
    month: monthOf(day),
    production: value * 10_000,
    unit: 'barrels_per_day',
    source: 'EIA',
  }),
  outlooks: (place, day, value) => ({
    source: ['eia', 'iea', 'eia'][place]!,
    commodity: ['WTI_USD', 'WTI_USD', 'BRENT_CRUDE_USD'][place]!,
    period: monthOf(day),
    value: value + 0.1,
    published_on: '2026-04-07',
  }),
  'rig-counts': (place, day, value) => ({
    date: fridayOf(day),
    region: ['US', 'permian', 'TX'][place]!,
    oil: value,
    gas: 7,
    misc: 1,
    source: 'Baker Hughes',
  }),
  'frac-spreads': (place, day, value) => ({
    date: fridayOf(day),
    region: ['US', 'permian', 'bakken'][place]!,
    active_spreads: value,
    source: 'import',
  }),
  'duc-wells': (place, day, value) => ({
    month: monthOf(day),
    region: ['permian', 'bakken', 'eagle_ford'][place]!,
    duc_count: value,
    wells_drilled: 3,
    completions: 4,
    source: 'EIA',
  }),
  'drilling-productivity': (place, day, value) => ({
    month: monthOf(day),
    basin: ['permian', 'bakken', 'eagle_ford'][place]!,
    rig_count: value,
    new_well_oil_production: value * 1.1,
    new_well_gas_production: 2,
    legacy_oil_change: -3,
    legacy_gas_change: -4,
    total_oil_bpd: 500,
    total_gas_mcfd: 600,
    source: 'EIA',
  }),
  'cftc-positions': (place, day, value) => ({
    market: ['WTI', 'BRENT', 'NATURAL_GAS'][place]!,
    report_date: isoDay(Date.parse('2026-10-06') + day * 7 * dayMs),
    managed_money_long: value,
    managed_money_short: 11,
    open_interest: 900,
    source: 'CFTC',
  }),
  'futures-settlements': (place, day, value) => ({
    contract: ['WTI_FUTURES_2026_12', 'WTI_FUTURES_2027_01', 'WTI_FUTURES_2027_02'][place]!,
    traded_on: tradedOn(day),
    close: value + 0.07,
    settlement: value + 0.3,
    volume: 10 * value,
    source: 'import',
  }),
}

/** When a row may be known for the first time. */
const firstKnownAt = Date.parse('2026-11-13T12:00:00Z')

const histories = fc
  .array(
    fc.record({
      dataset: fc.constantFrom(...Object.keys(rowOf)),
      place: fc.nat(2),
      day: fc.nat(3),
      value: fc.integer({ min: 60, max: 90 }),
      hours: fc.nat(6 * 24),
    }),
    { minLength: 60, maxLength: 140 },
  )
  .map(all =>
    // Every dataset has an initial row: reads before it follow another rule.
    [
      ...Object.keys(rowOf).map(dataset => ({ dataset, place: 0, day: 0, value: 65, hours: 0 })),
      ...all,
    ]
      .map(({ dataset, place, day, value, hours }) => ({
        dataset,
        row: rowOf[dataset]!(place, day, value),
        recordedAt: firstKnownAt + hours * hourMs,
      }))
      .sort((a, b) => a.recordedAt - b.recordedAt),
  )

function write({ services }: TestInstance, { dataset: name, row, recordedAt }: Write): void {
  const dataset = services.datasets.find(dataset => dataset.name === name)!
  const checked = dataset.check(row, startAt)
  if (!('record' in checked)) throw new Error(`${name}.${checked.field}: ${checked.reason}`)
  dataset.write([checked.record], recordedAt)
}

function copyOf(writes: readonly Write[], now: number): { instance: TestInstance; token: string } {
  const instance = openTestInstance({}, now)
  for (const entry of writes) write(instance, entry)
  return { instance, token: instance.key() }
}

const reads = [
  '/v1/ei/opec_productions',
  '/v1/ei/opec_productions/latest',
  '/v1/ei/opec_productions/total',
  '/v1/ei/opec_productions/by_country',
  '/v1/ei/opec_productions/historical?country=Iraq&per_page=2&page=2',
  '/v1/ei/opec_productions/top_producers?limit=2',
  '/v1/ei/opec_productions/2',
  '/v1/ei/forecasts',
  '/v1/ei/forecasts/summary',
  '/v1/ei/forecasts/historical?commodity=WTI_USD',
  '/v1/ei/forecasts/compare',
  '/v1/ei/forecasts/1',
  '/v1/ei/rig_counts',
  '/v1/ei/rig_counts/latest',
  '/v1/ei/rig_counts/by_basin',
  '/v1/ei/rig_counts/by_state',
  '/v1/ei/rig_counts/historical',
  '/v1/ei/rig_counts/2',
  '/v1/rig-counts/latest',
  '/v1/rig-counts/historical?period=1y',
  '/v1/ei/frac_spreads',
  '/v1/ei/frac_spreads/latest',
  '/v1/ei/duc_wells',
  '/v1/ei/duc_wells/latest',
  '/v1/ei/drilling_productivities',
  '/v1/ei/drilling_productivities/latest',
  '/v1/ei/drilling_productivities/summary',
  '/v1/ei/drilling_productivities/by_basin',
  '/v1/drilling/latest',
  '/v1/drilling-intelligence',
  '/v1/drilling-intelligence?basin=permian&per_page=2&page=2',
  '/v1/drilling-intelligence/latest',
  '/v1/drilling-intelligence/summary',
  '/v1/drilling-intelligence/trends',
  '/v1/drilling-intelligence/trends?basin=permian',
  '/v1/drilling-intelligence/frac-spreads',
  '/v1/drilling-intelligence/duc-wells',
  '/v1/drilling-intelligence/completions',
  '/v1/drilling-intelligence/wells-drilled',
  '/v1/drilling-intelligence/basin/permian',
  '/v1/indicators/cftc-positioning',
  '/v1/indicators/cftc-positioning?market=WTI',
  '/v1/spreads/curve-structure?commodity=EXCH_WTI',
  '/v1/spreads/curve-structure/all',
  '/v1/futures/exch-wti',
  '/v1/futures/exch-wti/curve',
  '/v1/futures/exch-wti/curve?date=2026-11-11',
  '/v1/futures/exch-wti/historical?contract=2027-01',
  '/v1/futures/exch-wti/ohlc?contract=2027-01&date=2026-11-11',
  '/v1/futures/exch-wti/continuous?months=2',
  '/v1/futures/exch-wti/continuous?months=2&adjustment=back_adjusted&roll=volume',
  '/v1/futures/exch-wti/spreads',
  '/v1/futures/exch-wti/spread-history?near=2026-12&far=2027-01',
] as const

const bodyOf = async (response: Response): Promise<[number, unknown]> => {
  const { request_id: _, error, ...body } = (await response.json()) as Record<string, unknown>
  const code = (error as { code?: string } | undefined)?.code
  return [response.status, error === undefined ? body : (code ?? error)]
}

const answersAt = (path: string, asOf: number) =>
  `${path}${path.includes('?') ? '&' : '?'}as_of=${isoInstant(asOf)}`

test('reading a dataset as of a moment returns only what had been recorded by then', async () => {
  let answered = 0
  await fc.assert(
    fc.asyncProperty(histories, fc.nat(6 * 24), async (writes, hours) => {
      const asOf = firstKnownAt + hours * hourMs
      const whole = copyOf(writes, startAt)
      const past = copyOf(
        writes.filter(({ recordedAt }) => recordedAt <= asOf),
        asOf,
      )
      for (const path of reads) {
        const then = await bodyOf(await past.instance.get(path, past.token))
        const now = await bodyOf(await whole.instance.get(answersAt(path, asOf), whole.token))
        expect(then[0], path).not.toBe(500)
        expect(now, path).toEqual(then)
        if (then[0] === 200) answered += 1
      }
    }),
    { numRuns: 3, endOnFailure: true },
  )
  // Most reads returned data.
  expect(answered).toBeGreaterThan(reads.length)
})

describe('a row of a dataset', () => {
  const gabon = (value: number): Row => rowOf['opec-productions']!(2, 0, value)
  const days = (n: number) => startAt - n * dayMs
  const producedAt = async (instance: TestInstance, asOf: number) => {
    const answer = await instance.get(answersAt('/v1/ei/opec_productions', asOf), instance.key())
    const { data } = (await answer.json()) as { data: { production_bpd: number }[] }
    return { answer, bpd: data.map(row => row.production_bpd) }
  }

  test('that comes with an earlier time goes between the others, and the newest stays', async () => {
    const instance = openTestInstance({}, startAt)
    for (const [value, known] of [
      [70, 6],
      [90, 2],
      [80, 4],
    ] as const)
      write(instance, { dataset: 'opec-productions', row: gabon(value), recordedAt: days(known) })
    expect((await producedAt(instance, days(5))).bpd).toEqual([700_000])
    expect((await producedAt(instance, days(4))).bpd).toEqual([800_000])
    expect((await producedAt(instance, days(3))).bpd).toEqual([800_000])
    expect((await producedAt(instance, days(1))).bpd).toEqual([900_000])
  })

  test('a dataset response as of a moment reports when its coverage of revisions begins', async () => {
    const instance = openTestInstance({}, startAt)
    for (const count of [6, 2])
      write(instance, {
        dataset: 'opec-productions',
        row: gabon(70 + count),
        recordedAt: days(count),
      })
    const { answer } = await producedAt(instance, days(5))
    expect(answer.headers.get('x-vintage-as-of')).toBe(isoInstant(days(5)))
    expect(answer.headers.get('x-vintage-revision-coverage-since')).toBe(isoInstant(days(6)))
  })

  test('is answered by its own time before any was known, with the value first recorded, as prices are', async () => {
    const instance = openTestInstance({}, startAt)
    const produced = (month: string, value: number, known: number) =>
      write(instance, {
        dataset: 'opec-productions',
        row: { ...gabon(value), month },
        recordedAt: days(known),
      })
    produced('2019-11', 61, 6)
    produced('2019-12', 62, 6)
    produced('2019-12', 63, 4)
    produced('2020-01', 64, 6)
    expect((await producedAt(instance, Date.parse('2019-12-31'))).bpd).toEqual([620_000, 610_000])
    expect((await producedAt(instance, Date.parse('2019-11-15'))).bpd).toEqual([610_000])
    expect((await producedAt(instance, days(5))).bpd).toEqual([640_000, 620_000, 610_000])
    expect((await producedAt(instance, days(1))).bpd).toEqual([640_000, 630_000, 610_000])
    const key = instance.key()
    const settle = (tradedOn: string, settlement: number, known: number) =>
      write(instance, {
        dataset: 'futures-settlements',
        row: {
          contract: 'WTI_FUTURES_2020_02',
          traded_on: tradedOn,
          close: settlement,
          settlement,
        },
        recordedAt: days(known),
      })
    settle('2019-12-30', 61.68, 3)
    settle('2019-12-31', 61.06, 3)
    settle('2019-12-31', 61.5, 2)
    settle('2020-01-02', 61.18, 3)
    for (const path of [
      '/v1/futures/exch-wti/continuous',
      '/v1/futures/exch-wti/historical?contract=2020-02',
      '/v1/futures/exch-wti/curve',
    ]) {
      const answer = await instance.get(answersAt(path, Date.parse('2019-12-31T23:00:00Z')), key)
      const text = await answer.text()
      expect(answer.status, path).toBe(200)
      expect(text, path).toContain('61.06')
      expect(text).not.toContain('61.5')
      expect(text).not.toContain('61.18')
    }
  })

  test('an earlier version of a dataset row keeps every digit of its value', async () => {
    const instance = openTestInstance({}, startAt)
    const row = rowOf.outlooks!(0, 0, 70)
    const values = [0.1 + 0.2, 71.870000000000005, 1 / 3, 1e-7]
    for (const [i, value] of values.entries())
      write(instance, {
        dataset: 'outlooks',
        row: { ...row, value },
        recordedAt: days(9 - i),
      })
    for (const [i, value] of values.entries()) {
      const answer = await instance.get(answersAt('/v1/ei/forecasts', days(9 - i)), instance.key())
      const { data } = (await answer.json()) as { data: { forecast_value: number }[] }
      expect(data.map(row => row.forecast_value)).toEqual([value])
    }
  })
})
