import type { UndoneRows } from '../../../../database/undo/undone-rows.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import { type BigChange, createBigChanges } from '../../math/big-changes.ts'
import type { Change } from '../../store/observations.ts'

/** The changes of a batch under way. */
export interface Tally {
  see(change: Change): void
  biggest(): BigChange[]
  /** Writes that changed something. */
  writes: number
  isDataset: boolean
  isGuarded: boolean
  asRecorded: boolean
  replaces: boolean
  /** Rows of datasets that undos took back. */
  undone: Map<string, UndoneRows>
}

export function createTally(
  catalogue: Catalogue,
  isDataset: boolean,
  checks: Pick<Tally, 'isGuarded' | 'asRecorded' | 'replaces'>,
  before: readonly BigChange[] = [],
): Tally {
  const biggest = createBigChanges()
  for (const change of before)
    biggest.see(change.code, change.observedAt, change.before, change.after)
  return {
    writes: 0,
    undone: new Map(),
    isDataset,
    ...checks,
    see({ seriesId, inserted, revised, replaced }) {
      const { code } = catalogue.byId(seriesId)
      for (const [i, point] of revised.entries())
        biggest.see(code, point.observedAt, replaced[i]!, point.value)
      let before = inserted[0]
      for (const point of inserted) {
        biggest.see(code, point.observedAt, before!.value, point.value)
        before = point
      }
    },
    biggest: biggest.list,
  }
}
