import type { FromQueryWorker, QueryWorkerRequest, ToQueryWorker } from './messages.ts'

/** The parts of an instance that its query worker uses. */
export interface QueryWorkerInstance {
  /** Answers a request whose caller the main thread has admitted, after `admit`. */
  handle(request: Request): Response | Promise<Response>
  /** Admits the request as the main thread did, with its clock and its snapshot time. */
  admit(request: Request, question: QueryWorkerRequest): void
  /** The series that responses were about, for usage statistics; empties the list. */
  takeAsked(): Extract<FromQueryWorker, { kind: 'answer' }>['asked']
  /** Applies a change that was written in the meantime. */
  onMessage(message: Exclude<ToQueryWorker, { kind: 'question' | 'more' | 'drop' }>): void
}

/** The code of a response whose handler tried to write, which a query worker must not. */
const writerCode = 'STORAGE_UNAVAILABLE'
/** A body up to this size is transferred whole; larger ones continue in pieces on demand. */
const wholeBytesMax = 4 * 2 ** 20
/**
 * The limit for encoded bodies: encoding takes several times the work, and the next request would
 * wait.
 */
const wholeEncodedBytesMax = 2 ** 19

type Chunks = ReadableStreamDefaultReader<Uint8Array>

/** Handles the messages of the main thread in order, one request after the other. */
export function createAnswering(
  instance: QueryWorkerInstance,
  post: (message: FromQueryWorker, transfer: ArrayBuffer[]) => void,
): (message: ToQueryWorker) => void {
  const rests = new Map<number, Chunks>()
  let last: Promise<void> = Promise.resolve()

  const answer = async (question: QueryWorkerRequest) => {
    const { id, url, method, headers, body } = question
    const request = new Request(url, { method, headers, ...(body !== undefined && { body }) })
    instance.admit(request, question)
    const response = await instance.handle(request)
    const askedSeries = instance.takeAsked()
    if (response.headers.get('x-error-code') === writerCode)
      return post({ kind: 'needs_writer', id }, [])
    const chunks = response.body?.getReader() as Chunks | undefined
    const isEncoded = response.headers.has('content-encoding')
    const { beginning, goesOn } = await begin(
      chunks,
      isEncoded ? wholeEncodedBytesMax : wholeBytesMax,
    )
    if (goesOn) rests.set(id, chunks!)
    post(
      {
        kind: 'answer',
        id,
        status: response.status,
        headers: [...response.headers],
        body: beginning,
        goesOn,
        asked: askedSeries,
      },
      [beginning.buffer],
    )
  }

  const more = async (id: number) => {
    const chunks = rests.get(id)
    if (!chunks) return
    try {
      const { done, value } = await chunks.read()
      if (done) rests.delete(id)
      const piece = value && joined([value])
      post({ kind: 'piece', id, piece }, piece ? [piece.buffer] : [])
    } catch (error) {
      rests.delete(id)
      post({ kind: 'piece', id, piece: undefined, error: String(error) }, [])
    }
  }

  return message => {
    switch (message.kind) {
      case 'question':
        last = last.then(() => answer(message.question))
        return
      case 'more':
        void more(message.id)
        return
      case 'drop':
        void rests.get(message.id)?.cancel()
        rests.delete(message.id)
        return
      default:
        // Applied in order: requests from before the change may still see the earlier state.
        instance.onMessage(message)
    }
  }
}

/** The first part of a body, and whether there is more of it. */
async function begin(
  chunks: Chunks | undefined,
  bytesMax: number,
): Promise<{ beginning: Uint8Array<ArrayBuffer>; goesOn: boolean }> {
  const parts: Uint8Array[] = []
  let bytes = 0
  while (chunks && bytes < bytesMax) {
    const { done, value } = await chunks.read()
    if (done) return { beginning: joined(parts), goesOn: false }
    parts.push(value)
    bytes += value.byteLength
  }
  return { beginning: joined(parts), goesOn: chunks !== undefined }
}

/**
 * Copies into a new buffer: a transferred buffer is detached here, and a part may be a cached body.
 */
const joined = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(parts.length === 1 ? parts[0]! : Buffer.concat(parts))
