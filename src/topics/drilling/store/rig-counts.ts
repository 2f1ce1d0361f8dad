import type { Database } from 'bun:sqlite'
import { createRegionalStore, type Regional, type RegionalStore } from './regional.ts'

/** Active rotary rigs of a region on a day. */
export interface RigCount extends Regional {
  total: number
  /** The three are null together, where a source has the total alone. */
  oil: number | null
  gas: number | null
  misc: number | null
  /** `month`: the mean of a month's counts, dated in its middle. */
  span: 'week' | 'month'
}

export type RigCountStore = RegionalStore<RigCount>

export const createRigCountStore = (db: Database): RigCountStore =>
  createRegionalStore<RigCount>(db, {
    table: 'rig_counts',
    measure: 'total',
    columns: {
      region: 'region',
      countedOn: 'counted_on',
      source: 'source',
      total: 'total',
      oil: 'oil',
      gas: 'gas',
      misc: 'misc',
      span: 'span',
    },
  })
