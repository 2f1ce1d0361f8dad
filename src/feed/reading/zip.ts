import { createInflateRaw } from 'node:zlib'
import { Unzip, type UnzipDecoder, type UnzipFile, UnzipPassThrough } from 'fflate'
import { FeedFault } from './fault.ts'

/** A file of an archive, packed as it lies there until `read` is called. */
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
 * The files of a ZIP archive in their order, while it comes in. The archive is parsed by fflate, what is
 * deflated is inflated by zlib, which is several times as fast; neither is ever held whole. A file must be
 * read or left before the next one is asked for.
 */
export async function* archiveFiles(
  chunks: AsyncIterable<Uint8Array>,
  wanted: (name: string) => boolean,
): AsyncIterable<ArchiveFile> {
  const files: UnzipFile[] = []
  const archive = new Unzip(file => void files.push(file))
  archive.register(UnzipPassThrough)
  archive.register(Packed)
  const source = chunks[Symbol.asyncIterator]()
  const state = { ended: false, packed: 0 }
  const pull = async (): Promise<void> => {
    const next = await source.next()
    state.ended = next.done === true
    state.packed += next.value?.length ?? 0
    archive.push(next.value ?? new Uint8Array(0), state.ended)
  }
  try {
    for (;;) {
      const file = files.shift()
      if (!file) {
        if (state.ended) return
        await pull()
      } else if (wanted(file.name)) {
        const content = contentOf(file, pull, state)
        yield { name: file.name, read: () => content }
        // Whatever of it was not read is passed over.
        for await (const _ of content);
      }
    }
  } catch (error) {
    throw damaged(error)
  } finally {
    await source.return?.()
  }
}

/** Hands what is packed on as it is; `contentOf` unpacks it. */
class Packed implements UnzipDecoder {
  static compression = 8
  ondata!: UnzipDecoder['ondata']
  push(chunk: Uint8Array<ArrayBuffer>, final: boolean): void {
    this.ondata(null, chunk, final)
  }
}

async function* contentOf(
  file: UnzipFile,
  pull: () => Promise<void>,
  state: { ended: boolean; packed: number },
): AsyncIterable<Uint8Array> {
  const packed: Uint8Array[] = []
  let complete = false
  let failure: unknown
  file.ondata = (error, chunk, final) => {
    failure ??= error
    if (chunk.length > 0) packed.push(chunk.slice())
    complete ||= final
  }
  file.start()
  const isStored = file.compression === 0
  let unpacked = 0
  async function* pieces(): AsyncIterable<Uint8Array> {
    for (;;) {
      if (failure) throw failure
      const piece = packed.shift()
      if (piece) yield piece
      else if (complete) return
      else if (state.ended) throw new FeedFault('cut_short', `the archive ends within ${file.name}`)
      else await pull()
    }
  }
  try {
    for await (const piece of isStored ? pieces() : inflated(pieces())) {
      unpacked += piece.length
      if (unpacked > judgedBytesMin && unpacked > growthMax * state.packed) {
        throw new FeedFault('too_long', `${file.name} unpacks to more than can be meant`)
      }
      yield piece
    }
  } catch (error) {
    throw damaged(error)
  }
}

const damaged = (error: unknown): FeedFault =>
  error instanceof FeedFault
    ? error
    : new FeedFault('cut_short', 'the archive is damaged or ends too early')

/** Raw deflate through zlib, one piece after the other, so that neither side runs ahead. */
async function* inflated(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const inflate = createInflateRaw({ chunkSize: pieceBytes })
  const closed = new Promise(resolve => inflate.once('close', resolve))
  let failure: unknown
  const feed = async () => {
    try {
      for await (const piece of pieces) {
        if (!inflate.write(piece)) {
          await Promise.race([new Promise(drained => inflate.once('drain', drained)), closed])
        }
        if (inflate.destroyed) return
      }
      inflate.end()
    } catch (error) {
      failure = error
      inflate.destroy(error instanceof Error ? error : undefined)
    }
  }
  const fed = feed()
  try {
    for await (const piece of inflate) yield piece as Uint8Array
    await fed
  } catch (error) {
    throw failure ?? error
  } finally {
    inflate.destroy()
  }
}

/** A whole body as the pieces that `archiveFiles` wants. */
export async function* pieces(bytes: Uint8Array, size = pieceBytes): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** The lines of a text as they come in, without their line breaks. A line is never longer than `bytesMax`. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncIterable<Buffer> {
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let from = 0
    for (let at = buffer.indexOf(10); at >= 0; at = buffer.indexOf(10, from)) {
      const end = buffer.subarray(from, at)
      yield restBytes === 0 ? end : Buffer.concat([...rest, end])
      if (restBytes > 0) {
        rest = []
        restBytes = 0
      }
      from = at + 1
    }
    if (from === buffer.length) continue
    // What zlib hands out it may write over.
    rest.push(Buffer.from(buffer.subarray(from)))
    restBytes += buffer.length - from
    if (restBytes > bytesMax) throw new FeedFault('too_long', 'a line is longer than can be meant')
  }
  if (restBytes > 0) yield Buffer.concat(rest)
}
