import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log/log.ts'
import { createSystemClock, every } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import type { Trace } from '../../lib/trace.ts'

export interface TracerDeps {
  /** Address of a collector that takes OTLP over HTTP, without `/v1/traces`. */
  endpoint: string
  serviceName: string
  version: string
  ids: Pick<Ids, 'token'>
  log: Log
}

export interface Span {
  /** The header that hands the trace on, with this span as the parent. */
  traceparent: string
  end(name: string, attributes: Readonly<Record<string, string | number>>, isError: boolean): void
}

export type Tracer = ReturnType<typeof createTracer>

const kinds = { server: 2, client: 3 } as const
const statusOfError = 2
const spansMax = 4096
const batchMax = 512
const everyMs = secondMs
const timeoutMs = 5 * secondMs
const spanIdDigits = 16

/**
 * Sends spans of sampled traces to a collector, by OTLP over HTTP with JSON. Spans wait in memory, at
 * most 4096 of them: a collector that is slow or gone costs spans and never a request.
 */
export function createTracer({ endpoint, serviceName, version, ids, log }: TracerDeps) {
  const url = `${endpoint}/v1/traces`
  // Spans are compared with those of other machines, so the clock that a person can move does not count.
  const clock = createSystemClock()
  const resource = {
    attributes: attributesOf({ 'service.name': serviceName, 'service.version': version }),
  }
  let waiting: object[] = []
  let dropped = 0
  let isFailing = false
  let sending: Promise<void> | undefined

  const post = async (spans: readonly object[]) => {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        resourceSpans: [
          { resource, scopeSpans: [{ scope: { name: 'wellhead', version }, spans }] },
        ],
      }),
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`the collector returned ${response.status}`)
  }
  const send = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax)
      try {
        await post(batch)
      } catch (error) {
        if (!isFailing) log.warn('trace_export_failed', { spans: waiting.length, dropped, error })
        isFailing = true
        return
      }
      waiting = waiting.slice(batch.length)
      if (isFailing) log.info('trace_export_resumed', { dropped })
      isFailing = false
      dropped = 0
    }
  }
  /** Resolves when what waits has been taken, or when the collector does not take it. */
  const flush = (): Promise<void> => {
    sending ??= send().finally(() => {
      sending = undefined
    })
    return sending
  }
  const put = (span: object) => {
    if (waiting.length < spansMax) waiting.push(span)
    else dropped += 1
  }
  const stop = every(everyMs, () => void flush())

  return {
    /** Undefined for a trace that is not recorded. */
    begin(trace: Trace, kind: keyof typeof kinds): Span | undefined {
      if (!trace.isSampled) return undefined
      const spanId = ids.token().slice(0, spanIdDigits)
      const startedAt = clock.now()
      const startedMs = clock.monotonic()
      return {
        traceparent: `00-${trace.id}-${spanId}-01`,
        end(name, attributes, isError) {
          put({
            traceId: trace.id,
            spanId,
            parentSpanId: trace.parentId,
            name,
            kind: kinds[kind],
            startTimeUnixNano: nanoseconds(startedAt),
            endTimeUnixNano: nanoseconds(startedAt + clock.monotonic() - startedMs),
            attributes: attributesOf(attributes),
            ...(isError && { status: { code: statusOfError } }),
          })
        },
      }
    },
    flush,
    stop,
  }
}

/** More than a number holds exactly: as text, to the microsecond. */
const nanoseconds = (atMs: number): string => `${Math.round(atMs * 1000)}000`

const attributesOf = (values: Readonly<Record<string, string | number>>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
