import type { SQLQueryBindings } from 'bun:sqlite'

/** A value of a column as JSON; bytes as hexadecimal text in an object. */
export type Cell = string | number | null | { hex: string }

export const cellOf = (value: unknown): Cell =>
  value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : (value as Cell)

export const boundOf = (cell: Cell): SQLQueryBindings =>
  typeof cell === 'object' && cell !== null ? Buffer.from(cell.hex, 'hex') : cell

/** Rows of one table as they are now: those that are there, and keys of those that are not. */
export interface TableDelta {
  table: string
  columns: readonly string[]
  rows: Cell[][]
  key: readonly string[]
  gone: Cell[][]
}

/**
 * All that a series has in the closed range of moments; whatever else a copy has there is gone.
 * Bars are those of every hour and day that begins in the range or that its first moment is in.
 */
export interface RangeDelta {
  seriesId: number
  from: number
  to: number
  observations: Cell[][]
  observation_revisions: Cell[][]
  bars: Cell[][]
}

/**
 * What changed after one sequence number up to another, as rows and not as operations: applied
 * twice, or after a newer one of the same rows was overtaken, it ends in the same.
 */
export interface Delta {
  after: number
  upTo: number
  /** False: a part of a larger one follows; `upTo` is reached with the last. */
  isLast: boolean
  /** The moment at which it was read, Unix ms. */
  readAt: number
  tables: TableDelta[]
  ranges: RangeDelta[]
  /** The last number that each table with numbers that never come again has given. */
  counters: Record<string, number>
}
