import type { Database } from 'bun:sqlite'
import { createRegionalStore, type Regional, type RegionalStore } from './regional.ts'

/** Active hydraulic fracturing crews of a region on a day. */
export interface FracSpreads extends Regional {
  active: number
}

export type FracSpreadStore = RegionalStore<FracSpreads>

export const createFracSpreadStore = (db: Database): FracSpreadStore =>
  createRegionalStore<FracSpreads>(db, {
    table: 'frac_spreads',
    measure: 'active',
    columns: { region: 'region', countedOn: 'counted_on', active: 'active', source: 'source' },
  })
