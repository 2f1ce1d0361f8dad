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
 * A whole body for an answer that is made after the turn of its request: by a reader, or when the
 * event loop came to it later. Of such an answer with a text or bytes the runtime sends every header
 * on its own, some sixty system calls, and a twentieth of the answers a second; what a stream has
 * ready leaves in one piece.
 */
export const lateBody = (bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })

/** A JSON answer of a route as one that is made late; others, which may go on, stay as they are. */
export async function madeLate(response: Response): Promise<Response> {
  const { status, headers } = response
  const isJson = headers.get('content-type')?.startsWith('application/json') === true
  // An empty stream would say that there is a body.
  if (!isJson || status === 204 || status === 304) return response
  const bytes = new Uint8Array(await response.arrayBuffer())
  return bytes.byteLength === 0
    ? new Response(null, { status, headers })
    : new Response(lateBody(bytes), { status, headers })
}
