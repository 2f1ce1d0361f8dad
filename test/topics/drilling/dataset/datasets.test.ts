import { describe, expect, test } from 'bun:test'
import type { Dataset } from '../../../../src/feeds/files/dataset.ts'
import {
  drillingProductivity,
  ducWells,
  fracSpreads,
  type RegionalCount,
  type RegionalDataset,
  rigCounts,
} from '../../../../src/topics/drilling/dataset/counts.ts'
import { regionOf } from '../../../../src/topics/drilling/dataset/fields.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'
import { faultOf, now, taken } from '../../../support/topics/carriers.ts'
import { datasetOf } from '../../../support/topics/datasets.ts'

function setUp() {
  const { drilling } = openTestInstance().services
  const counts = <R extends RegionalCount>(declared: RegionalDataset<R>) =>
    datasetOf<R>(declared, (rows, at) => drilling.record(declared, rows, at))
  const all = [
    counts(rigCounts),
    counts(fracSpreads),
    counts(ducWells),
    counts(drillingProductivity),
  ] as const
  return { drilling, all, rigs: all[0], frac: all[1], duc: all[2], productivity: all[3] }
}

describe('the drilling datasets', () => {
  test('take their own examples, and nothing happens when they come again', () => {
    for (const dataset of setUp().all as unknown as Dataset<unknown>[]) {
      const names = dataset.example.split('\n')[0]!.split(',')
      const columnNames = dataset.columns.map(column => column.name)
      expect(
        names.filter(name => !columnNames.includes(name)),
        dataset.name,
      ).toEqual([])
      expect(
        [
          ...(dataset.key ?? []),
          ...dataset.columns.filter(column => column.required).map(column => column.name),
        ].filter(name => !names.includes(name)),
        dataset.name,
      ).toEqual([])
      const records = taken(dataset, dataset.example)
      expect(dataset.write(records, 1), dataset.name).toEqual({
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
  test('count a correction as one', () => {
    const { duc, drilling } = setUp()
    duc.write(taken(duc, 'month,region,duc_count\n2026-10,US,5230'), 1)
    expect(duc.write(taken(duc, 'month,region,duc_count\n2026-10,US,5228'), 2)).toEqual({
      inserted: 0,
      revised: 1,
      unchanged: 0,
    })
    expect(drilling.duc.between('US', '', '9999')).toEqual([
      {
        region: 'US',
        countedOn: '2026-10-15',
        duc: 5228,
        drilled: null,
        completed: null,
        source: 'EIA',
        recordedAt: 2,
      },
    ])
  })
  test('refuse a row that lacks what it needs, and name it', () => {
    for (const dataset of setUp().all as unknown as Dataset<unknown>[]) {
      const [head, first] = dataset.example.split('\n')
      const [names, fields] = [head!.split(','), first!.split(',')]
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
  test.each([
    ['rig-counts', { date: '2026-11-21', oil: '1', gas: '1', misc: '1' }, 'date', 'out of range'],
    ['rig-counts', { date: '13.11.2026', total: '546' }, 'date', 'is not a day'],
    ['rig-counts', { date: '2026-12', total: '546' }, 'date', 'is not a day'],
    [
      'rig-counts',
      { date: '2026-11-13', region: 'Atlantis', total: '5' },
      'region',
      'is not known',
    ],
    [
      'rig-counts',
      { date: '2026-11-13', oil: '413', gas: '127' },
      'misc',
      'is missing: write all of',
    ],
    [
      'rig-counts',
      { date: '2026-11-13', oil: '413', gas: '127', misc: '6', total: '547' },
      'total',
      'is not the sum of oil, gas and misc (546)',
    ],
    ['rig-counts', { date: '2026-11-13', total: '546.5' }, 'total', 'is not whole'],
    ['rig-counts', { date: '2026-11-13', total: '-1' }, 'total', 'is not a number from 0'],
    [
      'frac-spreads',
      { date: '2026-11-13', region: 'permian', active_spreads: 'many' },
      'active_spreads',
      'is not a number',
    ],
    ['duc-wells', { month: '2026-13', region: 'US', duc_count: '1' }, 'month', 'is not a month'],
    [
      'duc-wells',
      { month: '2026-10', region: 'US', duc_count: '1', completions: '-4' },
      'completions',
      'is not a number from 0',
    ],
    ['drilling-productivity', { month: '2026-10', basin: 'Texas' }, 'basin', 'is not a basin'],
  ])('%s refuse %p for its %s', (name, row, field, reason) => {
    const dataset = setUp().all.find(row => row.name === name) as unknown as Dataset<unknown>
    const fault = faultOf(dataset, row)
    expect(fault).toMatchObject({ field })
    expect(fault?.reason).toContain(reason)
  })
})

describe('a region in a file', () => {
  test.each([
    ['US', 'US'],
    ['United States', 'US'],
    ['Permian', 'permian'],
    ['tx', 'TX'],
    ['New Mexico', 'NM'],
    ['OTHER', 'OTHER'],
    ['Other states', 'OTHER'],
    ['other', 'other'],
    ['Appalachia Region', 'appalachia'],
  ])('the region %s in a file is stored as %s', (text, region) => {
    expect(regionOf(text)).toBe(region)
  })
})

describe('rig counts', () => {
  test('rig counts without a region belong to the country, and the total is the sum of the drilling targets', () => {
    const { rigs } = setUp()
    expect(taken(rigs, 'date,oil,gas,misc\n2026-11-13,413,127,6')).toEqual([
      {
        region: 'US',
        countedOn: '2026-11-13',
        span: 'week',
        total: 546,
        oil: 413,
        gas: 127,
        misc: 6,
        source: 'EIA',
      },
    ])
  })
  test.each(['2020-07', 'Jul 2020', 'July 2020', 'jul-2020'])(
    '%s is a month, whose mean is dated in its middle',
    date => {
      const { rigs } = setUp()
      expect(taken(rigs, `date,total\n${date},255`)[0]).toMatchObject({
        countedOn: '2020-07-15',
        span: 'month',
        total: 255,
        oil: null,
      })
    },
  )
  needs('../shared/data').test(`the agency's monthly file goes in whole`, () => {
    const { rigs, drilling } = setUp()
    // Four lines stand before the names of its columns.
    const lines = realRows('eia-rig-counts-monthly/E_ERTRR0_XR0_NUS_C.csv').slice(4)
    const records = lines.map(([date, total]) => {
      const checked = rigs.check({ date, total }, now)
      if (!('record' in checked)) throw new Error(checked.reason)
      return checked.record
    })
    expect(rigs.write(records, 1)).toEqual({ inserted: lines.length, revised: 0, unchanged: 0 })
    expect(lines.length).toBeGreaterThan(560)
    const stored = drilling.rigs.between('US', '', '9999')
    expect(stored.map(row => row.countedOn).slice(0, 2)).toEqual(['1973-01-15', '1973-02-15'])
    expect(stored[0]).toMatchObject({ total: 1219, oil: null, span: 'month' })
  })
})
