import { type ApiError, ConnectionFailed, errorOf } from './errors.ts'

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>

/** Of one request: headers of its own, a signal that ends it. */
export interface RequestOptions extends Omit<RequestInit, 'body' | 'method' | 'headers'> {
  headers?: Record<string, string>
}

export interface TransportOptions {
  /** An API key; the operator's token opens the operations under `/admin/v1`. */
  apiKey?: string | undefined
  /** How often a request is tried again: 3. One that changes something only with an `Idempotency-Key`. */
  retries?: number
  /** The longest wait that the service may ask for; with a longer one the error is thrown at once. 60,000. */
  longestWaitMs?: number
  /** For one try, its body included; 30,000. */
  timeoutMs?: number
  fetch?: Fetch
  /** How waiting is done; for tests. */
  sleep?: (ms: number) => Promise<void>
}

const idempotentMethods = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])
/** Answers of the service, or of a proxy in front of it, that may be better a moment later. */
const retryableStatuses = new Set([429, 500, 502, 503, 504])
const firstWaitMs = 500
const longestUnaskedWaitMs = 8_000

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** Seconds of a Retry-After header, which may also be a date. */
function retryAfterOf(text: string | null): number | undefined {
  if (text === null || text.trim() === '') return undefined
  const seconds = Number(text)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1_000)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface RefusalFields {
  code?: string
  message?: string
  retry?: { retryable?: boolean }
}

/** The error of a refusal, and whether the service may take the same request later. */
export async function refusalOf(
  response: Response,
): Promise<{ error: ApiError; mayRetry: boolean }> {
  const { status, headers } = response
  const body = parsed(await response.text())
  const fields = (typeof body === 'object' ? (body ?? {}) : {}) as RefusalFields & {
    error?: unknown
  }
  const inner = (typeof fields.error === 'object' ? (fields.error ?? {}) : fields) as RefusalFields
  const code = inner.code ?? fields.code ?? headers.get('x-error-code') ?? `HTTP_${status}`
  const isExhausted =
    headers.get('x-ratelimit-state') === 'exhausted' && code !== 'RATE_LIMIT_EXCEEDED'
  const error = errorOf(
    {
      message: inner.message ?? fields.message ?? `the service answered ${status}`,
      status,
      code,
      body,
      requestId: headers.get('x-request-id') ?? undefined,
      retryAfterSeconds: retryAfterOf(headers.get('retry-after')),
    },
    isExhausted,
  )
  const isRetryable = inner.retry?.retryable ?? retryableStatuses.has(status)
  return { error, mayRetry: isRetryable && !isExhausted }
}

/** Twice as long each time, and a little different for each client. */
const unaskedWaitMs = (attempt: number): number =>
  Math.min(longestUnaskedWaitMs, firstWaitMs * 2 ** attempt) * (0.5 + Math.random() / 2)

/**
 * A `fetch` that sends the key, tries again what may be tried again, and throws an ApiError for a refusal and ConnectionFailed where
 * no answer came. A request that its caller has aborted throws what the signal says.
 */
export function createTransport(options: TransportOptions = {}): Fetch {
  const { apiKey, retries = 3, longestWaitMs = 60_000, timeoutMs = 30_000 } = options
  const { fetch: send = (url, init) => fetch(url, init), sleep = pause } = options
  return async (url, init = {}) => {
    const headers = new Headers(init.headers)
    if (apiKey) headers.set('authorization', `Bearer ${apiKey}`)
    const method = (init.method ?? 'GET').toUpperCase()
    const isIdempotent = idempotentMethods.has(method) || headers.has('idempotency-key')
    for (let attempt = 0; ; attempt += 1) {
      const isLast = !isIdempotent || attempt >= retries
      const timeout = AbortSignal.timeout(timeoutMs)
      const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout
      let waitMs = unaskedWaitMs(attempt)
      try {
        const response = await send(url, { ...init, method, headers, signal })
        if (response.status < 400) {
          // A body that breaks off is a try that failed, so it is read before the answer counts as one.
          const body = await response.arrayBuffer()
          const { status, statusText } = response
          const isBodiless = status === 204 || status === 304
          return new Response(isBodiless ? null : body, {
            status,
            statusText,
            headers: response.headers,
          })
        }
        const { error, mayRetry } = await refusalOf(response)
        if (error.retryAfterSeconds !== undefined) waitMs = error.retryAfterSeconds * 1_000
        if (isLast || !mayRetry || waitMs > longestWaitMs) throw error
      } catch (failure) {
        if (init.signal?.aborted || isApiError(failure)) throw failure
        if (isLast) {
          const { pathname } = new URL(url, 'http://localhost')
          const reason = failure instanceof Error ? failure.message : String(failure)
          throw new ConnectionFailed(`${method} ${pathname}: ${reason}`, { cause: failure })
        }
      }
      await sleep(waitMs)
    }
  }
}

const isApiError = (failure: unknown): failure is ApiError =>
  failure instanceof Error && 'status' in failure && 'code' in failure && 'requestId' in failure

/** A key of a request that must be done once however often it arrives. */
export const newIdempotencyKey = (): string => crypto.randomUUID()
