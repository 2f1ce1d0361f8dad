import type { WriteCounts } from '../../database/write-counts.ts'
import type { DatasetFault } from '../../datasets/fields.ts'
import type { Cadence } from '../../topics/catalogue/math/catalogue.ts'

/** How a column of a dataset moves that guards follow. */
export interface GuardedColumn {
  /** Smaller moves are none. */
  leastMove?: number
  /** It honestly stays at a value: that is not listed. */
  mayRepeat?: boolean
  /** It honestly changes its sign or becomes zero. */
  mayCross?: boolean
}

/** The numbers of a record, in the columns and units in which its rows are read again. */
export interface GuardedNumbers {
  /** By the columns that tell lines apart: a region, a contract. */
  line: Readonly<Record<string, string>>
  /** In the column of its time. */
  time: string | number
  values: Readonly<Record<string, number | null>>
}

/** What guards at the door follow of a dataset: lines of numbers in time. */
export interface GuardedDataset<T> {
  /** How far apart the rows of a line lie. */
  cadence: Cadence
  /** The column that rows of a line are in the order of. */
  time: string
  columns: Readonly<Record<string, GuardedColumn>>
  numbersOf(record: T): readonly GuardedNumbers[]
}

/** A kind of data that files bring beside prices: how its rows are read, judged and written. */
export interface Dataset<T> {
  /** As after `--dataset` and in `/admin/v1/datasets/{name}`. */
  name: string
  /** One sentence: what it is and whence it may come. */
  description: string
  columns: readonly { name: string; required: boolean; description: string }[]
  /** Header and two rows of CSV, as they stand in the documentation. */
  example: string
  /**
   * The columns that tell rows apart: of those that agree in all of them the last of a file counts.
   */
  key?: readonly string[]
  /**
   * Rows of one transaction of an import, where the usual thousand would hold up the requests
   * behind it.
   */
  batchMax?: number
  /**
   * For files with a column for each of something: the column that its name stands for, and the one
   * that its cells are of.
   */
  wide?: { name: string; value: string }
  /** The record of a row given by column: text from CSV, any JSON value otherwise. */
  check(row: Readonly<Record<string, unknown>>, now: number): { record: T } | DatasetFault
  /** Undefined where its rows do not follow each other: bounds alone judge them. */
  guarded?: GuardedDataset<T>
  /**
   * One transaction: all records or none. The same record again is unchanged; another value for a
   * known key is a revision.
   */
  write(records: readonly T[], recordedAt: number): WriteCounts
}
