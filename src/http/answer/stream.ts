/** A body that is made as it is taken: a slow client holds up nothing and fills no memory. */
export function streamOf(pieces: Iterable<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = pieces[Symbol.iterator]()
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        const next = iterator.next()
        if (next.done) controller.close()
        else controller.enqueue(new Uint8Array(next.value))
      },
      cancel: () => void iterator.return?.(),
    },
    { highWaterMark: 1 },
  )
}

/**
 * Most answers are made after the turn of their request. Where head and body fit into the runtime's
 * buffer of 16 kB such an answer leaves in one piece; with a longer text or bytes every header leaves
 * on its own, which takes a hundred system calls.
 */
export const onePieceBytesMax = 12 * 1024

/** A whole body that leaves in as few pieces as the runtime can: a long one has to be a stream. */
export function wholeBody(
  bytes: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> {
  if (bytes.byteLength <= onePieceBytesMax) return bytes
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
