import type { DeliveryTerms } from '../../delivery/math/terms.ts'

/** The fields that all rows of a block share. */
export interface BlockSeries {
  code: string
  name: string
  currency: string | null
  unit: string
  source: string
  /** The names of all sources of its rows; with one name, all rows have `source`. */
  sources: readonly string[]
  /** Present for a series of delivery periods. */
  delivery?: DeliveryTerms | undefined
}

/** A text for each row: `texts[index[row]]`. */
export interface RowTexts {
  texts: readonly string[]
  index: Uint32Array
}

/** The fields of bars in addition to their close. */
export interface BlockBars {
  startsAt: Float64Array
  open: Float64Array
  high: Float64Array
  low: Float64Array
  average: Float64Array
  count: Float64Array
}

/**
 * Rows of one series, oldest first, column by column: times in Unix ms, values with every stored
 * digit. The arrays may be longer than the block: only the first `length` entries are of it, and
 * only until the next block is requested.
 */
export interface PriceBlock {
  series: BlockSeries
  length: number
  observedAt: Float64Array
  value: Float64Array
  recordedAt: Float64Array
  bars: BlockBars | undefined
  /** The source of each row, where the series has several sources. */
  sources: RowTexts | undefined
}
