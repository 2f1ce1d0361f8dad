import { inTrace, traceOf } from '../lib/trace.ts'
import type { Span, Tracer } from '../send/traces/tracer.ts'
import type { RequestContext } from './gate/request-context.ts'

interface TracingDeps {
  /** Sends spans; undefined: a trace is handed on as it came. */
  tracer: Tracer | undefined
  /** The contexts of requests that came to an operation; the gate adds them. */
  requestContexts: WeakMap<Request, RequestContext> | undefined
}

type Answer = (request: Request) => Response | Promise<Response>

/** Continues the trace of a client into everything that its request causes. */
export const continuingTraces =
  (answer: Answer, { tracer, requestContexts }: TracingDeps): Answer =>
  request => {
    const trace = traceOf(request.headers.get('traceparent'))
    if (!trace) return answer(request)
    const span = tracer?.begin(trace, 'server')
    const answered = inTrace(span?.traceparent ?? trace.traceparent, () => answer(request))
    if (!span) return answered
    const end = (response: Response) => {
      endSpan(span, request, requestContexts?.get(request)?.route, response)
      return response
    }
    return answered instanceof Promise ? answered.then(end) : end(answered)
  }

const switching = 101

function endSpan(
  span: Span,
  { method }: Request,
  route: string | undefined,
  response: Response | undefined,
) {
  // A connection that became a socket has no response.
  const status = response?.status ?? switching
  span.end(
    route === undefined ? method : `${method} ${route}`,
    {
      'http.request.method': method,
      'http.response.status_code': status,
      ...(route !== undefined && { 'http.route': route }),
    },
    status >= 500,
  )
}
