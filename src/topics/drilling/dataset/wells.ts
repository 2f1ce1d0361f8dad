import { checked, type DatasetRow, neededPastDay, textIn } from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { Well, WellStore } from '../store/wells.ts'
import {
  apiNumberText,
  labelIn,
  nameIn,
  neededName,
  placeColumns,
  placeIn,
  sourceColumn,
} from './well-fields.ts'
import { neededWellNumber } from './well-number.ts'

const optional = (name: string, description: string) => ({ name, required: false, description })

export function createWellsDataset(store: Pick<WellStore, 'put'>): Dataset<Well> {
  return {
    name: 'wells',
    description:
      'Wells with the days of their life, one row for each: what cycle times and timelines are computed from.',
    columns: [
      { name: 'api_number', required: true, description: apiNumberText },
      { name: 'operator', required: true, description: 'Name of the operator' },
      optional('well_name', 'Name and number of the well; default: its API number'),
      optional('county', 'Name of the county'),
      optional('formation', 'Formation that it produces from'),
      ...placeColumns,
      optional('permit_date', 'Day on which it was permitted; empty: not known'),
      optional('spud_date', 'Day on which drilling began; empty: not yet, or not known'),
      optional('completion_date', 'Day on which it was completed; the same'),
      optional('first_production_date', 'Day of the first production; the same'),
      sourceColumn,
    ],
    example:
      'api_number,operator,well_name,county,formation,latitude,longitude,permit_date,spud_date,completion_date,first_production_date\n' +
      '42-329-40001,Juniper Ridge Operating LLC,BRADFORD 14-23 UNIT 3H,Midland,Wolfcamp A,31.8637,-102.0319,2026-01-12,2026-03-20,2026-07-02,2026-07-21\n' +
      '33-053-09911,Badland Petroleum Inc.,SORENSON 5-8 2H,McKenzie,Three Forks,47.9021,-103.2214,2026-04-17,2026-08-01,,\n',
    key: ['api_number'],
    check: (row, now) => checked(() => wellIn(row, now)),
    write: (records, recordedAt) => store.put(records, recordedAt),
  }
}

function wellIn(row: DatasetRow, now: number): Well {
  const { number, state } = neededWellNumber(row)
  const place = placeIn(row, state)
  const dayIn = (field: string) =>
    labelIn(row, field) === undefined ? null : neededPastDay(row, field, now)
  return {
    apiNumber: number.digits,
    state: state.code,
    operator: neededName(row, 'operator', 'write the name of the operator'),
    name: nameIn(row, 'well_name') ?? labelIn(row, 'api_number')!,
    county: nameIn(row, 'county') ?? null,
    formation: nameIn(row, 'formation') ?? null,
    latitude: place?.latitude ?? null,
    longitude: place?.longitude ?? null,
    permitOn: dayIn('permit_date'),
    spudOn: dayIn('spud_date'),
    completedOn: dayIn('completion_date'),
    firstProductionOn: dayIn('first_production_date'),
    source: textIn(row, 'source', 40) ?? 'import',
  }
}
