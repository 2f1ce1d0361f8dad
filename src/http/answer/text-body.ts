import { onePieceBytesMax, wholeBody } from './stream.ts'

/** Shorter texts are cheaper encoded again than looked up. */
const sharedCharactersMin = 64 * 1024
/** Longer texts are rarely requested twice, and would occupy memory until others come. */
const sharedCharactersMax = 2 ** 20
/** How many of the latest texts have their bytes cached. */
const recentCount = 4
/** A character takes up to three bytes. */
const shortCharactersMax = onePieceBytesMax / 3

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Response bodies of texts. Responses with the same long text share its bytes: a list of every code
 * is the same for all callers until a price changes. A response made from the string allocates its
 * own bytes, whether it is sent or encoded: with 0.7 MB each, the engine collected garbage 130
 * times a second, for a fifth of the time.
 *
 * `isAtOnce`: the response is made in the call in which the runtime delivered its request. Then no
 * stream is needed for it to leave in one piece, and it names its length.
 */
export function createTextBodies(): (
  text: string | Bytes,
  isAtOnce?: boolean,
) => string | ReturnType<typeof wholeBody> {
  const recent: { text: string; bytes: Bytes }[] = []
  const bytesOf = (text: string): Bytes => {
    if (text.length < sharedCharactersMin) return Buffer.from(text)
    const earlier = recent.find(answered => answered.text === text)
    if (earlier) return earlier.bytes
    const bytes = Buffer.from(text)
    recent.unshift({ text, bytes })
    recent.length = Math.min(recent.length, recentCount)
    return bytes
  }
  return (text, isAtOnce = false) => {
    if (isAtOnce && text.length < sharedCharactersMin) return text
    if (typeof text !== 'string') return wholeBody(text)
    if (text.length <= shortCharactersMax) return text
    return text.length > sharedCharactersMax ? lateBody(text) : wholeBody(bytesOf(text))
  }
}

/**
 * Encodes the text when the body is read, which does not happen if an encoded body is sent instead.
 */
const lateBody = (text: string) =>
  new ReadableStream<Bytes>(
    {
      pull(controller) {
        controller.enqueue(Buffer.from(text))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
