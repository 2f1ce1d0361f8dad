import {
  checked,
  neededPastDay,
  neededText,
  numberIn,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { FracDisclosure, FracDisclosureStore } from '../store/frac-disclosures.ts'
import {
  apiNumberIn,
  apiNumberText,
  nameIn,
  neededName,
  placeColumns,
  placeIn,
  sourceColumn,
  stateColumn,
  stateIn,
} from './well-fields.ts'

/** Gallons: ten times the largest job that was ever disclosed. */
const gallonsMax = 1e9

export function createFracDisclosuresDataset(store: FracDisclosureStore): Dataset<FracDisclosure> {
  return {
    name: 'frac-disclosures',
    description:
      'Hydraulic fracturing jobs as their operators disclosed them: one row for each job. What the fluid was made of comes as frac-chemicals.',
    columns: [
      {
        name: 'disclosure_id',
        required: true,
        description: 'Id of the disclosure in its registry; tells disclosures apart',
      },
      { name: 'api_number', required: true, description: apiNumberText },
      stateColumn,
      { name: 'county', required: true, description: 'Name of the county' },
      { name: 'operator', required: true, description: 'Name of the operator' },
      { name: 'well_name', required: false, description: 'Name of the well' },
      { name: 'job_start_date', required: true, description: 'Day on which the job began' },
      { name: 'job_end_date', required: true, description: 'Day on which it ended' },
      ...placeColumns,
      { name: 'total_base_water_volume', required: false, description: 'Gallons of water' },
      {
        name: 'total_base_non_water_volume',
        required: false,
        description: 'Gallons of any other base fluid',
      },
      sourceColumn,
    ],
    example:
      'disclosure_id,api_number,state,county,operator,well_name,job_start_date,job_end_date,total_base_water_volume\n' +
      'b41f0c7e,42-329-40001-00-00,TX,Midland,JUNIPER RIDGE OPERATING LLC,BRADFORD 14-23 UNIT 3H,2026-09-28,2026-10-14,18420000\n' +
      '7ac2d310,33-053-09911-00-00,ND,McKenzie,"Badland Petroleum, Inc.",SORENSON 5-8 2H,2026-10-01,2026-10-09,7915000\n',
    key: ['disclosure_id'],
    check: (row, now) =>
      checked(() => {
        const state = stateIn(row)
        const api =
          apiNumberIn(row, state) ??
          refuse('api_number', undefined, '', 'write 10, 12 or 14 digits, such as 42-329-40001')
        const place = placeIn(row, state)
        const [startedOn, endedOn] = [
          neededPastDay(row, 'job_start_date', now),
          neededPastDay(row, 'job_end_date', now),
        ]
        if (endedOn < startedOn)
          refuse(
            'job_end_date',
            endedOn,
            `is before the job began on ${startedOn}`,
            'check which column is which',
          )
        return {
          reference: neededText(row, 'disclosure_id', 'write the id of the disclosure', 80),
          apiNumber: api.number.digits,
          state: state.code,
          county: neededName(row, 'county', 'write the name of the county'),
          operator: neededName(row, 'operator', 'write the name of the operator'),
          wellName: nameIn(row, 'well_name') ?? '',
          startedOn,
          endedOn,
          latitude: place?.latitude ?? null,
          longitude: place?.longitude ?? null,
          waterGallons: numberIn(row, 'total_base_water_volume', 0, gallonsMax) ?? null,
          nonWaterGallons: numberIn(row, 'total_base_non_water_volume', 0, gallonsMax) ?? null,
          source: textIn(row, 'source', 40) ?? 'import',
        }
      }),
    write: (records, recordedAt) => store.write(records, recordedAt),
  }
}
