import type { WriteCounts } from '../../../database/write-counts.ts'
import {
  checked,
  type DatasetRow,
  neededPastDay,
  neededText,
  refuse,
} from '../../../datasets/fields.ts'
import type { Dataset, GuardedColumn } from '../../../feeds/files/dataset.ts'
import { surveyOn } from '../math/period.ts'
import type { RigCount } from '../store/rig-counts.ts'
import { countIn, monthIn, regionColumn, regionIn, sourceColumn, sourceIn } from './fields.ts'

export interface RigCountWriter {
  recordRigCounts(rows: readonly RigCount[], recordedAt: number): WriteCounts
}

/** Of a handful of rigs a few come and go. */
const rigs: GuardedColumn = { leastMove: 15, mayRepeat: true }

export function createRigCountsDataset(writer: RigCountWriter): Dataset<RigCount> {
  return {
    name: 'rig-counts',
    description:
      'Active rotary rigs by week and region: the country, its basins and its states, by what they drill for where the source says. The monthly averages of the Energy Information Administration (EIA) go in too, dated in the middle of their months. The series of the catalogue about the same numbers follow the weekly counts.',
    columns: [
      {
        name: 'date',
        required: true,
        description:
          'Day of the count; a month (2020-07, Jul 2020) where the number is the mean of one',
      },
      regionColumn(false),
      {
        name: 'oil',
        required: false,
        description: 'Rigs that drill for oil; oil, gas and misc come together',
      },
      { name: 'gas', required: false, description: 'Rigs that drill for gas' },
      { name: 'misc', required: false, description: 'All other rigs' },
      {
        name: 'total',
        required: false,
        description: 'All rigs: needed where the three are missing, their sum otherwise',
      },
      sourceColumn,
    ],
    example:
      'date,region,oil,gas,misc,source\n2026-11-13,US,411,126,6,Rig survey\n2026-11-13,permian,244,3,1,Rig survey\n',
    key: ['region', 'date'],
    check: (row, now) =>
      checked(() => ({
        region: regionIn(row, 'US'),
        ...dateIn(row, now),
        ...countsIn(row),
        source: sourceIn(row),
      })),
    guarded: {
      cadence: 'weekly',
      time: 'date',
      columns: { total: rigs, oil: rigs, gas: rigs, misc: rigs },
      numbersOf: ({ region, countedOn, span, total, oil, gas, misc }) => [
        {
          line: { region },
          time: span === 'month' ? countedOn.slice(0, 7) : countedOn,
          values: { total, oil, gas, misc },
        },
      ],
    },
    write: (records, recordedAt) => writer.recordRigCounts(records, recordedAt),
  }
}

function dateIn(row: DatasetRow, now: number): Pick<RigCount, 'countedOn' | 'span'> {
  const month = monthIn(
    neededText(row, 'date', 'write a day, such as 2026-11-13, or a month, such as 2020-07'),
    now,
  )
  if (month !== undefined) return { countedOn: surveyOn(month), span: 'month' }
  return { countedOn: neededPastDay(row, 'date', now), span: 'week' }
}

function countsIn(row: DatasetRow): Pick<RigCount, 'total' | 'oil' | 'gas' | 'misc'> {
  const [oil, gas, misc, total] = ['oil', 'gas', 'misc', 'total'].map(field => countIn(row, field))
  if (oil === undefined && gas === undefined && misc === undefined) {
    if (total === undefined)
      refuse('total', undefined, '', 'write the number of rigs, or oil, gas and misc')
    return { total, oil: null, gas: null, misc: null }
  }
  const right = 'write all of oil, gas and misc, 0 for none'
  if (oil === undefined) refuse('oil', undefined, '', right)
  if (gas === undefined) refuse('gas', undefined, '', right)
  if (misc === undefined) refuse('misc', undefined, '', right)
  const sum = oil + gas + misc
  if (total !== undefined && total !== sum)
    refuse(
      'total',
      total,
      `is not the sum of oil, gas and misc (${sum})`,
      'check which column is which',
    )
  return { total: sum, oil, gas, misc }
}
