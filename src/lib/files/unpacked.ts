import type { Gunzip, InflateRaw } from 'node:zlib'

/**
 * Unpacks chunks with a stream of zlib, one after the other, so that neither side runs ahead.
 * `onRest` gets the bytes after the end of the packed data. Throws errors of the source and of
 * zlib; closes everything when the consumer stops early.
 */
export async function* unpacked(
  stream: Gunzip | InflateRaw,
  packed: AsyncIterable<Uint8Array>,
  onRest: (rest: Uint8Array) => void = () => {},
): AsyncIterable<Uint8Array> {
  const closed = new Promise(resolve => stream.once('close', resolve))
  const ended = new Promise(resolve => stream.once('end', resolve))
  let failure: unknown
  let last: Uint8Array = new Uint8Array(0)
  let written = 0
  const feed = async () => {
    try {
      for await (const piece of packed) {
        last = piece
        written += piece.length
        await Promise.race([new Promise(resolve => stream.write(piece, resolve)), ended, closed])
        // The remaining bytes follow the end of the packed data.
        if (stream.destroyed || stream.bytesWritten < written) return
      }
      stream.end()
    } catch (error) {
      failure = error
      stream.destroy(error instanceof Error ? error : undefined)
    }
  }
  const fed = feed()
  try {
    for await (const piece of stream) yield piece as Uint8Array
    await fed
    onRest(last.subarray(last.length - (written - stream.bytesWritten)))
  } catch (error) {
    throw failure ?? error
  } finally {
    stream.destroy()
  }
}
