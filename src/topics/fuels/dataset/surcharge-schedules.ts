import {
  boolIn,
  checked,
  neededDay,
  neededInstant,
  neededNumber,
  neededText,
  refuse,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'
import type { Schedule, SurchargeBand } from '../math/surcharge.ts'
import type { CarrierSchedule, SurchargeStore } from '../store/surcharges.ts'
import {
  indexColumn,
  indexIn,
  serviceColumns,
  serviceIn,
  sourceColumn,
  sourceIn,
} from './surcharge-fields.ts'

const aheadDays = 400
const charactersMax = 20_000
const right =
  'write each lower edge and its percent, then the end of the last band: 0=0;1.2=1;1.25=1.5;1.3, and +0.05=0.5 behind it when the table goes on in such steps'

export function createSurchargeSchedulesDataset(
  store: SurchargeStore,
  catalogue: CodeLookup,
): Dataset<CarrierSchedule> {
  return {
    name: 'surcharge-schedules',
    description:
      "Carriers' fuel surcharge tables: the weeks that no carrier publishes are matched to the price of the index.",
    columns: [
      ...serviceColumns,
      {
        name: 'valid_from',
        required: true,
        description: 'Day from which the table holds, until the next one does',
      },
      indexColumn,
      {
        name: 'effective_weekday',
        required: true,
        description: "1 = Monday to 7 = Sunday: when a week's price takes effect",
      },
      {
        name: 'bands',
        required: true,
        description:
          'Lower edges with their percent and the end of the last band, `0=0;1.2=1;1.25=1.5;1.3`; `+0.05=0.5` behind it: every further 0.05 adds 0.5',
      },
      {
        name: 'match',
        required: false,
        description: 'Whether weeks are matched here (true), or only served as published (false)',
      },
      sourceColumn,
      { name: 'retrieved_at', required: true, description: 'When the table was read' },
    ],
    example:
      'carrier,carrier_name,valid_from,effective_weekday,bands,source,retrieved_at\n' +
      'alder,Alder Freight Lines,2025-01-06,3,0=0;1.2=1;1.25=1.5;1.3;+0.05=0.5,https://alder.example/fuel,2025-01-06T13:05:00Z\n' +
      'basin,Basin Motor Freight,2025-01-06,1,2=15;2.1=16;2.2=17;2.3;+0.1=1,https://basin.example/fuel,2025-01-06T13:10:00Z\n',
    key: ['mode', 'carrier', 'service_level', 'valid_from'],
    check: (row, now) =>
      checked(() => {
        const effectiveWeekday = neededNumber(row, 'effective_weekday', 1, 7)
        if (!Number.isInteger(effectiveWeekday))
          refuse(
            'effective_weekday',
            effectiveWeekday,
            'is not a whole number',
            'write 1 (Monday) to 7 (Sunday)',
          )
        return {
          ...serviceIn(row),
          validFromOn: neededDay(row, 'valid_from', now, aheadDays),
          indexCode: indexIn(row, catalogue),
          effectiveWeekday,
          ...bandsOf(neededText(row, 'bands', right, charactersMax)),
          matched: boolIn(row, 'match', true),
          source: sourceIn(row),
          retrievedAt: neededInstant(row, 'retrieved_at', now),
        }
      }),
    write: (records, recordedAt) => store.writeSchedules(records, recordedAt),
  }
}

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
