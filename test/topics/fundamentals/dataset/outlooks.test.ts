import { describe, expect, test } from 'bun:test'
import type { Dataset } from '../../../../src/feeds/files/dataset.ts'
import { parseDay } from '../../../../src/lib/time/instant.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'
import { faultOf, now, taken } from '../../../support/topics/carriers.ts'
import { record } from '../../../support/topics/positions.ts'

function setUp() {
  const { services } = openTestInstance()
  const named = (name: string) => services.datasets.find(dataset => dataset.name === name)!
  return {
    services,
    stocks: named('oil-inventories'),
    opec: named('opec-productions'),
    outlook: named('outlooks'),
  }
}
const idOf = ({ services }: ReturnType<typeof setUp>, code: string) =>
  services.catalogue.named(code)!.id

test('each takes its own example, nothing happens when it comes again, and a row that lacks what it needs is refused by name', () => {
  const { stocks, opec, outlook } = setUp()
  for (const dataset of [stocks, opec, outlook] as Dataset<unknown>[]) {
    const names = dataset.example.split('\n')[0]!.split(',')
    expect(dataset.write(taken(dataset, dataset.example), 1), dataset.name).toMatchObject({
      inserted: 2,
      revised: 0,
      unchanged: 0,
    })
    expect(dataset.write(taken(dataset, dataset.example), 2), dataset.name).toMatchObject({
      inserted: 0,
      revised: 0,
      unchanged: 2,
    })
    const fields = dataset.example.split('\n')[1]!.split(',')
    for (const { name } of dataset.columns.filter(column => column.required)) {
      const row = Object.fromEntries(
        names.map((column, i) => [column, column === name ? '' : fields[i]]),
      )
      expect(faultOf(dataset, row), `${dataset.name}: ${name}`).toMatchObject({
        field: name,
        reason: expect.stringMatching(/ is missing: /),
      })
    }
  }
})

describe('weekly stocks', () => {
  const row = { series: 'WCESTUS1', date: '2026-11-13', level: '424200', unit: 'MBBL' }

  test('are observations of their storage series, in million barrels', () => {
    const set = setUp()
    const point = {
      seriesId: idOf(set, 'US_CRUDE_STORAGE'),
      observedAt: parseDay('2026-11-13')!,
      value: 424.2,
    }
    expect(record(set.stocks, row, now)).toEqual(point)
    expect(
      record(
        set.stocks,
        { series: 'us_crude_storage', date: '2026-11-13', level: 424.2, unit: 'million_barrels' },
        now,
      ),
    ).toEqual(point)
    set.stocks.write([record(set.stocks, row, now)], 1)
    expect(set.services.observations.newest(point.seriesId, Number.MAX_SAFE_INTEGER)?.value).toBe(
      424.2,
    )
    expect(set.services.inventories.byId(1)).toMatchObject({ level: 424.2, on: '2026-11-13' })
  })

  for (const [change, field, reason] of [
    [{ series: 'WCRSTUS1' }, 'series', ' is not a weekly inventory: '],
    [{ series: 'WTI_USD' }, 'series', ' is not a weekly inventory: '],
    [{ unit: 'tons' }, 'unit', ' is not known: '],
    [{ unit: 'million_barrels' }, 'level', ' is outside the accepted range for US_CRUDE_STORAGE: '],
    [{ level: '-1' }, 'level', ' is not a number '],
    [{ level: '424,200' }, 'level', ' is not a number '],
    [{ date: '2027-11-13' }, 'date', ' is out of range: '],
  ] as const) {
    test(`are refused for ${JSON.stringify(change)}`, () => {
      expect(faultOf(setUp().stocks, { ...row, ...change })).toMatchObject({
        field,
        reason: expect.stringContaining(reason),
      })
    })
  }
})

describe('OPEC production', () => {
  const row = {
    country: 'uae',
    month: '2026-10-01',
    production: '3200.5',
    unit: 'TBPD',
    source: 'EIA',
  }

  test('OPEC production is stored in barrels a day by country and month', () => {
    const { opec } = setUp()
    const forecast = {
      country: 'United Arab Emirates',
      month: '2026-10',
      bpd: 3_200_500,
      source: 'EIA',
    }
    expect(record(opec, row, now)).toEqual(forecast)
    expect(
      record(opec, { ...row, production: 3.2005, unit: 'million_barrels_per_day' }, now),
    ).toEqual(forecast)
    expect(
      record(opec, { ...row, production: 3_200_500, unit: 'barrels_per_day', source: '' }, now),
    ).toEqual({ ...forecast, source: 'import' })
  })

  for (const [change, field, reason] of [
    [{ unit: 'tons' }, 'unit', ' is not known: '],
    [{ month: 'October' }, 'month', ' is not a month: '],
    [{ month: '2026-13' }, 'month', ' is not a month: '],
    [{ month: '2026-12' }, 'month', ' is out of range: '],
    [
      { production: '3200.5', unit: 'million_barrels_per_day' },
      'production',
      ' is outside the accepted range for one country: ',
    ],
    [{ production: '-1' }, 'production', ' is not a number '],
  ] as const) {
    test(`is refused for ${JSON.stringify(change)}`, () => {
      expect(faultOf(setUp().opec, { ...row, ...change })).toMatchObject({
        field,
        reason: expect.stringContaining(reason),
      })
    })
  }
})

describe('outlooks', () => {
  const row = {
    source: 'eia',
    commodity: 'BREPUUS',
    period: '2026-q4',
    value: '71.5',
    published_on: '2026-11-03',
  }

  test('are of a code, also by its name in the short-term outlook, until the last day of their period', () => {
    const set = setUp()
    const forecast = {
      seriesId: idOf(set, 'BRENT_CRUDE_USD'),
      period: '2026-Q4',
      value: 71.5,
      publishedOn: '2026-11-03',
      targetOn: '2026-12-31',
    }
    expect(record(set.outlook, row, now)).toEqual({ ...forecast, source: 'EIA', fixture: false })
    expect(
      record(set.outlook, { ...row, source: 'Our desk', commodity: 'brent', value: 71.5 }, now),
    ).toMatchObject({
      ...forecast,
      source: 'Our desk',
    })
    expect(record(set.outlook, { ...row, commodity: 'COPRPUS', value: 13.8 }, now)).toMatchObject({
      seriesId: idOf(set, 'US_CRUDE_PRODUCTION'),
    })
  })

  for (const [change, field, reason] of [
    [{ commodity: 'NO_SUCH_USD' }, 'commodity', ' is not in the catalogue: '],
    [{ period: '2026' }, 'period', ' is not a month or quarter: '],
    [{ period: '2040-01' }, 'period', ' is out of range: '],
    [{ value: '71500' }, 'value', ' is not a number '],
    [{ published_on: '2026-12-03' }, 'published_on', ' is out of range: '],
    [{ source: '<b>' }, 'source', ' is not a name: '],
  ] as const) {
    test(`are refused for ${JSON.stringify(change)}`, () => {
      expect(faultOf(setUp().outlook, { ...row, ...change })).toMatchObject({
        field,
        reason: expect.stringContaining(reason),
      })
    })
  }
})
