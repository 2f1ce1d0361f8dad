import type { WriteCounts } from '../../../database/write-counts.ts'
import { checked, neededNumber } from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { Productivity } from '../store/productivities.ts'
import { basinIn, neededCount, sourceColumn, sourceIn, surveyIn } from './fields.ts'

export interface ProductivityWriter {
  recordProductivities(rows: readonly Productivity[], recordedAt: number): WriteCounts
}

const dailyMax = 1e9

const quantities = [
  ['new_well_oil_production', 'newWellOil', 0, 'Oil of the new wells of one rig, barrels a day'],
  [
    'new_well_gas_production',
    'newWellGas',
    0,
    'Gas of the new wells of one rig, thousand cubic feet a day',
  ],
  [
    'legacy_oil_change',
    'legacyOil',
    -dailyMax,
    'Change of the oil of older wells against the month before, barrels a day',
  ],
  [
    'legacy_gas_change',
    'legacyGas',
    -dailyMax,
    'Change of the gas of older wells, thousand cubic feet a day',
  ],
  ['total_oil_bpd', 'totalOil', 0, 'Oil of all wells, barrels a day'],
  ['total_gas_mcfd', 'totalGas', 0, 'Gas of all wells, thousand cubic feet a day'],
] as const

type Quantity = (typeof quantities)[number][1]

export function createDrillingProductivityDataset(
  writer: ProductivityWriter,
): Dataset<Productivity> {
  return {
    name: 'drilling-productivity',
    description:
      'What drilling brings by month and basin, with the columns of the drilling productivity report of the Energy Information Administration (EIA): rigs, production of their new wells, change of the old ones, and production of all.',
    columns: [
      { name: 'month', required: true, description: 'Month, YYYY-MM; a day stands for its month' },
      {
        name: 'basin',
        required: true,
        description: 'permian, Eagle Ford ...; appalachia for Marcellus and Utica together',
      },
      { name: 'rig_count', required: true, description: 'Rigs of the month' },
      ...quantities.map(([name, , , description]) => ({ name, required: true, description })),
      sourceColumn,
    ],
    example:
      'month,basin,rig_count,new_well_oil_production,new_well_gas_production,legacy_oil_change,legacy_gas_change,total_oil_bpd,total_gas_mcfd\n' +
      '2026-10,permian,251,1410,2650,-348200,-642800,6550000,27500000\n' +
      '2026-10,Eagle Ford,44,1480,5600,-62100,-241300,1120000,6900000\n',
    key: ['basin', 'month'],
    check: (row, now) =>
      checked(() => {
        const place = {
          region: basinIn(row, 'basin'),
          countedOn: surveyIn(row, 'month', now),
          rigs: neededCount(row, 'rig_count'),
        }
        const numbers = quantities.map(
          ([name, field, min]) => [field, neededNumber(row, name, min, dailyMax)] as const,
        )
        return {
          ...place,
          ...(Object.fromEntries(numbers) as Record<Quantity, number>),
          source: sourceIn(row),
        }
      }),
    guarded: {
      cadence: 'monthly',
      time: 'month',
      columns: {
        rig_count: { leastMove: 15, mayRepeat: true },
        new_well_oil_production: { leastMove: 50 },
        new_well_gas_production: { leastMove: 50 },
        legacy_oil_change: { leastMove: 5000, mayCross: true },
        legacy_gas_change: { leastMove: 5000, mayCross: true },
        total_oil_bpd: { leastMove: 1000 },
        total_gas_mcfd: { leastMove: 1000 },
      },
      numbersOf: row => [
        {
          line: { basin: row.region },
          time: row.countedOn.slice(0, 7),
          values: {
            rig_count: row.rigs,
            new_well_oil_production: row.newWellOil,
            new_well_gas_production: row.newWellGas,
            legacy_oil_change: row.legacyOil,
            legacy_gas_change: row.legacyGas,
            total_oil_bpd: row.totalOil,
            total_gas_mcfd: row.totalGas,
          },
        },
      ],
    },
    write: (records, recordedAt) => writer.recordProductivities(records, recordedAt),
  }
}
