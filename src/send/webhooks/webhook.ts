import {
  bodySignature,
  standardSignature,
  timestampedSignature,
} from '../../lib/secrets/signature.ts'
import { after, type Clock } from '../../lib/time/clock.ts'
import { hourMs, secondMs } from '../../lib/time/instant.ts'
import { traceOf } from '../../lib/trace.ts'
import type { Exchange, Outcome } from '../attempt.ts'
import type { Egress } from '../egress/egress.ts'
import {
  type Answer,
  connectMs,
  messageOf,
  NoAnswer,
  reasonOf,
  request,
} from '../egress/request.ts'
import type { Tracer } from '../traces/tracer.ts'

export interface WebhookDeps {
  egress: Egress
  clock: Clock
  /** The prefix of the service's own headers, such as `X-Service-`. */
  headerPrefix: string
  userAgent: string
}

export interface Delivery {
  eventId: string
  eventType: string
  body: string
  /** The trace that the delivery belongs to, if any. */
  traceparent?: string | null
}

export interface DeliveryTerms {
  target?: { url: string; secrets: readonly string[]; scheme: 'timestamped' | 'body' }
  honourRetryAfter?: boolean
}

export type WebhookSender = ReturnType<typeof createWebhookSender>

/** The part of a receiver's response that is stored. */
const bodyBytesMax = 1024
/**
 * The status decides. The body is for people, so a slow one must not delay the attempt.
 */
const bodyMs = 2 * secondMs
const retryAfterMaxMs = hourMs
const unread = { responseHeaders: {}, responseBody: '', tls: null }

/**
 * Delivers events over HTTP, each attempt on its own connection with its own signature.
 */
export const createWebhookSender = (deps: WebhookDeps) => ({
  async send(
    delivery: Delivery,
    { target, honourRetryAfter = false }: DeliveryTerms,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { clock, egress } = deps
    const startedAt = clock.monotonic()
    const since = () => Math.round(clock.monotonic() - startedAt)
    if (!target)
      return { state: 'failed', error: 'the lane has no target', blameless: true, durationMs: 0 }
    const requestHeaders = headersOf(delivery, target, deps)
    try {
      const route = await withinTime(egress.route(target.url), signal, since)
      if ('refused' in route) return { state: 'failed', error: route.refused, durationMs: since() }
      const outgoing = {
        method: 'POST',
        headers: requestHeaders,
        body: delivery.body,
        bytesMax: bodyBytesMax,
        bodyMs,
      } as const
      const answer = await request(route, outgoing, clock, signal, startedAt)
      return {
        ...judged(answer, honourRetryAfter, clock.now()),
        durationMs: since(),
        exchange: exchangeOf(requestHeaders, answer),
      }
    } catch (error) {
      const isKnown = error instanceof NoAnswer
      const timing = isKnown
        ? error.timing
        : { connectMs: null, firstByteMs: null, totalMs: since() }
      const reason = isKnown ? error.message : reasonOf(error)
      return {
        state: 'retry',
        error: reason,
        durationMs: since(),
        exchange: { requestHeaders, ...unread, timing },
      }
    }
  },
})

const documentedPrefix = 'X-Service-'

/** The header names and values of a delivery in the order of the API. */
function headersOf(
  { eventId, eventType, body, traceparent }: Delivery,
  target: NonNullable<DeliveryTerms['target']>,
  deps: WebhookDeps,
) {
  const { headerPrefix: prefix, userAgent, clock } = deps
  const { secrets, scheme } = target
  const timestamp = Math.floor(clock.now() / secondMs)
  const [secret = ''] = secrets
  const signature =
    scheme === 'body' ? bodySignature(secret, body) : timestampedSignature(secret, body, timestamp)
  // Receivers use the documented names or those of the brand.
  const named = [...new Set([prefix, documentedPrefix])].flatMap(start => [
    [`${start}Event`, eventType],
    [`${start}Event-ID`, eventId],
    [`${start}Signature`, signature],
    [`${start}Signature-Timestamp`, String(timestamp)],
  ])
  return {
    ...(Object.fromEntries(named) as Record<string, string>),
    'Content-Type': 'application/json',
    'User-Agent': userAgent,
    // CloudEvents 1.0 in binary mode: the body is the data.
    'ce-specversion': '1.0',
    'ce-id': eventId,
    'ce-type': eventType,
    'ce-source': '/v1/webhooks',
    ...(traceparent && { traceparent }),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standardSignature(secrets, eventId, timestamp, body),
  }
}

/** Makes each attempt a span of the trace that its event belongs to. */
export const withSpans = (sender: WebhookSender, tracer: Tracer): WebhookSender => ({
  async send(delivery, terms, signal) {
    const trace = traceOf(delivery.traceparent ?? null)
    const span = trace && tracer.begin(trace, 'client')
    if (!span) return await sender.send(delivery, terms, signal)
    const { traceparent } = span
    const outcome = await sender.send({ ...delivery, traceparent }, terms, signal)
    const status = outcome.statusCode
    span.end(
      `POST ${delivery.eventType}`,
      {
        'http.request.method': 'POST',
        'messaging.message.id': delivery.eventId,
        ...(status !== undefined && { 'http.response.status_code': status }),
        ...(outcome.error !== undefined && { 'error.type': outcome.error }),
      },
      outcome.state !== 'delivered',
    )
    return outcome
  },
})

/** A DNS lookup cannot be cancelled, only abandoned. */
function withinTime<T>(work: Promise<T>, signal: AbortSignal, since: () => number): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (reason: string) =>
      reject(new NoAnswer(reason, { connectMs: null, firstByteMs: null, totalMs: since() }))
    const aborted = () => leave(messageOf(signal.reason))
    const undo = after(connectMs, () => leave(`no connection within ${connectMs / secondMs} s`))
    if (signal.aborted) aborted()
    signal.addEventListener('abort', aborted, { once: true })
    void work
      .then(resolve, error => leave(reasonOf(error)))
      .finally(() => {
        undo()
        signal.removeEventListener('abort', aborted)
      })
  })
}

function judged(
  { status, headers }: Answer,
  honourRetryAfter: boolean,
  now: number,
): Pick<Outcome, 'state' | 'statusCode' | 'error' | 'retryAfterMs'> {
  if (status >= 200 && status < 300) return { state: 'delivered', statusCode: status }
  const error =
    status >= 300 && status < 400
      ? `the receiver returned status ${status}; redirects are not followed`
      : `the receiver returned status ${status}`
  const retryAfterMs =
    honourRetryAfter && (status === 408 || status === 429)
      ? retryAfterOf(headers['retry-after'], now)
      : undefined
  if (retryAfterMs !== undefined) return { state: 'retry', statusCode: status, error, retryAfterMs }
  return { state: status >= 500 && status < 600 ? 'retry' : 'failed', statusCode: status, error }
}

/**
 * Seconds or an HTTP date, at least one second; undefined when there is none, or when it is too far
 * away to wait for.
 */
export function retryAfterOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const at = /^\d{1,9}$/.test(text)
    ? now + Number(text) * secondMs
    : /^[A-Z][a-z]{2}, /.test(text)
      ? Date.parse(text)
      : Number.NaN
  const waitMs = Math.max(secondMs, at - now)
  return waitMs <= retryAfterMaxMs ? waitMs : undefined
}

function exchangeOf(
  requestHeaders: Readonly<Record<string, string>>,
  { headers, body, timing, tls }: Answer,
): Exchange {
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity'
  return {
    requestHeaders,
    responseHeaders: headers,
    responseBody: isPlain ? textOf(body) : '',
    timing,
    tls,
  }
}

/** Cuts at the stored number of bytes, because invalid UTF-8 becomes longer when it is decoded. */
function textOf(body: Buffer): string {
  const text = body.toString('utf8').replaceAll('\u0000', '\ufffd')
  return Buffer.byteLength(text) <= bodyBytesMax
    ? text
    : Buffer.from(text)
        .subarray(0, bodyBytesMax)
        .toString('utf8')
        .replace(/\ufffd+$/, '')
}
