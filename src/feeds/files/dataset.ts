import type { WriteCounts } from '../../database/write-counts.ts'
import type { Declared } from '../../datasets/dataset.ts'
import type { DatasetFault, DatasetRow } from '../../datasets/fields.ts'

/** A dataset of this instance: as it is declared, and how its rows are judged and written. */
export interface Dataset<T> extends Omit<Declared, 'check'> {
  /** The record of a row given by column: text from CSV, any JSON value otherwise. */
  check(row: DatasetRow, now: number): { record: T } | DatasetFault
  /**
   * One transaction: all records or none. The same record again is unchanged; another value for a
   * known key is a revision.
   */
  write(records: readonly T[], recordedAt: number): WriteCounts
}
