import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { addMonth } from '../../../src/feeds/publishers/delivery/aemo.ts'
import { addIndexPrices } from '../../../src/feeds/publishers/delivery/elexon.ts'
import { addPrices } from '../../../src/feeds/publishers/delivery/entsoe.ts'
import { resolutionChange, termsOf } from '../../../src/feeds/publishers/delivery/reading.ts'
import type { MapEntry } from '../../../src/feeds/publishers/map.ts'
import { collected } from '../../../src/feeds/publishers/series.ts'
import { FeedFault } from '../../../src/feeds/reading/fault.ts'
import { operatorAlertsOf } from '../../../src/instance/services/operator-alerts.ts'
import { dayMs, hourMs, minuteMs, parseInstant } from '../../../src/lib/time/instant.ts'
import { openTestInstance } from '../../support/instance/instance.ts'
import {
  loadValue,
  powerValue,
  quartersSince,
  storageValue,
  storageVolume,
} from '../../support/publishers/power.ts'
import { standIn, standInKey } from '../../support/publishers/stand-in.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const publishers = await standIn()
afterAll(() => publishers.stop())

const entsoeDay = (
  series: { resolution: string; curve: string; sequence?: number; points: [number, number][] }[],
) =>
  utf8(
    `<?xml version="1.0"?><Publication_MarketDocument>${series
      .map(
        ({ resolution, curve, sequence, points }) => `<TimeSeries>
  <currency_Unit.name>EUR</currency_Unit.name><price_Measure_Unit.name>MWH</price_Measure_Unit.name>
  ${sequence ? `<classificationSequence_AttributeInstanceComponent.position>${sequence}</classificationSequence_AttributeInstanceComponent.position>` : ''}
  <curveType>${curve}</curveType><Period><timeInterval><start>2026-10-24T22:00Z</start><end>2026-10-25T23:00Z</end></timeInterval>
  <resolution>${resolution}</resolution>${points
    .map(
      ([n, price]) =>
        `<Point><position>${n}</position><price.amount>${price}</price.amount></Point>`,
    )
    .join('')}</Period></TimeSeries>`,
      )
      .join('')}</Publication_MarketDocument>`,
  )

function pricesOf(bytes: Uint8Array) {
  const series = collected()
  addPrices(series, bytes)
  return series
}

describe('ENTSO-E', () => {
  test('a position that curve type A03 leaves out has the price of the one before, to the end of 25 hours', () => {
    const { rows, unit } = pricesOf(
      entsoeDay([
        {
          resolution: 'PT15M',
          curve: 'A03',
          points: [
            [1, 10],
            [5, -2.5],
            [99, 7],
          ],
        },
      ]),
    )
    expect({ rows: rows.length, unit }).toEqual({ rows: 100, unit: 'EUR/MWH' })
    expect(rows.map(row => row.text)).toEqual([
      ...Array(4).fill('10'),
      ...Array(94).fill('-2.5'),
      ...Array(2).fill('7'),
    ])
    expect({ first: rows[0]!.period, last: rows.at(-1)!.period }).toEqual({
      first: '2026-10-24T22:00:00Z',
      last: '2026-10-25T22:45:00Z',
    })
  })

  test('a position that curve type A01 leaves out is missing', () => {
    const { rows } = pricesOf(
      entsoeDay([
        {
          resolution: 'PT60M',
          curve: 'A01',
          points: [
            [1, 10],
            [3, 30],
          ],
        },
      ]),
    )
    expect(rows).toEqual([
      { period: '2026-10-24T22:00:00Z', text: '10' },
      { period: '2026-10-25T00:00:00Z', text: '30' },
    ])
  })

  test('of several series of one time the finest stands, and of equals the first sequence', () => {
    const { rows } = pricesOf(
      entsoeDay([
        { resolution: 'PT60M', curve: 'A03', points: [[1, 60]] },
        { resolution: 'PT15M', curve: 'A03', sequence: 2, points: [[1, 2]] },
        { resolution: 'PT15M', curve: 'A03', sequence: 1, points: [[1, 1]] },
      ]),
    )
    expect(rows).toHaveLength(100)
    expect(new Set(rows.map(row => row.text))).toEqual(new Set(['1']))
  })

  test('an answer of reason 999 has no rows, another reason and a cut document are faults', () => {
    const refusal = (code: string) =>
      utf8(
        `<Acknowledgement_MarketDocument><Reason><code>${code}</code></Reason></Acknowledgement_MarketDocument>`,
      )
    expect(pricesOf(refusal('999')).rows).toEqual([])
    expect(() => pricesOf(refusal('401'))).toThrow(FeedFault)
    const whole = entsoeDay([{ resolution: 'PT15M', curve: 'A03', points: [[1, 10]] }])
    expect(() => pricesOf(whole.slice(0, 300))).toThrow(FeedFault)
  })
})

test('five minutes of the Australian market end at their time in UTC+10, all year', () => {
  const series = collected()
  const csv =
    'REGION,SETTLEMENTDATE,TOTALDEMAND,RRP,PERIODTYPE\r\nNSW1,2026/01/15 00:05:00,7000,-12.5,TRADE\r\nNSW1,2026/01/15 00:10:00,7000,1.20,TRADE\r\n'
  addMonth(series, utf8(csv), { region: 'NSW1', name: 'RRP' }, 0)
  expect(series.rows).toEqual([
    { period: '2026-01-14T14:00:00Z', text: '-12.5' },
    { period: '2026-01-14T14:05:00Z', text: '1.2' },
  ])
  const demand = collected()
  addMonth(demand, utf8(csv), { region: 'NSW1', name: 'TOTALDEMAND' }, 0)
  expect(demand.rows.map(({ text }) => text)).toEqual(['7000', '7000'])
})

test('half hours of Great Britain are those of their provider, by their start', () => {
  const series = collected()
  const row = (provider: string, price: number) => ({
    startTime: '2026-10-25T00:30:00Z',
    settlementDate: '2026-10-25',
    settlementPeriod: 4,
    dataProvider: provider,
    price,
    volume: 1,
  })
  const body = JSON.stringify({ data: [row('N2EXMIDP', 0), row('APXMIDP', 71.05)] })
  addIndexPrices(series, utf8(body), 'APXMIDP')
  expect(series.rows).toEqual([{ period: '2026-10-25T00:30:00Z', text: '71.05' }])
})

describe('the length of periods', () => {
  const entry = { sourceId: 'FR', target: { code: 'POWER_DA_FR_EUR' } } as MapEntry
  const days = (from: number, count: number, stepMs: number) =>
    Array.from({ length: (count * dayMs) / stepMs }, (_, i) => from + i * stepMs)
  const check = (starts: number[]) => resolutionChange('FR', termsOf(entry), starts)
  const quarter = 15 * minuteMs

  test('hours are held on a day of quarters, and taken on the days before the change', () => {
    expect(check(days(quartersSince - dayMs, 1, hourMs))).toBeUndefined()
    expect(check(days(quartersSince, 2, quarter))).toBeUndefined()
    expect(() => check(days(quartersSince, 1, hourMs))).toThrow(
      /periods of 60 minutes on 2025-10-01/,
    )
  })

  test('quarters before their time are a change from their first market day on', () => {
    const before = quartersSince - 3 * dayMs
    expect(check([...days(before, 1, hourMs), ...days(before + dayMs, 2, quarter)])).toEqual({
      from: '2025-09-29',
      resolution: 'PT15M',
    })
  })

  test('quarters and hours in turn are held', () => {
    const before = quartersSince - 4 * dayMs
    const back = [
      ...days(before, 1, hourMs),
      ...days(before + dayMs, 1, quarter),
      ...days(before + 2 * dayMs, 1, hourMs),
    ]
    expect(() => check(back)).toThrow(FeedFault)
  })

  test('one stray quarter, and days with values missing, change nothing', () => {
    const before = quartersSince - 3 * dayMs
    const hours = days(before, 2, hourMs)
    expect(check([...hours, before + 5 * hourMs + quarter])).toBeUndefined()
    expect(check(hours.filter((_, i) => i % 5 !== 0))).toBeUndefined()
    expect(check([])).toBeUndefined()
  })
})

describe('a run', () => {
  const now = parseInstant('2026-08-18T20:00:00Z')!
  const read = async (name: string, codes: string, since: string) => {
    const instance = openTestInstance(
      {
        'egress.allow': '127.0.0.0/8',
        [`feeds.${name}.base_url`]: publishers.url,
        [`feeds.${name}.since`]: since,
        [`feeds.${name}.codes`]: codes,
        [`feeds.${name}.license`]: 'accept',
        ...(['entsoe', 'eia_930', 'gie'].includes(name) && { [`feeds.${name}.key`]: standInKey }),
      },
      now,
    )
    const run = await instance.services.feeds.run(name)
    const { id } = instance.services.catalogue.named(codes.split(',')[0]!)!
    const values = instance.services.observations.oldestFirst(id, 0, Number.MAX_SAFE_INTEGER)
    return { instance, run, values }
  }
  const cases: [feed: string, code: string, source: string, stepMs: number][] = [
    ['smard', 'POWER_DA_DE_LU_EUR', '4169/DE-LU', 15 * minuteMs],
    ['elexon', 'POWER_HH_GB_GBP', 'APXMIDP', 30 * minuteMs],
    ['aemo', 'POWER_AU_NSW1_AUD', 'NSW1', 5 * minuteMs],
    ['eia_930', 'LOAD_PJM_MW', 'PJM', hourMs],
    ['entsoe', 'POWER_DA_NL_EUR', '10YNL----------L', 15 * minuteMs],
    ['energy_charts', 'POWER_DA_NL_EUR', 'NL', 15 * minuteMs],
  ]
  test.each(cases)(
    'of %s stores every period of %s with the value that was sent',
    async (feed, code, source, stepMs) => {
      const { instance, run, values } = await read(feed, code, '2026-08-10')
      expect({
        result: run?.result,
        rejected: run?.rejected,
        held: run?.held,
        problem: run?.problem ?? null,
      }).toEqual({ result: 'new', rejected: 0, held: 0, problem: null })
      const first = values[0]!.observedAt
      expect(values.map(({ observedAt }) => observedAt)).toEqual(
        values.map((_, i) => first + i * stepMs),
      )
      expect(first).toBeLessThanOrEqual(parseInstant('2026-08-10T01:00:00Z')!)
      expect(values.at(-1)!.observedAt).toBeGreaterThanOrEqual(
        parseInstant('2026-08-18T19:00:00Z')!,
      )
      for (const { observedAt, value } of values)
        expect(value).toBe(
          Number(
            feed === 'eia_930'
              ? loadValue(powerValue(source, observedAt))
              : powerValue(source, observedAt),
          ),
        )
      const again = await instance.services.feeds.run(feed)
      expect({ result: again?.result, inserted: again?.inserted, revised: again?.revised }).toEqual(
        { result: 'unchanged', inserted: 0, revised: 0 },
      )
    },
    60_000,
  )

  test('of smard stores wind as the sum of what is published onshore and offshore', async () => {
    const { run, values } = await read('smard', 'WIND_DE_LU_FORECAST_MW', '2026-08-10')
    expect({ result: run?.result, rejected: run?.rejected }).toEqual({ result: 'new', rejected: 0 })
    expect(values.length).toBeGreaterThan(8 * 96)
    for (const { observedAt, value } of values) {
      const parts = ['123/DE', '3791/DE'].map(part => Number(powerValue(part, observedAt)))
      expect(value).toBe(4 * (parts[0]! + parts[1]!))
    }
  }, 60_000)

  test('of aemo stores prices and demand of a region from one request a month', async () => {
    publishers.asked.length = 0
    const { run, values, instance } = await read(
      'aemo',
      'POWER_AU_NSW1_AUD,LOAD_AU_NSW1_MW',
      '2026-08-10',
    )
    expect({
      result: run?.result,
      requests: run?.requests,
      asked: publishers.asked.length,
    }).toEqual({ result: 'new', requests: 1, asked: 1 })
    const { id } = instance.services.catalogue.named('LOAD_AU_NSW1_MW')!
    const loads = instance.services.observations.oldestFirst(id, 0, Number.MAX_SAFE_INTEGER)
    expect(loads.map(({ observedAt }) => observedAt)).toEqual(
      values.map(({ observedAt }) => observedAt),
    )
    expect(new Set(loads.map(({ value }) => value))).toEqual(new Set([7512.33]))
  }, 60_000)

  test('of gie stores filling levels and volumes of a country from the same answers', async () => {
    const { run, values, instance } = await read(
      'gie',
      'DE_GAS_STORAGE,GAS_STORAGE_DE_TWH',
      '2026-06-01',
    )
    expect({ result: run?.result, rejected: run?.rejected, problem: run?.problem ?? null }).toEqual(
      { result: 'new', rejected: 0, problem: null },
    )
    const { catalogue, observations } = instance.services
    expect(catalogue.named('GAS_STORAGE_DE_PERCENT')?.code).toBe('DE_GAS_STORAGE')
    const { id } = catalogue.named('GAS_STORAGE_DE_TWH')!
    const volumes = observations.oldestFirst(id, 0, Number.MAX_SAFE_INTEGER)
    expect(volumes.map(({ observedAt }) => observedAt)).toEqual(
      values.map(({ observedAt }) => observedAt),
    )
    for (const { observedAt, value } of values)
      expect(value).toBe(Number(storageValue('DE', observedAt)))
    for (const { observedAt, value } of volumes)
      expect(value).toBe(Number(storageVolume('DE', observedAt)))
  }, 60_000)

  test('names its publisher and licence with the daily means of its periods, which no file has', async () => {
    const { instance, values } = await read('energy_charts', 'POWER_DA_NL_EUR', '2026-08-10')
    const { catalogue, latestPrices, observations, withheld } = instance.services
    const daily = catalogue.named('POWER_NL_EUR')!
    const quote = latestPrices.quote(daily)!
    expect({ code: quote.averageOf?.code, publisher: quote.series.publisher }).toEqual({
      code: 'POWER_DA_NL_EUR',
      publisher: expect.objectContaining({
        licenseClass: 'view',
        name: 'Fraunhofer ISE, Energy-Charts',
      }),
    })
    expect(daily.publisher?.licenseClass).toBe('view')
    const means = observations.oldestFirst(daily.id, 0, Number.MAX_SAFE_INTEGER)
    expect(means.length).toBeGreaterThanOrEqual(Math.floor(values.length / 96) - 1)
    const left = withheld(daily.id)!
    expect(means.filter(({ observedAt }) => !left.has(observedAt))).toEqual([])
  }, 60_000)

  test('over the change from hours to quarters keeps both, each on its days', async () => {
    const { run, values } = await read('entsoe', 'POWER_DA_FR_EUR', '2025-09-26')
    expect({ result: run?.result, rejected: run?.rejected }).toEqual({ result: 'new', rejected: 0 })
    const gaps = values.slice(1).map(({ observedAt }, i) => observedAt - values[i]!.observedAt)
    const change = values.findIndex(({ observedAt }) => observedAt === quartersSince)
    expect(new Set(gaps.slice(0, change))).toEqual(new Set([hourMs]))
    expect(gaps[change]).toBe(15 * minuteMs)
  }, 60_000)

  describe('of a publisher that goes from half hours to quarters', () => {
    const change = parseInstant('2026-08-14T23:00:00Z')!
    afterEach(() => {
      publishers.quarters = undefined
    })
    const halves = async () => await read('elexon', 'POWER_HH_GB_GBP', '2026-08-10')
    const gapsOf = (values: { observedAt: number }[]) =>
      new Set(values.slice(1).map(({ observedAt }, i) => observedAt - values[i]!.observedAt))

    test('takes the quarters from their day on, keeps the half hours, and notifies the operator', async () => {
      const { instance, values: before } = await halves()
      const { services } = instance
      publishers.quarters = { from: change }
      const run = await services.feeds.run('elexon', { since: '2026-08-10' })
      const message = 'POWER_HH_GB_GBP comes in periods of 15 minutes from 2026-08-15 on'
      expect({
        result: run?.result,
        rejected: run?.rejected,
        held: run?.held,
        notes: run?.notes,
      }).toEqual({
        result: 'new',
        rejected: 0,
        held: 0,
        notes: [{ code: 'resolution_changed', message }],
      })
      const series = services.catalogue.named('POWER_HH_GB_GBP')!
      expect(series.delivery!.resolutions.slice(-2)).toEqual([
        { from: expect.any(String), resolution: 'PT30M' },
        { from: '2026-08-15', resolution: 'PT15M' },
      ])
      const values = services.observations.oldestFirst(series.id, 0, Number.MAX_SAFE_INTEGER)
      const [old, fresh] = [
        values.filter(({ observedAt }) => observedAt < change),
        values.filter(({ observedAt }) => observedAt >= change),
      ]
      expect(old).toEqual(before.filter(({ observedAt }) => observedAt < change))
      expect({ old: gapsOf(old), fresh: gapsOf(fresh) }).toEqual({
        old: new Set([30 * minuteMs]),
        fresh: new Set([15 * minuteMs]),
      })
      expect(operatorAlertsOf(services).map(({ text }) => text)).toContain(
        `feed elexon: ${message}`,
      )
      const again = await services.feeds.run('elexon')
      expect({ result: again?.result, notes: again?.notes }).toEqual({
        result: 'unchanged',
        notes: [],
      })
      publishers.quarters = undefined
      const back = await services.feeds.run('elexon')
      expect({ result: back?.result, inserted: back?.inserted }).toEqual({
        result: 'held',
        inserted: 0,
      })
    }, 60_000)

    test('holds an answer that goes back and forth, and writes nothing of it', async () => {
      const { instance, values } = await halves()
      const { services } = instance
      publishers.quarters = { from: change, to: change + 2 * dayMs }
      const run = await services.feeds.run('elexon', { since: '2026-08-10' })
      expect({ result: run?.result, inserted: run?.inserted, notes: run?.notes }).toEqual({
        result: 'held',
        inserted: 0,
        notes: [],
      })
      const series = services.catalogue.named('POWER_HH_GB_GBP')!
      expect(series.delivery!.resolutions).toHaveLength(1)
      expect(services.observations.count(series.id, 0, Number.MAX_SAFE_INTEGER)).toBe(values.length)
    }, 60_000)
  })
})
