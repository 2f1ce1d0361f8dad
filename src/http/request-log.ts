import type { RequestContext } from './gate/request-context.ts'
import { type ProblemCode, problems } from './problem/problem.ts'
import { withoutLinkKey } from './request-path.ts'

/** An answered request, for developers who use a demo instance. */
export interface LoggedRequest {
  /** A sequence number within this log, from 1. */
  number: number
  /** The clock of the instance, Unix ms. */
  at: number
  requestId: string | null
  method: string
  /** With its query; secrets in it are masked. */
  path: string
  /** Undefined where no route is behind the path. */
  route: string | undefined
  status: number
  durationMs: number
  caller: { keyId: string; keyName: string | null; email: string; isSession: boolean } | undefined
  /** The operator who sent it; undefined for other requests. */
  actor: string | undefined
  /** JSON of the body of the request; secrets in it are masked, and it is truncated when long. */
  body: string | undefined
  refusal: Refusal | undefined
}

export interface Refusal {
  code: string | null
  message: string | null
  /** The description of such an error in the list of errors. */
  meaning: string | null
  /** The body of the response, cut when long. */
  answer: string
}

export interface RequestLogFilter {
  /** Refused: 400 and above. */
  isRefused?: boolean
  /** A part of the path. */
  path?: string
}

/**
 * The requests that were answered lately. It holds bodies, so only a demo instance has one;
 * elsewhere nothing of it is on the way of a request.
 */
export type RequestLog = ReturnType<typeof createRequestLog>

export const loggedRequestsMax = 1000
const bodyCharactersMax = 4000
const refused = 400
const switching = 101
const mask = '…'
/** Names of fields and parameters whose values are credentials. */
const secretName = /password|secret|token|api_?key|authorization/i
/** A proof that was sent to a person; other codes name prices and refusals. */
const proof = /^[\d-]+$/
/** Requests of the tools page and of page assets are left out. */
const isLeftOut = (path: string): boolean =>
  path.startsWith('/_dev/') || path.startsWith('/console/')

export interface RequestLogDeps {
  /** The context of each request that came to a route; the gate adds them. */
  requestContexts: WeakMap<Request, RequestContext>
  /** The clock of the instance, Unix ms. */
  now(): number
  /** Monotonic milliseconds, which advance also while that clock is stopped. */
  monotonic(): number
}

export function createRequestLog({ requestContexts, now, monotonic }: RequestLogDeps) {
  const bodies = new WeakMap<Request, string>()
  let logged: LoggedRequest[] = []
  let count = 0

  const note = async (request: Request, response: Response | undefined, startedMs: number) => {
    const { pathname, search } = new URL(request.url)
    const requestContext = requestContexts.get(request)
    // Requests that an instance makes for another request belong to that one.
    if (isLeftOut(pathname) || requestContext?.vouched) return
    const status = response?.status ?? switching
    count += 1
    const entry: LoggedRequest = {
      number: count,
      at: now(),
      requestId: response?.headers.get('x-request-id') ?? null,
      method: request.method,
      path: withoutLinkKey(pathname) + maskedQuery(search),
      route: requestContext?.route,
      status,
      durationMs: Math.round((monotonic() - startedMs) * 10) / 10,
      caller: callerOf(requestContext),
      actor: requestContext?.actor,
      body: bodies.get(request),
      refusal: undefined,
    }
    logged.push(entry)
    if (logged.length > loggedRequestsMax) logged = logged.slice(-loggedRequestsMax)
    if (response && status >= refused) entry.refusal = await refusalOf(response.clone() as Response)
  }

  return {
    /** A request has come to its route, with its body as JSON; before the gate decides about it. */
    arrive(request: Request, body: unknown) {
      if (body !== undefined) bodies.set(request, bodyText(body))
    },
    /** Notes what is answered. */
    noting:
      (answer: (request: Request) => Response | Promise<Response>) => async (request: Request) => {
        const startedMs = monotonic()
        const response = await answer(request)
        await note(request, response, startedMs)
        return response
      },
    /** Newest first. */
    list({ isRefused, path }: RequestLogFilter, limit: number) {
      const matching = logged.filter(
        entry =>
          (!isRefused || entry.status >= refused) &&
          (path === undefined || entry.path.includes(path)),
      )
      return { requests: matching.slice(-limit).reverse(), total: matching.length }
    },
    clear() {
      logged = []
    },
  }
}

function callerOf(requestContext: RequestContext | undefined): LoggedRequest['caller'] {
  const { key, session } = requestContext?.caller ?? {}
  return (
    key && {
      keyId: key.key.id,
      keyName: key.key.name,
      email: key.account.account.email,
      isSession: session !== undefined,
    }
  )
}

function maskedQuery(search: string): string {
  if (search === '') return ''
  const masked = (parameter: string) => {
    const [name = ''] = parameter.split('=')
    return secretName.test(name) ? `${name}=${mask}` : parameter
  }
  return `?${search.slice(1).split('&').map(masked).join('&')}`
}

const bodyText = (body: unknown): string =>
  cut(typeof body === 'string' ? body : (JSON.stringify(body, masked, 1) ?? ''))

const masked = (name: string, value: unknown): unknown =>
  typeof value === 'string' && (secretName.test(name) || (name === 'code' && proof.test(value)))
    ? mask
    : value

/** A copy, because a part of a text keeps the whole text in memory. */
const cut = (text: string): string =>
  text.length > bodyCharactersMax
    ? Buffer.from(`${text.slice(0, bodyCharactersMax)}${mask}`).toString()
    : text

interface ProblemText {
  code?: string
  message?: string
  error?: string | { code?: string; message?: string }
}

async function refusalOf(response: Response): Promise<Refusal> {
  const answer = cut(await response.text())
  const { code, message } = problemOf(answer)
  const isKnown = code !== null && Object.hasOwn(problems, code)
  return {
    code,
    message,
    meaning: isKnown ? problems[code as ProblemCode].when : null,
    answer,
  }
}

/** The code and the words of a refusal, whichever of its shapes it has. */
function problemOf(answer: string): { code: string | null; message: string | null } {
  try {
    const body = JSON.parse(answer) as ProblemText
    const nested = typeof body.error === 'object' ? body.error : undefined
    return {
      code: nested?.code ?? body.code ?? null,
      message:
        nested?.message ??
        body.message ??
        (typeof body.error === 'string' ? body.error : null) ??
        null,
    }
  } catch {
    return { code: null, message: null }
  }
}
