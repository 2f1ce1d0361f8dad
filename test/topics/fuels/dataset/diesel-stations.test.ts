import { describe, expect, test } from 'bun:test'
import { parseInstant } from '../../../../src/lib/time/instant.ts'
import { dieselStations } from '../../../../src/topics/fuels/dataset/diesel-stations.ts'
import { createStationStore } from '../../../../src/topics/fuels/store/stations.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { datasetOf } from '../../../support/topics/datasets.ts'

const now = parseInstant('2026-11-20T15:00:00Z')!
const setUp = () => {
  const store = createStationStore(databaseInMemory())
  return { store, dataset: datasetOf(dieselStations, store.write) }
}
const row = {
  reference: 'st-1',
  name: 'Gulf Truck Stop',
  address: '1200 Katy Freeway, Houston',
  state: 'tx',
  latitude: '29.7749',
  longitude: '-95.3934',
  price: '3.419',
  observed_at: '2026-11-19T10:05:00Z',
}
const recordOf = (change: Record<string, unknown> = {}) => {
  const checked = setUp().dataset.check({ ...row, ...change }, now)
  if (!('record' in checked)) throw new Error(checked.reason)
  return checked.record
}
const faultOf = (change: Record<string, unknown>) => {
  const checked = setUp().dataset.check({ ...row, ...change }, now)
  return 'record' in checked ? undefined : checked
}

describe('stations of diesel', () => {
  test('are read from a row', () => {
    expect(recordOf()).toEqual({
      reference: 'st-1',
      name: 'Gulf Truck Stop',
      address: '1200 Katy Freeway, Houston',
      state: 'TX',
      latitude: 29.7749,
      longitude: -95.3934,
      price: 3.419,
      fuelTypes: ['diesel'],
      observedAt: parseInstant('2026-11-19T10:05:00Z')!,
      source: 'import',
    })
    expect(recordOf({ fuel_types: 'DEF; Unleaded;diesel ; bio diesel' }).fuelTypes).toEqual([
      'diesel',
      'def',
      'unleaded',
      'bio_diesel',
    ])
    expect(recordOf({ price: 1, unit: 'litre' }).price).toBe(3.785411784)
  })

  test('are refused with what would be right', () => {
    const table: [Record<string, unknown>, string, RegExp][] = [
      [{ reference: '' }, 'reference', /is missing/],
      [{ state: 'PR' }, 'state', /^state PR is not a state: write two letters, such as TX$/],
      [{ latitude: 91 }, 'latitude', /is not a number from -90 to 90/],
      [{ longitude: '' }, 'longitude', /is missing/],
      [{ price: '3,419' }, 'price', /is not a number/],
      [
        { price: 0 },
        'price',
        /^price 0 USD a gallon is outside the accepted range for diesel: check the unit$/,
      ],
      [{ price: 341.9 }, 'price', /is outside the accepted range/],
      [{ unit: 'barrel' }, 'unit', /^unit barrel is not known: write gallon or litre$/],
      [{ fuel_types: 'def;<b>' }, 'fuel_types', /is not a fuel/],
      [{ observed_at: '2026-11-19 10:05' }, 'observed_at', /is not a time/],
      [{ observed_at: '2026-11-22T10:05:00Z' }, 'observed_at', /is out of range/],
    ]
    for (const [change, field, reason] of table) {
      expect(faultOf(change), JSON.stringify(change)).toMatchObject({
        field,
        reason: expect.stringMatching(reason),
      })
    }
  })

  test('the example of the documentation goes in, and again without effect', () => {
    const { dataset } = setUp()
    const [header, ...lines] = dataset.example.trim().split('\n')
    const names = header!.split(',')
    expect(names.filter(name => !dataset.columns.some(column => column.name === name))).toEqual([])
    const records = lines.map(line => {
      const fields = line
        .match(/("[^"]*"|[^,]*)(,|$)/g)!
        .map(field => field.replace(/,$/, '').replaceAll('"', ''))
      const checked = dataset.check(
        Object.fromEntries(names.map((name, i) => [name, fields[i]])),
        now,
      )
      if (!('record' in checked)) throw new Error(checked.reason)
      return checked.record
    })
    expect(dataset.write(records, 1)).toEqual({ inserted: 2, revised: 0, unchanged: 0 })
    expect(dataset.write(records, 2)).toEqual({ inserted: 0, revised: 0, unchanged: 2 })
  })
})
