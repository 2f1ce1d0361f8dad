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
