import type { DatasetReads } from '../../../database/dataset-reads.ts'
import { datasetStore, type Stored } from '../../../database/dataset-store.ts'
import { type StateMonth, stateProduction } from '../dataset/wells.ts'

export type StateMonthRow = Stored<StateMonth>

/** All states of a month together. */
export interface NationalMonth {
  month: string
  oilBbl: number
  gasMcf: number
  /** Null where a state does not report it. */
  waterBbl: number | null
  provisional: boolean
  /** The distinct sources of its states. */
  sources: string[]
}

export function createStateProductionStore(reads: DatasetReads) {
  const store = datasetStore<StateMonth>(reads, stateProduction)
  const ofMonth = store.stored('WHERE month = ? ORDER BY oil_bbl DESC, state_code')
  const ofState = store.stored('WHERE state_code = ? AND month >= ? AND month < ? ORDER BY month')
  const newestOf = store.stored('WHERE state_code = ? ORDER BY month DESC LIMIT 1')
  const newestMonth = store.value<string>('max(month)')
  const states = store.values<string>('DISTINCT state_code', 'ORDER BY state_code')
  return {
    /**
     * One transaction. The same numbers from the same source are unchanged; anything else for a known
     * month of a state replaces it.
     */
    write: store.write,
    /** Every state of a month, most oil first. */
    ofMonth: (month: string): StateMonthRow[] => ofMonth.all(month),
    /** The months of one state in `[fromMonth, toMonth)`, oldest first. */
    ofState: (...range: [state: string, fromMonth: string, toMonth: string]): StateMonthRow[] =>
      ofState.all(...range),
    newestOf: (state: string): StateMonthRow | undefined => newestOf.get(state),
    /** The sum of the states that there are of a month; undefined where there is none. */
    national(month: string): NationalMonth | undefined {
      const rows = ofMonth.all(month)
      if (rows.length === 0) return undefined
      const sum = (value: (row: StateMonthRow) => number) =>
        rows.reduce((all, row) => all + value(row), 0)
      return {
        month,
        oilBbl: sum(row => row.oilBbl),
        gasMcf: sum(row => row.gasMcf),
        waterBbl: rows.some(row => row.waterBbl === null) ? null : sum(row => row.waterBbl!),
        provisional: rows.some(row => row.provisional),
        sources: [...new Set(rows.map(row => row.source))].sort(),
      }
    },
    newestMonth: (): string | undefined => newestMonth(),
    /** Codes of the states that have anything, in their order. */
    states: (): string[] => states(),
    /** Rows in all. */
    total: store.count(),
  }
}
