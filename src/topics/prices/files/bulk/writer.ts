import type { PriceBlock } from '../../math/block.ts'

/** Makes the bytes of a file of prices, block by block; the same blocks give the same bytes. */
export interface BulkWriter {
  begin(): Uint8Array
  block(block: PriceBlock): Iterable<Uint8Array>
  end(): Iterable<Uint8Array>
}
