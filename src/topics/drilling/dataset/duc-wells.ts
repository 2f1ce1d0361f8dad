import type { WriteCounts } from '../../../database/write-counts.ts'
import { checked } from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { DucWells } from '../store/duc-wells.ts'
import {
  countIn,
  neededCount,
  regionColumn,
  regionIn,
  sourceColumn,
  sourceIn,
  surveyIn,
} from './fields.ts'

export interface DucWellWriter {
  recordDucWells(rows: readonly DucWells[], recordedAt: number): WriteCounts
}

export function createDucWellsDataset(writer: DucWellWriter): Dataset<DucWells> {
  return {
    name: 'duc-wells',
    description:
      'Drilled but uncompleted (DUC) wells by month and region, with the wells drilled and completed in the month, as the Energy Information Administration (EIA) publishes them. The series of the catalogue about the same numbers follow.',
    columns: [
      { name: 'month', required: true, description: 'Month, YYYY-MM; a day stands for its month' },
      regionColumn(true),
      {
        name: 'duc_count',
        required: true,
        description: 'Wells that are drilled and not completed',
      },
      { name: 'wells_drilled', required: false, description: 'Wells drilled in the month' },
      { name: 'completions', required: false, description: 'Wells completed in the month' },
      sourceColumn,
    ],
    example:
      'month,region,duc_count,wells_drilled,completions\n2026-10,US,5230,868,812\n2026-10,permian,890,401,398\n',
    key: ['region', 'month'],
    check: (row, now) =>
      checked(() => ({
        region: regionIn(row),
        countedOn: surveyIn(row, 'month', now),
        duc: neededCount(row, 'duc_count'),
        drilled: countIn(row, 'wells_drilled') ?? null,
        completed: countIn(row, 'completions') ?? null,
        source: sourceIn(row),
      })),
    guarded: {
      cadence: 'monthly',
      time: 'month',
      columns: {
        duc_count: { leastMove: 25 },
        wells_drilled: { leastMove: 25 },
        completions: { leastMove: 25 },
      },
      numbersOf: ({ region, countedOn, duc, drilled, completed }) => [
        {
          line: { region },
          time: countedOn.slice(0, 7),
          values: { duc_count: duc, wells_drilled: drilled, completions: completed },
        },
      ],
    },
    write: (records, recordedAt) => writer.recordDucWells(records, recordedAt),
  }
}
