import type { UndoneRows } from '../../../../database/undo/undone-rows.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import { type BigChange, createBigChanges } from '../../math/big-changes.ts'
import type { Change } from '../../store/observations.ts'

/** The changes of a batch under way. */
export type Tally = ReturnType<typeof createTally>

export function createTally(
  catalogue: Catalogue,
  isDataset: boolean,
  checks: { isGuarded: boolean; asRecorded: boolean; replaces: boolean },
  before: readonly BigChange[] = [],
) {
  const biggest = createBigChanges()
  for (const change of before)
    biggest.add(change.code, change.observedAt, change.before, change.after)
  return {
    /** Writes that changed something. */
    writes: 0,
    /** Rows of datasets that undos took back. */
    undone: new Map<string, UndoneRows>(),
    isDataset,
    ...checks,
    see({ seriesId, inserted, revised, replaced }: Change) {
      const { code } = catalogue.byId(seriesId)
      for (const [i, point] of revised.entries())
        biggest.add(code, point.observedAt, replaced[i]!, point.value)
      let before = inserted[0]
      for (const point of inserted) {
        biggest.add(code, point.observedAt, before!.value, point.value)
        before = point
      }
    },
    biggest: biggest.list,
  }
}
