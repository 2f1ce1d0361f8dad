import { day, instant } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import {
  type DatasetRow,
  neededPastDay,
  numberIn,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { wordKey } from '../math/permits.ts'
import {
  apiNumberIn,
  apiNumberText,
  emptyName,
  labelIn,
  operatorName,
  optionalLabel,
  optionalName,
  place,
  placeIn,
  source,
  state,
  stateIn,
} from './well-fields.ts'

/** Feet; the deepest well on Earth is 40,230 deep, sideways wells reach further. */
const depthMax = 60_000
const urlCharactersMax = 300

/** Lower case with underscores, as answers and filters write it. */
const word = (fallback: string, description: string, exported: string): Column<string> => ({
  description,
  exported,
  read(row, field) {
    const text = textIn(row, field, 60)
    if (text === undefined) return fallback
    const key = wordKey(text)
    return key === ''
      ? refuse(field, text, 'is not a word', `write letters and digits, such as ${fallback}`)
      : key
  },
})

/** Whole feet, also where a program has written 9800.0; nothing is drilled to 0. */
function depthIn(row: DatasetRow): number | null {
  const depth = numberIn(row, 'total_depth', 0, depthMax)
  return depth === undefined || depth === 0 ? null : Math.round(depth)
}

/** A web address, or empty: it is shown as a link, so only http and https are accepted. */
function addressIn(row: DatasetRow): string {
  const text = textIn(row, 'source_url', urlCharactersMax)
  if (text === undefined || /^https?:\/\//i.test(text)) return text ?? ''
  return refuse('source_url', text, 'is not an address', 'write it with https:// in front')
}

const columns = {
  state: { ...state, exported: 'p.state_code' },
  permitOn: day('Day on which the permit was granted', {
    name: 'permit_date',
    exported: 'f.permit_on',
  }),
  permitNumber: {
    description:
      'Number that identifies the permit in its state; without one, the well and the day identify it',
    exported: 'p.permit_number',
  } as Column<string | null>,
  /** Fourteen digits. */
  apiNumber: {
    description: `${apiNumberText}; required without a permit number`,
    exported: "coalesce(nullif(p.api_number_raw, ''), p.api_number)",
  } as Column<string | null>,
  operator: { ...operatorName('Name of the operator as filed'), exported: 'p.operator_raw' },
  operatorNumber: optionalLabel('Number of the operator in its state', {
    exported: 'p.operator_number',
  }),
  wellName: emptyName('Name of the well or lease', { exported: "nullif(w.name, '')" }),
  wellNumber: optionalLabel('Number of the well on its lease', { exported: 'p.well_number' }),
  permitType: word(
    'new_drill',
    'new_drill, recompletion, reentry, sidetrack or a word of your own; default: new_drill',
    'pt.name',
  ),
  permitStatus: word(
    'approved',
    'approved, expired or another status; default: approved. A change is sent as an event',
    'p.permit_status',
  ),
  wellType: word(
    'unknown',
    'oil, gas, injection or a word of your own; default: unknown',
    'wt.name',
  ),
  county: optionalName('Name of the county', { exported: 'county.label' }),
  formation: optionalName('Formation that is drilled for', { exported: 'p.formation_raw' }),
  totalDepth: {
    description: 'Proposed depth in feet',
    exported: 'p.total_depth',
    read: depthIn,
  } as Column<number | null>,
  /** Degrees, to a millionth. */
  latitude: { ...place.latitude, exported: 'p.latitude' },
  longitude: { ...place.longitude, exported: 'p.longitude' },
  section: optionalLabel('Section in the public land survey', { exported: 'p.section' }),
  township: optionalLabel('Township in the public land survey', { exported: 'p.township' }),
  range: optionalLabel('Range in the public land survey', { exported: 'p.range' }),
  source: { ...source, exported: 'p.source' },
  sourceUrl: {
    description: 'URL of the permit',
    exported: "nullif(p.source_url, '')",
    read: addressIn,
  } as Column<string>,
  fetchedAt: {
    ...instant(
      'When the list was read; default: now. It distinguishes a state without new permits from a list that is no longer read',
      { required: false },
    ),
    exported: 'p.fetched_at',
  },
  dataAsOfOn: {
    name: 'data_as_of',
    description: 'Day that the list describes; default: the day on which it was read',
    exported: 'p.data_as_of_on',
  } as Column<string>,
}

/** A permit to drill a well as its state lists it. */
export interface WellPermit extends RecordOf<typeof columns> {
  /** As the source wrote it; empty where it has none. */
  apiNumberRaw: string
}

export const wellPermits = dataset({
  name: 'well-permits',
  feature: 'well_permits',
  batchMax: 100,
  description: 'Permits to drill wells as state agencies list them: one row for each permit.',
  columns,
  key: ['state', 'permitNumber', 'apiNumber', 'permitOn'],
  tables: [
    { name: 'well_permits', key: ['id'], isNumbered: true },
    { name: 'well_permit_papers', key: ['state_code', 'reference'] },
  ],
  from: `well_permits f JOIN well_permit_papers p ON p.id = f.id
      JOIN permit_terms pt ON pt.id = f.permit_type_id JOIN permit_terms wt ON wt.id = f.well_type_id
      JOIN permit_well_names w ON w.id = f.well_name_id LEFT JOIN permit_terms county ON county.id = f.county_id`,
  recordedAt: 'p.recorded_at',
  order: 'f.id',
  example:
    'state,permit_date,permit_number,api_number,operator,well_name,well_number,well_type,county,formation,total_depth,latitude,longitude\n' +
    'TX,2026-11-18,918273,42-329-40001,JUNIPER RIDGE OPERATING LLC,BRADFORD 14-23 UNIT,3H,oil,Midland,WOLFCAMP A,9800,31.8637,-102.0319\n' +
    'ND,2026-11-17,41822,33-053-09911,"Badland Petroleum, Inc.",SORENSON 5-8,2H,oil,McKenzie,Three Forks,11200,47.9021,-103.2214\n',
  read(row, read, { now }): WellPermit {
    const state = stateIn(row)
    const api = apiNumberIn(row, state)
    const permitNumber = labelIn(row, 'permit_number', 60)
    if (permitNumber === undefined && api === undefined) {
      refuse(
        'permit_number',
        undefined,
        '',
        'write the number of the permit or the API number of the well',
      )
    }
    const fetchedAt = labelIn(row, 'fetched_at') === undefined ? now : read.fetchedAt()
    const coordinates = placeIn(row, state)
    return read.rest({
      state: state.code,
      permitNumber: permitNumber ?? null,
      apiNumber: api?.number.digits ?? null,
      apiNumberRaw: api?.text ?? '',
      ...coordinates,
      fetchedAt,
      dataAsOfOn:
        labelIn(row, 'data_as_of') === undefined
          ? isoDay(Math.min(fetchedAt, now))
          : neededPastDay(row, 'data_as_of', now),
    })
  },
})
