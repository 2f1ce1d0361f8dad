import type { SQLQueryBindings } from 'bun:sqlite'

/**
 * A column value as JSON without loss. JSON has no bytes, infinity or negative zero, and parsers
 * read its numbers as doubles, so these become text in an object: `hex` for bytes, `integer` beyond
 * 2^53, `real` for infinite numbers and negative zero.
 */
export type Cell =
  | string
  | number
  | null
  | { hex: string }
  | { integer: string }
  | { real: 'Infinity' | '-Infinity' | '-0' }

/** The values that SQLite returns where integers are read as `bigint`. */
export type StoredValue = string | number | bigint | Uint8Array | null

export function cellOf(value: StoredValue): Cell {
  if (typeof value === 'number') return realCell(value)
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : { integer: String(value) }
  }
  return value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value
}

function realCell(value: number): Cell {
  if (value === Number.POSITIVE_INFINITY) return { real: 'Infinity' }
  if (value === Number.NEGATIVE_INFINITY) return { real: '-Infinity' }
  return Object.is(value, -0) ? { real: '-0' } : value
}

export function boundOf(cell: Cell): SQLQueryBindings {
  if (typeof cell !== 'object' || cell === null) return cell
  if ('hex' in cell) return Buffer.from(cell.hex, 'hex')
  return 'integer' in cell ? BigInt(cell.integer) : Number(cell.real)
}

/** The cells of a key as the log has them, each number exactly. */
export const keyCells = (json: string): Cell[] =>
  (JSON.parse(json, exactNumber) as (Cell | Cell[])[]).map(cell =>
    // Earlier versions logged a text that is itself JSON as the parsed value.
    Array.isArray(cell) ? JSON.stringify(cell) : cell,
  )

/** Parses an integer from its source text, because a double may have lost digits. */
function exactNumber(this: unknown, _name: string, value: unknown, context?: { source?: string }) {
  if (typeof value !== 'number') return value
  const source = context?.source ?? ''
  return /^-?\d+$/.test(source) ? cellOf(BigInt(source)) : cellOf(value)
}

/** Rows of one table as they are now: those that are there, and keys of those that are not. */
export interface TableDelta {
  table: string
  columns: readonly string[]
  rows: Cell[][]
  key: readonly string[]
  gone: Cell[][]
}

/**
 * All rows of a series in the closed range of moments; other rows of a replica in that range are
 * deleted. Bars are those of every hour and day that begins in the range or contains its first
 * moment.
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
 * The changes from one sequence number to another, as rows and not as operations: applying them
 * twice, or late after newer ones of the same rows, gives the same result.
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
