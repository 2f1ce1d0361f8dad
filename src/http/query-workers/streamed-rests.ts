import type { QueryWorkerThread } from './messages.ts'

interface Rest {
  thread: QueryWorkerThread
  controller: ReadableStreamDefaultController<Uint8Array> | undefined
}

/** The rests of streamed responses, which query workers send piece by piece as clients read them. */
export function createStreamedRests(onEnd: () => void) {
  const rests = new Map<number, Rest>()

  const end = (id: number, error?: Error) => {
    const controller = rests.get(id)?.controller
    rests.delete(id)
    onEnd()
    if (error) controller?.error(error)
    else controller?.close()
  }

  return {
    size: () => rests.size,
    begin(id: number, thread: QueryWorkerThread) {
      rests.set(id, { thread, controller: undefined })
    },
    /** Passes on a piece; without one the response has ended. */
    take(id: number, piece: Uint8Array | undefined, error: string | undefined) {
      const controller = rests.get(id)?.controller
      if (!controller) return
      if (error !== undefined) end(id, new Error(error))
      else if (piece) controller.enqueue(piece)
      else end(id)
    },
    /** Ends all responses of a thread that has ended. */
    endOf(thread: QueryWorkerThread, reason: string) {
      for (const [id, rest] of rests) if (rest.thread === thread) end(id, new Error(reason))
    },
    /** A response for its client: the beginning, then the rest. */
    stream(id: number, beginning: Uint8Array): ReadableStream<Uint8Array> {
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const rest = rests.get(id)
            if (!rest) return controller.error(new Error('The reader of this answer has ended.'))
            rest.controller = controller
            controller.enqueue(beginning)
          },
          pull: () => rests.get(id)?.thread.post({ kind: 'more', id }),
          cancel() {
            rests.get(id)?.thread.post({ kind: 'drop', id })
            rests.delete(id)
            onEnd()
          },
        },
        // One piece ahead of a client: a slow one costs a buffer, not a thread.
        { highWaterMark: 1 },
      )
    },
  }
}
