import { derived, flag } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { neededDay, neededNumber, neededText, refuse } from '../../../datasets/fields.ts'
import type { Schedule, SurchargeBand } from '../math/surcharge.ts'
import { indexCode, retrievedAt, service, serviceIn, source } from './surcharge-fields.ts'

const aheadDays = 400
const charactersMax = 20_000
const right =
  'write each lower edge and its percent, then the end of the last band: 0=0;1.2=1;1.25=1.5;1.3, and +0.05=0.5 behind it if the table continues in such steps'

/** The table of a schedule as files have it: `0=0;1.2=1;1.25`. */
const bandsText = `(SELECT group_concat(json_extract(value, '$[0]') || '=' || json_extract(value, '$[2]'), ';')
  || ';' || json_extract(t.bands, '$[#-1][1]') FROM json_each(t.bands))
  || CASE WHEN t.beyond_width IS NULL THEN '' ELSE ';+' || t.beyond_width || '=' || t.beyond_percent END`

const columns = {
  ...service,
  validFromOn: {
    name: 'valid_from',
    required: true,
    description: 'Day from which the table applies, until the next table',
    read: (row, name, { now }) => neededDay(row, name, now, aheadDays),
  } as Column<string>,
  indexCode,
  effectiveWeekday: {
    required: true,
    description: "Day on which a week's price takes effect: 1 (Monday) to 7 (Sunday)",
    read(row, name) {
      const weekday = neededNumber(row, name, 1, 7)
      return Number.isInteger(weekday)
        ? weekday
        : refuse(name, weekday, 'is not a whole number', 'write 1 (Monday) to 7 (Sunday)')
    },
  } as Column<number>,
  /** JSON: minimum, maximum and percent of each band. */
  bands: {
    required: true,
    description:
      'Lower edges with their percent and the end of the last band, `0=0;1.2=1;1.25=1.5;1.3`; `+0.05=0.5` after it: every further 0.05 adds 0.5',
    exported: bandsText,
  } as Column<string>,
  /** Whether the weeks that no one published are matched here. */
  matched: flag(
    'true: compute the surcharge of each week; false: serve published weeks only',
    true,
    { name: 'match', exported: 't.matched' },
  ),
  source,
  retrievedAt,
  beyondWidth: derived<number | null>(),
  beyondPercent: derived<number | null>(),
}

/** A schedule as it is stored. */
export type ScheduleRow = RecordOf<typeof columns>

/** A carrier's table from a day on, and the page that it was read from. */
export interface CarrierSchedule
  extends Omit<ScheduleRow, 'bands' | 'beyondWidth' | 'beyondPercent'>,
    Schedule {}

export const surchargeSchedules = dataset({
  name: 'surcharge-schedules',
  description:
    'Fuel surcharge tables of carriers. The surcharge of a week that the carrier has not published is computed from the index price.',
  table: 'surcharge_schedules',
  columns,
  key: ['mode', 'carrier', 'serviceLevel', 'validFromOn'],
  example:
    'carrier,carrier_name,valid_from,effective_weekday,bands,source,retrieved_at\n' +
    'alder,Alder Freight Lines,2025-01-06,3,0=0;1.2=1;1.25=1.5;1.3;+0.05=0.5,https://alder.example/fuel,2025-01-06T13:05:00Z\n' +
    'basin,Basin Motor Freight,2025-01-06,1,2=15;2.1=16;2.2=17;2.3;+0.1=1,https://basin.example/fuel,2025-01-06T13:10:00Z\n',
  read(row, read): CarrierSchedule {
    return read.rest({
      ...serviceIn(row),
      ...bandsOf(neededText(row, 'bands', right, charactersMax)),
    })
  },
})

const number = '(\\d{1,9}(?:\\.\\d{1,6})?)'
const edgePattern = new RegExp(`^${number}=${number}$`)
const endPattern = new RegExp(`^${number}$`)
const beyondPattern = new RegExp(`^\\+${number}=${number}$`)

/** `0=0;1.2=1;1.25=1.5;1.3;+0.05=0.5` as a table without gaps. */
export function bandsOf(text: string): Pick<Schedule, 'bands' | 'beyond'> {
  const parts = text.split(';').map(part => part.trim())
  const beyond = beyondPattern.exec(parts.at(-1)!)
  const end = endPattern.exec(parts.at(beyond ? -2 : -1) ?? '')
  const edges = parts
    .slice(0, beyond ? -2 : -1)
    .map(
      part =>
        edgePattern.exec(part) ?? refuse('bands', part, 'is not an edge with its percent', right),
    )
  if (!end || edges.length === 0)
    refuse('bands', parts.at(beyond ? -2 : -1) ?? text, 'is not the end of the last band', right)
  const ends = [...edges.slice(1).map(edge => Number(edge[1])), Number(end[1])]
  const bands: SurchargeBand[] = edges.map((edge, i) => ({
    min: Number(edge[1]),
    max: ends[i]!,
    percent: Number(edge[2]),
  }))
  const wrong = bands.find(band => band.min >= band.max)
  if (wrong)
    refuse(
      'bands',
      wrong.max,
      `does not lie above ${wrong.min}`,
      'write the edges in ascending order',
    )
  if (!beyond) return { bands }
  const width = Number(beyond[1])
  if (width === 0) refuse('bands', beyond[0], 'has no width', right)
  return { bands, beyond: { width, percent: Number(beyond[2]) } }
}
