import {
  boolIn,
  checked,
  type DatasetRow,
  neededMonth,
  neededNumber,
  neededText,
  numberIn,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import { usStates } from '../../geography/math/us-states.ts'
import type { StateMonth, StateProductionStore } from '../store/state-production.ts'
import { sourceColumn } from './well-fields.ts'

/** Several times what the largest state brings in a month. */
const [oilMax, gasMax, waterMax] = [1e9, 1e10, 1e10]

const optional = (name: string, description: string) => ({ name, required: false, description })

export function createStateProductionDataset(
  store: Pick<StateProductionStore, 'write'>,
): Dataset<StateMonth> {
  return {
    name: 'state-production',
    description:
      'What states produced in a month, all wells together, as agencies publish it. The country is the sum of its states.',
    columns: [
      { name: 'state', required: true, description: 'Two letters' },
      {
        name: 'month',
        required: true,
        description: 'Month, `2026-08`; a day stands for its month',
      },
      {
        name: 'oil_bbl',
        required: true,
        description: 'Crude oil in barrels in the whole month; 0 where there is none',
      },
      {
        name: 'gas_mcf',
        required: true,
        description: 'Natural gas in thousand cubic feet in the whole month; 0 where there is none',
      },
      optional('water_bbl', 'Water in barrels'),
      optional('provisional', 'true while not everybody has filed; default: false'),
      sourceColumn,
    ],
    example:
      'state,month,oil_bbl,gas_mcf,provisional,source\n' +
      'TX,2026-08,179800000,1085000000,true,EIA\n' +
      'NM,2026-08,66650000,341000000,true,EIA\n',
    key: ['state', 'month'],
    check: (row, now) =>
      checked(() => ({
        state: stateOf(row),
        month: neededMonth(row, 'month', now),
        oilBbl: neededNumber(row, 'oil_bbl', 0, oilMax),
        gasMcf: neededNumber(row, 'gas_mcf', 0, gasMax),
        waterBbl: numberIn(row, 'water_bbl', 0, waterMax) ?? null,
        provisional: boolIn(row, 'provisional', false),
        source: textIn(row, 'source', 40) ?? 'import',
      })),
    guarded: {
      cadence: 'monthly',
      time: 'month',
      columns: {
        oil_bbl: { leastMove: 50_000 },
        gas_mcf: { leastMove: 50_000 },
        water_bbl: { leastMove: 50_000 },
      },
      numbersOf: ({ state, month, oilBbl, gasMcf, waterBbl }) => [
        {
          line: { state },
          time: month,
          values: { oil_bbl: oilBbl, gas_mcf: gasMcf, water_bbl: waterBbl },
        },
      ],
    },
    write: (records, recordedAt) => store.write(records, recordedAt),
  }
}

const right = 'write the two letters of a state, such as TX'

function stateOf(row: DatasetRow): string {
  const text = neededText(row, 'state', right)
  const code = text.toUpperCase()
  const state = usStates.find(usState => usState.code === code)
  if (code === 'US') refuse('state', text, 'is the country, which is the sum of its states', right)
  return state?.code ?? refuse('state', text, 'is not a state', right)
}
