import type { Database } from 'bun:sqlite'
import { type Regional, type RegionalStore, regionalStore } from './regional.ts'

/** Active hydraulic fracturing crews of a region on a day. */
export interface FracSpreads extends Regional {
  active: number
}

export type FracSpreadStore = RegionalStore<FracSpreads>

export const fracSpreadStore = (db: Database): FracSpreadStore =>
  regionalStore<FracSpreads>(db, {
    table: 'frac_spreads',
    measure: 'active',
    columns: { region: 'region', countedOn: 'counted_on', active: 'active', source: 'source' },
  })
