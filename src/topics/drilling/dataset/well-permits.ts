import type { WriteCounts } from '../../../database/write-counts.ts'
import {
  checked,
  type DatasetRow,
  neededInstant,
  neededPastDay,
  numberIn,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { wordKey } from '../math/permits.ts'
import type { WellPermit } from '../store/well-permits.ts'
import {
  apiNumberIn,
  apiNumberText,
  labelIn,
  nameIn,
  neededName,
  placeColumns,
  placeIn,
  sourceColumn,
  stateColumn,
  stateIn,
} from './well-fields.ts'

export interface PermitWriter {
  record(permits: readonly WellPermit[], recordedAt: number): WriteCounts
}

/** Feet; the deepest well on Earth is 40,230 deep, sideways wells reach further. */
const depthMax = 60_000
const urlCharactersMax = 300

const optional = (name: string, description: string) => ({ name, required: false, description })

export function createWellPermitsDataset(permits: PermitWriter): Dataset<WellPermit> {
  return {
    name: 'well-permits',
    batchMax: 100,
    description: 'Permits to drill wells as state agencies list them: one row for each permit.',
    columns: [
      stateColumn,
      { name: 'permit_date', required: true, description: 'Day on which it was granted' },
      optional(
        'permit_number',
        'Its number in the state; tells permits apart. Without one the well and the day do',
      ),
      optional('api_number', `${apiNumberText}; needed without a permit number`),
      { name: 'operator', required: true, description: 'Name of the operator as filed' },
      optional('operator_number', 'Of the operator in its state'),
      optional('well_name', 'Name of the well or lease'),
      optional('well_number', 'Of the well on its lease'),
      optional(
        'permit_type',
        'new_drill, recompletion, reentry, sidetrack or a word of your own; default: new_drill',
      ),
      optional(
        'permit_status',
        'approved, expired or a word of your own; default: approved. Another one is told as an event',
      ),
      optional('well_type', 'oil, gas, injection or a word of your own; default: unknown'),
      optional('county', 'Name of the county'),
      optional('formation', 'Formation that is drilled for'),
      optional('total_depth', 'Proposed depth in feet'),
      ...placeColumns,
      optional('section', 'Of the public land survey'),
      optional('township', 'Of the same'),
      optional('range', 'Of the same'),
      sourceColumn,
      optional('source_url', 'Page of the permit'),
      optional(
        'fetched_at',
        'When the list was read; default: now. A state whose list was read lately and has nothing new is quiet',
      ),
      optional('data_as_of', 'Day that the list is of; default: the day on which it was read'),
    ],
    example:
      'state,permit_date,permit_number,api_number,operator,well_name,well_number,well_type,county,formation,total_depth,latitude,longitude\n' +
      'TX,2026-11-18,918273,42-329-40001,JUNIPER RIDGE OPERATING LLC,BRADFORD 14-23 UNIT,3H,oil,Midland,WOLFCAMP A,9800,31.8637,-102.0319\n' +
      'ND,2026-11-17,41822,33-053-09911,"Badland Petroleum, Inc.",SORENSON 5-8,2H,oil,McKenzie,Three Forks,11200,47.9021,-103.2214\n',
    key: ['state', 'permit_number', 'api_number', 'permit_date'],
    check: (row, now) => checked(() => permitIn(row, now)),
    write: (records, recordedAt) => permits.record(records, recordedAt),
  }
}

function permitIn(row: DatasetRow, now: number): WellPermit {
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
  const fetchedAt =
    labelIn(row, 'fetched_at') === undefined ? now : neededInstant(row, 'fetched_at', now)
  const place = placeIn(row, state)
  return {
    state: state.code,
    permitOn: neededPastDay(row, 'permit_date', now),
    permitNumber: permitNumber ?? null,
    permitType: wordIn(row, 'permit_type', 'new_drill'),
    permitStatus: wordIn(row, 'permit_status', 'approved'),
    apiNumber: api?.number.digits ?? null,
    apiNumberRaw: api?.text ?? '',
    county: nameIn(row, 'county') ?? null,
    operator: neededName(row, 'operator', 'write the name of the operator'),
    operatorNumber: labelIn(row, 'operator_number') ?? null,
    wellName: nameIn(row, 'well_name') ?? '',
    wellNumber: labelIn(row, 'well_number') ?? null,
    wellType: wordIn(row, 'well_type', 'unknown'),
    formation: nameIn(row, 'formation') ?? null,
    totalDepth: depthIn(row),
    latitude: place?.latitude ?? null,
    longitude: place?.longitude ?? null,
    section: labelIn(row, 'section') ?? null,
    township: labelIn(row, 'township') ?? null,
    range: labelIn(row, 'range') ?? null,
    source: textIn(row, 'source', 40) ?? 'import',
    sourceUrl: addressIn(row),
    fetchedAt,
    dataAsOfOn:
      labelIn(row, 'data_as_of') === undefined
        ? isoDay(Math.min(fetchedAt, now))
        : neededPastDay(row, 'data_as_of', now),
  }
}

/** A page of the web, or nothing: what is shown as a link must be one. */
function addressIn(row: DatasetRow): string {
  const text = textIn(row, 'source_url', urlCharactersMax)
  if (text === undefined || /^https?:\/\//i.test(text)) return text ?? ''
  return refuse('source_url', text, 'is not an address', 'write it with https:// in front')
}

/** Lower case with underscores, as answers and filters write it. */
function wordIn(row: DatasetRow, field: string, fallback: string): string {
  const text = textIn(row, field, 60)
  if (text === undefined) return fallback
  const word = wordKey(text)
  return word === ''
    ? refuse(field, text, 'is not a word', `write letters and digits, such as ${fallback}`)
    : word
}

/** Whole feet, also where a program has written 9800.0; nothing is drilled to 0. */
function depthIn(row: DatasetRow): number | null {
  const depth = numberIn(row, 'total_depth', 0, depthMax)
  return depth === undefined || depth === 0 ? null : Math.round(depth)
}
