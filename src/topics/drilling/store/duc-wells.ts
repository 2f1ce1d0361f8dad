import type { Database } from 'bun:sqlite'
import { createRegionalStore, type Regional, type RegionalStore } from './regional.ts'

/** Drilled but uncompleted wells of a region in a month, which is dated in its middle. */
export interface DucWells extends Regional {
  duc: number
  /** Of the month; null where a source does not say. */
  drilled: number | null
  completed: number | null
}

export type DucWellStore = RegionalStore<DucWells>

export const createDucWellStore = (db: Database): DucWellStore =>
  createRegionalStore<DucWells>(db, {
    table: 'duc_wells',
    measure: 'duc',
    columns: {
      region: 'region',
      countedOn: 'counted_on',
      source: 'source',
      duc: 'duc',
      drilled: 'drilled',
      completed: 'completed',
    },
  })
