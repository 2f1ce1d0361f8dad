import type { WriteCounts } from '../../../src/database/write-counts.ts'
import type { Declared, RowContext } from '../../../src/datasets/dataset.ts'
import type { Dataset } from '../../../src/feeds/files/dataset.ts'

const nothingKnown: Omit<RowContext, 'now'> = {
  catalogue: { find: () => undefined, nearest: () => undefined },
  exchangeWords: ['exch'],
  disclosureId: () => undefined,
  point: () => undefined,
}

/** A declared dataset with what its rows are checked with and where they are written. */
export const datasetOf = <R>(
  declared: Declared<R>,
  write: (records: readonly R[], recordedAt: number) => WriteCounts,
  known: Partial<RowContext> = {},
): Dataset<R> => ({
  ...declared,
  check: (row, now) => declared.check(row, { ...nothingKnown, ...known, now }),
  write,
})
