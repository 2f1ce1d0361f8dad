import { withoutMark } from './source.ts'

const lineFeed = 10
const carriageReturn = 13
const space = 32
const quote = 34

/**
 * A record with line breaks inside quotes; beyond this an opening quote is taken for a slip and
 * only its own line is given up.
 */
const quotedMaxBytes = 64 * 1024
const recordMaxBytes = 1024 * 1024
const blockMax = 32_768

/**
 * Consecutive records of a file: record `i` is `bytes[starts[i], ends[i])`, without its line end,
 * and begins on line `lines[i]` of the file (from 1). The arrays are used again: a block is valid
 * until the next is requested.
 */
export interface Block {
  bytes: Uint8Array
  /** Records before this one are the header. */
  first: number
  count: number
  starts: Int32Array
  ends: Int32Array
  lines: Float64Array
}

/**
 * The separator of records. Without a separator (NDJSON) each line is a record and quotes have no
 * meaning.
 */
export interface Framing {
  /** The name of the file, for messages. */
  name: string
  separator: number | undefined
  /** 10, or 13 for files that end their lines with a carriage return alone. */
  lineEnd: number
}

/**
 * Cuts a stream of bytes into records, empty lines left out, in memory that does not grow with the
 * file. Throws on a record over 1 MB.
 */
export async function* recordsOf(
  chunks: AsyncIterable<Uint8Array>,
  framing: Framing,
): AsyncGenerator<Block> {
  const cutter = cutterOf(framing)
  let carry: Uint8Array = new Uint8Array(0)
  let first = true
  for await (let chunk of chunks) {
    if (first && carry.length + chunk.length < 3) {
      carry = Buffer.concat([carry, chunk])
      continue
    }
    if (carry.length > 0) chunk = Buffer.concat([carry, chunk])
    if (first) chunk = withoutMark(chunk)
    first = false
    let from = 0
    do {
      from = cutter.cut(chunk, from, false)
      if (cutter.block.count > 0) yield cutter.block
    } while (cutter.block.count === blockMax)
    carry = chunk.subarray(from)
    if (carry.length > recordMaxBytes)
      throw new Error(
        `${framing.name}: line ${cutter.line()} is longer than 1 MB: one row a line is expected`,
      )
  }
  let from = 0
  do {
    from = cutter.cut(carry, from, true)
    if (cutter.block.count > 0) yield cutter.block
  } while (from < carry.length)
}

function cutterOf(framing: Framing) {
  const { separator, lineEnd } = framing
  const starts = new Int32Array(blockMax)
  const ends = new Int32Array(blockMax)
  const lines = new Float64Array(blockMax)
  const block: Block = { bytes: new Uint8Array(0), first: 0, count: 0, starts, ends, lines }
  let line = 1
  const nextQuote = (bytes: Uint8Array, from: number) => {
    const at = separator === undefined ? -1 : bytes.indexOf(quote, from)
    return at < 0 ? bytes.length : at
  }
  return {
    block,
    /** The line that the next record begins on. */
    line: () => line,
    /**
     * Fills the block from `bytes[from…]`; answers where the first record begins that is not in it.
     * `last`: no bytes follow.
     */
    cut(bytes: Uint8Array, from: number, last: boolean) {
      let count = 0
      let start = from
      let quoteAt = nextQuote(bytes, from)
      while (start < bytes.length && count < blockMax) {
        let end = bytes.indexOf(lineEnd, start)
        if (end < 0 && !last) break
        if (end < 0) end = bytes.length
        const begin = line
        if (quoteAt < end) {
          const closed = quotedEnd(bytes, start, separator!, lineEnd, last)
          if (closed === open && !last && bytes.length - start <= quotedMaxBytes) break
          // Judged by its length, never by how much of the file happens to be at hand: every
          // reading of a file must give the same records.
          if (closed >= 0 && closed - start <= quotedMaxBytes) {
            for (
              let p = bytes.indexOf(lineEnd, start);
              p >= 0 && p < closed;
              p = bytes.indexOf(lineEnd, p + 1)
            )
              line += 1
            end = closed
          }
          quoteAt = nextQuote(bytes, end)
        }
        line += 1
        const trimmed =
          lineEnd === lineFeed && end > start && bytes[end - 1] === carriageReturn ? end - 1 : end
        if (trimmed > start) {
          starts[count] = start
          ends[count] = trimmed
          lines[count] = begin
          count += 1
        }
        start = end + 1
      }
      block.bytes = bytes
      block.count = count
      return Math.min(start, bytes.length)
    },
  }
}

const open = -1
const malformed = -2

/**
 * Where a record that has quotes ends (its line end); `open` when the bytes end inside a quoted
 * field, `malformed` when text follows a closing quote.
 */
function quotedEnd(
  bytes: Uint8Array,
  start: number,
  separator: number,
  lineEnd: number,
  last: boolean,
): number {
  let p = start
  for (;;) {
    while (bytes[p] === space) p += 1
    if (bytes[p] === quote) {
      p = closingQuote(bytes, p + 1)
      if (p < 0) return open
      while (bytes[p] === space || (bytes[p] === carriageReturn && lineEnd !== carriageReturn))
        p += 1
      if (p < bytes.length && bytes[p] !== separator && bytes[p] !== lineEnd) return malformed
    } else {
      while (p < bytes.length && bytes[p] !== separator && bytes[p] !== lineEnd) p += 1
    }
    if (p >= bytes.length) return last ? bytes.length : open
    if (bytes[p] === lineEnd) return p
    p += 1
  }
}

/** The position after the quote that closes a field; -1 when it is not there. */
function closingQuote(bytes: Uint8Array, from: number): number {
  for (let p = bytes.indexOf(quote, from); p >= 0; p = bytes.indexOf(quote, p + 2)) {
    if (bytes[p + 1] !== quote) return p + 1
  }
  return -1
}
