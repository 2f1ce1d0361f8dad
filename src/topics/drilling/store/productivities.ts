import type { Database } from 'bun:sqlite'
import { createRegionalStore, type Regional, type RegionalStore } from './regional.ts'

/**
 * What drilling brings in a basin in a month: oil in barrels a day, gas in thousand cubic feet a
 * day.
 */
export interface Productivity extends Regional {
  rigs: number
  /** Of the new wells of one rig. */
  newWellOil: number
  newWellGas: number
  /** What the wells of before gave less than the month before: mostly negative. */
  legacyOil: number
  legacyGas: number
  totalOil: number
  totalGas: number
}

export type ProductivityStore = RegionalStore<Productivity>

export const createProductivityStore = (db: Database): ProductivityStore =>
  createRegionalStore<Productivity>(db, {
    table: 'drilling_productivities',
    measure: undefined,
    columns: {
      region: 'region',
      countedOn: 'counted_on',
      source: 'source',
      rigs: 'rigs',
      newWellOil: 'new_well_oil',
      newWellGas: 'new_well_gas',
      legacyOil: 'legacy_oil',
      legacyGas: 'legacy_gas',
      totalOil: 'total_oil',
      totalGas: 'total_gas',
    },
  })
