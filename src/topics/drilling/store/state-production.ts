import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { lazy } from '../../../database/statement.ts'
import { type ColumnMap, selected, upsert } from '../../../database/upsert.ts'
import { countsOf, type WriteCounts } from '../../../database/write-counts.ts'

/** What a state produced in a month. */
export interface StateMonth {
  /** Two letters. */
  state: string
  /** `YYYY-MM`. */
  month: string
  oilBbl: number
  gasMcf: number
  /** Null: not reported. */
  waterBbl: number | null
  /** Not everybody has filed yet. */
  provisional: boolean
  source: string
}

export type StateMonthRow = StateMonth & { recordedAt: number }

/** All states of a month together. */
export interface NationalMonth {
  month: string
  oilBbl: number
  gasMcf: number
  /** Null where a state does not report it. */
  waterBbl: number | null
  provisional: boolean
  /** Of its states, each once. */
  sources: string[]
}

export interface StateProductionStore {
  /**
   * One transaction. The same numbers from the same source are unchanged; anything else for a known
   * month of a state replaces it.
   */
  write(rows: readonly StateMonth[], recordedAt: number): WriteCounts
  /** Every state of a month, most oil first. */
  ofMonth(month: string): StateMonthRow[]
  /** Of one state in the months of `[fromMonth, toMonth)`, oldest first. */
  ofState(state: string, fromMonth: string, toMonth: string): StateMonthRow[]
  newestOf(state: string): StateMonthRow | undefined
  /** The sum of the states that there are of a month; undefined where there is none. */
  national(month: string): NationalMonth | undefined
  newestMonth(): string | undefined
  /** Codes of the states that have anything, in their order. */
  states(): string[]
  /** Rows in all. */
  total(): number
}

type Row = Omit<StateMonth, 'provisional'> & { provisional: number }
type StoredRow = Row & { recordedAt: number }

const columns: ColumnMap<Row> = {
  state: 'state_code',
  month: 'month',
  oilBbl: 'oil_bbl',
  gasMcf: 'gas_mcf',
  waterBbl: 'water_bbl',
  provisional: 'provisional',
  source: 'source',
}

const rowOf = (month: StateMonth): Row => ({ ...month, provisional: Number(month.provisional) })
const monthOf = (row: StoredRow): StateMonthRow => ({
  ...row,
  provisional: row.provisional === 1,
})

export function createStateProductionStore(db: Database): StateProductionStore {
  const write = upsert<Row>(db, 'state_production', columns, ['state', 'month'])
  const select = `SELECT ${selected(columns)}, recorded_at AS recordedAt FROM state_production`
  const ofMonth = lazy<StoredRow, [string]>(
    db,
    `${select} WHERE month = ? ORDER BY oil_bbl DESC, state_code`,
  )
  const ofState = lazy<StoredRow, [string, string, string]>(
    db,
    `${select} WHERE state_code = ? AND month >= ? AND month < ? ORDER BY month`,
  )
  const newestOf = lazy<StoredRow, [string]>(
    db,
    `${select} WHERE state_code = ? ORDER BY month DESC LIMIT 1`,
  )
  const newestMonth = lazy<{ month: string | null }, []>(
    db,
    'SELECT max(month) AS month FROM state_production',
  )
  const states = lazy<{ state: string }, []>(
    db,
    'SELECT DISTINCT state_code AS state FROM state_production ORDER BY state_code',
  )
  const total = lazy<{ n: number }, []>(db, 'SELECT count(*) AS n FROM state_production')
  const rowsOf = (month: string) => ofMonth.all(month).map(monthOf)
  return {
    write: (rows, recordedAt) =>
      transact(db, () => countsOf(rows.map(row => write(rowOf(row), recordedAt)))),
    ofMonth: rowsOf,
    ofState: (state, fromMonth, toMonth) => ofState.all(state, fromMonth, toMonth).map(monthOf),
    newestOf(state) {
      const row = newestOf.get(state)
      return row ? monthOf(row) : undefined
    },
    national(month) {
      const rows = rowsOf(month)
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
    newestMonth: () => newestMonth.get()?.month ?? undefined,
    states: () => states.all().map(row => row.state),
    total: () => total.get()!.n,
  }
}
