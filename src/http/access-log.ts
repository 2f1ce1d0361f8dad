import type { Log } from '../lib/log/log.ts'
import { traceOf } from '../lib/trace.ts'
import { beginningOf, joinedStream } from './answer/encoding.ts'
import { wholeBody } from './answer/stream.ts'
import type { RequestContext } from './gate/request-context.ts'

/** Writes a line for answers that leave. */
export type AccessLog = ReturnType<typeof createAccessLog>

export interface AccessLogOptions {
  log: Log
  /** The share of responses that are logged; responses of 500 and above all are. */
  share: number
  /** A number in [0, 1). */
  chance(): number
  /** Monotonic milliseconds. */
  now(): number
}

/** Never the address, which may contain a token: the route identifies the request. */
const unrouted = '(none)'

/** Logs neither addresses nor users: the id of the key identifies the caller. */
export function createAccessLog(options: AccessLogOptions) {
  const { log, share, chance, now } = options
  /** The contexts of requests that came to the gate; it adds them. */
  const requestContexts = new WeakMap<Request, RequestContext>()
  const rerouted = new WeakMap<Request, Request>()
  const put = (request: Request, startedMs: number, answer: Answered) => {
    const requestContext = requestContexts.get(rerouted.get(request) ?? request)
    const trace = traceOf(request.headers.get('traceparent'))
    log.info('access', {
      request_id: answer.requestId,
      key_id: requestContext?.caller?.key.key.id ?? null,
      method: request.method,
      route: requestContext?.route ?? unrouted,
      status: answer.status,
      ms: Math.round((now() - startedMs) * 10) / 10,
      bytes: answer.bytes,
      ...(trace && { trace_id: trace.id }),
    })
  }
  return {
    requestContexts,
    now,
    /** A request is routed as another one. */
    reroute: (request: Request, as: Request) => void rerouted.set(request, as),
    /** Notes an answer that began at `startedMs` (monotonic), and hands it on. */
    leave(request: Request, response: Response, startedMs: number): Response | Promise<Response> {
      // A connection that became a socket has no response.
      const status = response?.status ?? switching
      if (status < failed && chance() >= share) return response
      const requestId = response?.headers.get('x-request-id') ?? null
      const line = (bytes: number) => put(request, startedMs, { status, requestId, bytes })
      if (!response?.body || request.method === 'HEAD') {
        line(0)
        return response
      }
      const length = response.headers.get('content-length')
      if (length !== null) {
        line(Number(length))
        return response
      }
      return counted(response, line)
    },
  }
}

const switching = 101
const failed = 500

interface Answered {
  status: number
  requestId: string | null
  bytes: number
}

/** Streams of events have no end for a long while: they are not read ahead. */
async function counted(response: Response, line: (bytes: number) => void): Promise<Response> {
  const { status, headers } = response
  if (headers.get('content-type')?.startsWith('text/event-stream'))
    return new Response(countedStream(response.body!, line), { status, headers })
  const { begun, rest } = await beginningOf(response)
  if (rest) return new Response(countedStream(joinedStream(begun, rest), line), { status, headers })
  line(begun.byteLength)
  return new Response(wholeBody(begun), { status, headers })
}

/** Writes the line at the end of the stream, or when the client disconnects. */
function countedStream(source: ReadableStream<Uint8Array>, line: (bytes: number) => void) {
  const reader = source.getReader()
  let bytes = 0
  let isNoted = false
  const note = () => {
    if (!isNoted) line(bytes)
    isNoted = true
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) {
          note()
          controller.close()
          return
        }
        bytes += value.byteLength
        controller.enqueue(value)
      } catch (error) {
        note()
        controller.error(error)
      }
    },
    cancel(reason) {
      note()
      return reader.cancel(reason)
    },
  })
}
