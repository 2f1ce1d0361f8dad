import { crc32, createInflateRaw } from 'node:zlib'
import { unpacked } from '../../lib/files/unpacked.ts'
import { FeedFault } from './fault.ts'

/** A file of an archive, packed as it is there until `read` is called. */
export interface ArchiveFile {
  name: string
  /** Its content, unpacked piece by piece. */
  read(): AsyncIterable<Uint8Array>
}

const pieceBytes = 1 << 16
/** No publisher packs so well: an archive that grows by more is meant to fill the memory. */
const growthMax = 200
const judgedBytesMin = 64 * 1024 * 1024

/**
 * Signatures of the parts of an archive: a file, the sizes that follow it, and the directory after
 * all files.
 */
const fileSignature = 0x04034b50
const sizesSignature = 0x08074b50
const endSignatures: readonly number[] = [0x02014b50, 0x06054b50, 0x06064b50, 0x08064b50]
const headBytes = 26
const stored = 0
const deflated = 8
const isEncrypted = 1
const sizesFollow = 8
/** A value of a four-byte size that means: see the extra fields. */
const inExtra = 0xffffffff

/**
 * The files of a ZIP archive in order, as it arrives; it is never held whole. The end of deflated
 * data is the one that zlib finds, because archives written as a stream have its size only after
 * it, and four bytes that look like the next part occur in one of twenty archives of 200 MB.
 * Checksums are compared. A file must be read or skipped before the next one is requested.
 */
export async function* archiveFiles(
  chunks: AsyncIterable<Uint8Array>,
  wanted: (name: string) => boolean,
): AsyncIterable<ArchiveFile> {
  const bytes = createPackedBytes(chunks)
  try {
    for (;;) {
      const signature = (await bytes.take(4)).readUInt32LE(0)
      if (endSignatures.includes(signature)) return
      if (signature !== fileSignature) throw damaged(undefined)
      const head = await headOf(bytes)
      if (wanted(head.name) || head.packedBytes === undefined) {
        const content = contentOf(head, bytes)
        if (wanted(head.name)) yield { name: head.name, read: () => content }
        // Skips the rest of a file that was not read to its end.
        for await (const _ of content);
      } else await bytes.skip(head.packedBytes)
    }
  } catch (error) {
    throw damaged(error)
  } finally {
    await bytes.close()
  }
}

/** The local header of a file. */
interface FileHead {
  name: string
  method: number
  /** Undefined where it follows the file. */
  packedBytes: number | undefined
  checksum: number
}

async function headOf(bytes: PackedBytes): Promise<FileHead> {
  const head = await bytes.take(headBytes)
  const flags = head.readUInt16LE(2)
  const method = head.readUInt16LE(4)
  const name = (await bytes.take(head.readUInt16LE(22))).toString('utf8')
  const extra = await bytes.take(head.readUInt16LE(24))
  const size = head.readUInt32LE(14)
  const hasSize = (flags & sizesFollow) === 0
  const isReadable = method === deflated || (method === stored && hasSize)
  if ((flags & isEncrypted) !== 0 || !isReadable) {
    throw new FeedFault('unreadable', `${name} is packed in a way that is not read`)
  }
  const packedBytes = hasSize ? (size === inExtra ? longSize(extra) : size) : undefined
  return { name, method, packedBytes, checksum: head.readUInt32LE(10) }
}

/** The packed size of a file of more than 4 GB: the second number of extra field 1. */
function longSize(extra: Buffer): number {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === 1) return Number(extra.readBigUInt64LE(at + 12))
  }
  throw damaged(undefined)
}

async function* contentOf(head: FileHead, bytes: PackedBytes): AsyncIterable<Uint8Array> {
  const packed = head.packedBytes === undefined ? bytes.rest() : bytes.next(head.packedBytes)
  let unpackedBytes = 0
  let checksum = 0
  try {
    for await (const piece of head.method === stored
      ? packed
      : unpacked(createInflateRaw({ chunkSize: pieceBytes }), packed, bytes.putBack)) {
      unpackedBytes += piece.length
      if (unpackedBytes > judgedBytesMin && unpackedBytes > growthMax * bytes.taken()) {
        throw new FeedFault('too_long', `${head.name} unpacks to more than can be meant`)
      }
      checksum = crc32(piece, checksum)
      yield piece
    }
    const wanted = head.packedBytes === undefined ? await checksumBehind(bytes) : head.checksum
    if (checksum !== wanted) throw damaged(undefined)
  } catch (error) {
    throw damaged(error)
  }
}

/** The checksum that follows a file; sizes of four or of eight bytes follow it. */
async function checksumBehind(bytes: PackedBytes): Promise<number> {
  const first = (await bytes.take(4)).readUInt32LE(0)
  const checksum = first === sizesSignature ? (await bytes.take(4)).readUInt32LE(0) : first
  await bytes.skip(8)
  const next = await bytes.take(4)
  bytes.putBack(next)
  if (next.toString('latin1', 0, 2) !== 'PK') await bytes.skip(8)
  return checksum
}

const damaged = (error: unknown): FeedFault =>
  error instanceof FeedFault
    ? error
    : new FeedFault('cut_short', 'the archive is damaged or ends too early')

/** The bytes of an archive as they come in, taken in whatever portions. Throws where they end too early. */
type PackedBytes = ReturnType<typeof createPackedBytes>

function createPackedBytes(chunks: AsyncIterable<Uint8Array>) {
  const source = chunks[Symbol.asyncIterator]()
  const waiting: Uint8Array[] = []
  let taken = 0
  /** At most so many bytes, and at least one. */
  const piece = async (most: number): Promise<Uint8Array> => {
    let first = waiting.shift()
    while (!first || first.length === 0) {
      const next = await source.next()
      if (next.done) throw damaged(undefined)
      first = next.value
    }
    if (first.length > most) waiting.unshift(first.subarray(most))
    const portion = first.length > most ? first.subarray(0, most) : first
    taken += portion.length
    return portion
  }
  /** So many bytes, in pieces. */
  async function* next(count: number): AsyncIterable<Uint8Array> {
    for (let left = count; left > 0; ) {
      const portion = await piece(left)
      left -= portion.length
      yield portion
    }
  }
  return {
    next,
    /** All remaining bytes, in pieces; unused ones are put back. */
    rest: () => next(Number.POSITIVE_INFINITY),
    async take(count: number): Promise<Buffer> {
      const portions: Uint8Array[] = []
      for await (const portion of next(count)) portions.push(portion)
      return Buffer.concat(portions, count)
    },
    async skip(count: number) {
      for await (const _ of next(count));
    },
    putBack(portion: Uint8Array) {
      if (portion.length === 0) return
      waiting.unshift(portion)
      taken -= portion.length
    },
    /** How many were taken so far. */
    taken: () => taken,
    close: async () => void (await source.return?.()),
  }
}

/** A whole body as the pieces that `archiveFiles` wants. */
export async function* pieces(bytes: Uint8Array, size = pieceBytes): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Which lines are read: by their first bytes, of which this many are enough to know. */
export interface WantedLines {
  headBytes: number
  isWanted(head: string): boolean
}

/**
 * The lines of a text that are wanted, as they come in, without their line breaks, and together those that end
 * in one piece: to wait for each of a hundred thousand takes longer than to find it. Of the others nothing is
 * kept. A line that is read is never longer than `bytesMax`.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  { headBytes, isWanted }: WantedLines,
  bytesMax: number,
): AsyncIterable<Buffer[]> {
  const isRead = (text: Buffer, from: number, to: number) =>
    isWanted(text.toString('latin1', from, Math.min(from + headBytes, to)))
  let begun: Buffer[] = []
  let begunBytes = 0
  /** Whether the current line is wanted; undefined while too little of it has arrived. */
  let isBegunWanted: boolean | undefined
  /** The line that has begun, with its last part, where it is wanted. */
  const ended = (end: Buffer): Buffer | undefined => {
    const line = begun.length === 0 ? end : Buffer.concat([...begun, end])
    const isLineWanted = isBegunWanted ?? isRead(line, 0, line.length)
    begun = []
    begunBytes = 0
    isBegunWanted = undefined
    return isLineWanted ? line : undefined
  }
  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const lines: Buffer[] = []
    let from = 0
    for (let at = buffer.indexOf(10); at >= 0; at = buffer.indexOf(10, from)) {
      if (from === 0) {
        const line = ended(buffer.subarray(0, at))
        if (line) lines.push(line)
      } else if (isRead(buffer, from, at)) lines.push(buffer.subarray(from, at))
      from = at + 1
    }
    if (lines.length > 0) yield lines
    if (from === buffer.length || isBegunWanted === false) continue
    // Copied, because zlib may overwrite its output buffer.
    begun.push(Buffer.from(buffer.subarray(from)))
    begunBytes += buffer.length - from
    if (begunBytes > bytesMax) throw new FeedFault('too_long', 'a line is longer than can be meant')
    if (isBegunWanted === undefined && begunBytes >= headBytes) {
      isBegunWanted = isRead(Buffer.concat(begun), 0, begunBytes)
      if (!isBegunWanted) begun = []
    }
  }
  const last = ended(Buffer.alloc(0))
  if (last && last.length > 0) yield [last]
}
