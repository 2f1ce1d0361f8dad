import { describe, expect, test } from 'bun:test'
import type { Dataset } from '../../../../src/feeds/files/dataset.ts'
import {
  stateProduction,
  wellProduction,
  wells,
} from '../../../../src/topics/drilling/dataset/wells.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'
import { faultOf, taken } from '../../../support/topics/carriers.ts'
import { datasetOf } from '../../../support/topics/datasets.ts'

function setUp() {
  const { wells: wellStore, wellProduction: production } = openTestInstance().services
  return {
    wellStore,
    production,
    wells: datasetOf(wells, wellStore.put),
    months: datasetOf(wellProduction, production.record),
    states: datasetOf(stateProduction, production.states.write),
  }
}
const allOf = (own: ReturnType<typeof setUp>) =>
  [own.wells, own.months, own.states] as unknown as Dataset<unknown>[]
const sample = '42329400010000'

describe('the datasets of wells and their production', () => {
  test('take their own examples, and nothing happens when they come again', () => {
    for (const dataset of allOf(setUp())) {
      const names = dataset.example.split('\n')[0]!.split(',')
      const columnNames = dataset.columns.map(column => column.name)
      const needed = [
        ...(dataset.key ?? []),
        ...dataset.columns.filter(column => column.required).map(column => column.name),
      ]
      expect(
        [
          names.filter(name => !columnNames.includes(name)),
          needed.filter(name => !names.includes(name)),
        ],
        dataset.name,
      ).toEqual([[], []])
      expect(dataset.write(taken(dataset, dataset.example), 1), dataset.name).toEqual({
        inserted: 2,
        revised: 0,
        unchanged: 0,
      })
      expect(dataset.write(taken(dataset, dataset.example), 2), dataset.name).toEqual({
        inserted: 0,
        revised: 0,
        unchanged: 2,
      })
    }
  })

  test('refuse a row that lacks what it needs, and name it', () => {
    for (const dataset of allOf(setUp())) {
      const [head, first] = dataset.example.split('\n')
      const [names, fields] = [head!.split(','), first!.split(',')]
      for (const { name } of dataset.columns.filter(column => column.required)) {
        const row = Object.fromEntries(
          names.map((column, i) => [column, column === name ? '' : fields[i]]),
        )
        const expected = { field: name, reason: expect.stringMatching(/ is missing: /) }
        expect(faultOf(dataset, row), `${dataset.name}: ${name}`).toMatchObject(expected)
      }
    }
  })

  const month = { api_number: sample, month: '2026-08', oil_bbl: '10' }
  const state = { state: 'TX', month: '2026-08', oil_bbl: '10', gas_mcf: '10' }
  const well = { api_number: sample, operator: 'Juniper Ridge' }
  test.each([
    ['well-production', { ...month, api_number: '42-329' }, 'api_number', 'is not an API number'],
    [
      'well-production',
      { ...month, api_number: '99329400010000' },
      'api_number',
      'begins with the digits of no state',
    ],
    ['well-production', { ...month, api_number: '51329400010000' }, 'api_number', 'is of Hawaii'],
    ['well-production', { ...month, month: '2026-13' }, 'month', 'is not a month'],
    ['well-production', { ...month, month: '2026-12' }, 'month', 'out of range'],
    ['well-production', { ...month, oil_bbl: '' }, 'oil_bbl', 'is missing: write how much'],
    ['well-production', { ...month, oil_bbl: '-1' }, 'oil_bbl', 'is not a number from 0'],
    ['well-production', { ...month, gas_mcf: '1,200' }, 'gas_mcf', 'is not a number from 0'],
    [
      'well-production',
      { ...month, month: '2026-09', days_producing: '31' },
      'days_producing',
      'is not a number from 0 to 30',
    ],
    ['well-production', { ...month, days_producing: '12.5' }, 'days_producing', 'is not whole'],
    [
      'state-production',
      { ...state, state: 'US' },
      'state',
      'is the country, which is the sum of its states',
    ],
    ['state-production', { ...state, state: 'Texas' }, 'state', 'is not a state'],
    ['state-production', { ...state, gas_mcf: '' }, 'gas_mcf', 'is missing'],
    [
      'state-production',
      { ...state, provisional: 'maybe' },
      'provisional',
      'must be true or false',
    ],
    ['wells', { ...well, permit_date: '2026-11-21' }, 'permit_date', 'is out of range'],
    ['wells', { ...well, spud_date: '1.2.2026' }, 'spud_date', 'is not a day'],
    [
      'wells',
      { ...well, latitude: '31.9' },
      'longitude',
      'is missing: write both coordinates or neither',
    ],
    ['wells', { ...well, latitude: '47.9', longitude: '-102' }, 'latitude', 'is outside Texas'],
  ])('%s refuse %p for its %s', (name, row, field, reason) => {
    const fault = faultOf(allOf(setUp()).find(dataset => dataset.name === name)!, row)
    expect(fault).toMatchObject({ field })
    expect(fault?.reason).toContain(reason)
  })

  test('an unknown well is created from its production report, and a known well stays unchanged', () => {
    const own = setUp()
    const lines = [
      `${sample},2026-07,1,,`,
      `${sample},2026-08,1,Juniper Ridge,BRADFORD 3H`,
      '30-025-41234,2026-08,1,,',
    ]
    own.months.write(
      taken(own.months, ['api_number,month,oil_bbl,operator,well_name', ...lines].join('\n')),
      1,
    )
    expect(own.wellStore.get(sample)).toMatchObject({
      operator: 'Juniper Ridge',
      name: 'BRADFORD 3H',
      state: 'TX',
      permitOn: null,
    })
    expect(own.wellStore.get('30025412340000')).toMatchObject({
      operator: 'Unknown',
      name: '30-025-41234',
      state: 'NM',
    })
    own.wells.write(
      taken(own.wells, 'api_number,operator,permit_date\n30-025-41234,Sandhill,2025-01-02'),
      2,
    )
    own.months.write(
      taken(
        own.months,
        'api_number,month,oil_bbl,operator\n30-025-41234,2026-09,1,Another operator',
      ),
      3,
    )
    expect(own.wellStore.get('30025412340000')).toMatchObject({
      operator: 'Sandhill',
      permitOn: '2025-01-02',
    })
  })

  test('count a correction as one, and the country follows it', () => {
    const own = setUp()
    own.states.write(taken(own.states, own.states.example), 1)
    const before = own.production.newestNational()!
    expect(before).toMatchObject({
      month: '2026-08',
      oilBbl: 179_800_000 + 66_650_000,
      provisional: true,
    })
    const final =
      'state,month,oil_bbl,gas_mcf,source\nTX,2026-08,180000000,1085000000,EIA\nNM,2026-08,66650000,341000000,EIA'
    expect(own.states.write(taken(own.states, final), 2)).toEqual({
      inserted: 0,
      revised: 2,
      unchanged: 0,
    })
    expect(own.production.newestNational()).toMatchObject({
      oilBbl: 246_650_000,
      provisional: false,
    })
  })
})
