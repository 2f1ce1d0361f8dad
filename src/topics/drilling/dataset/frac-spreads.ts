import type { WriteCounts } from '../../../database/write-counts.ts'
import { checked, neededPastDay } from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { FracSpreads } from '../store/frac-spreads.ts'
import { neededCount, regionColumn, regionIn, sourceColumn, sourceIn } from './fields.ts'

export interface FracSpreadWriter {
  recordFracSpreads(rows: readonly FracSpreads[], recordedAt: number): WriteCounts
}

export function createFracSpreadsDataset(writer: FracSpreadWriter): Dataset<FracSpreads> {
  return {
    name: 'frac-spreads',
    description:
      'Active hydraulic fracturing crews by day (or week) and region: a row for each, or one for each day with a column for each region. The series of the catalogue about the same numbers follow.',
    columns: [
      { name: 'date', required: true, description: 'Day of the count' },
      regionColumn(true),
      { name: 'active_spreads', required: true, description: 'Active crews' },
      sourceColumn,
    ],
    example:
      'date,region,active_spreads,source\n2026-11-13,US,198,Crew survey\n2026-11-13,permian,92,Crew survey\n',
    key: ['region', 'date'],
    wide: { name: 'region', value: 'active_spreads' },
    check: (row, now) =>
      checked(() => ({
        region: regionIn(row),
        countedOn: neededPastDay(row, 'date', now),
        active: neededCount(row, 'active_spreads'),
        source: sourceIn(row),
      })),
    guarded: {
      cadence: 'weekly',
      time: 'date',
      columns: { active_spreads: { leastMove: 15, mayRepeat: true } },
      numbersOf: ({ region, countedOn, active }) => [
        { line: { region }, time: countedOn, values: { active_spreads: active } },
      ],
    },
    write: (records, recordedAt) => writer.recordFracSpreads(records, recordedAt),
  }
}
