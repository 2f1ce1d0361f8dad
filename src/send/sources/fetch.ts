import { after, type Clock } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import type { Egress } from '../egress/egress.ts'
import { NoAnswer, reasonOf, request } from '../egress/request.ts'

/**
 * The body of a response, or a sentence on why there is none; neither repeats a header of the
 * request.
 */
export type Fetched = { bytes: Buffer } | { fault: string }

export type SourceFetch = ReturnType<typeof createSourceFetch>

/**
 * Gets what data sources are read from, through the same guard as every other request that a
 * customer names.
 */
export function createSourceFetch({
  egress,
  clock,
  userAgent,
}: {
  egress: Egress
  clock: Clock
  userAgent: string
}) {
  const all = new AbortController()
  return {
    /** One GET. It follows no redirects, and refuses a body longer than `bytesMax`. */
    async get(
      url: string,
      headers: Readonly<Record<string, string>>,
      { bytesMax, timeoutMs }: { bytesMax: number; timeoutMs: number },
    ) {
      const startedAt = clock.monotonic()
      const timeout = new AbortController()
      const undo = after(timeoutMs, () =>
        timeout.abort(new Error(`no response within ${timeoutMs / secondMs} s`)),
      )
      const signal = AbortSignal.any([timeout.signal, all.signal])
      try {
        const route = await Promise.race([egress.route(url), aborted(signal)])
        if ('refused' in route) return { fault: route.refused }
        const options = {
          method: 'GET' as const,
          // A compressed body could expand to any length.
          headers: {
            Accept: 'application/json, text/csv, */*',
            'Accept-Encoding': 'identity',
            'User-Agent': userAgent,
            ...headers,
          },
          bytesMax,
        }
        const answer = await request(route, options, clock, signal, startedAt)
        if (answer.body.length >= bytesMax && answer.cut)
          return { fault: `the answer is longer than ${bytesMax / 2 ** 20} MB` }
        return judged(answer)
      } catch (error) {
        return { fault: error instanceof NoAnswer ? error.message : reasonOf(error) }
      } finally {
        undo()
      }
    },
    /** Ends everything that is under way. */
    halt: () => all.abort(new Error('this service was stopped')),
  }
}

function judged({ status, body, cut }: { status: number; body: Buffer; cut: boolean }): Fetched {
  if (status >= 300 && status < 400)
    return { fault: `the address answered ${status}: redirects are not followed` }
  if (status !== 200) return { fault: `the address answered ${status}` }
  return cut ? { fault: 'the response ended too early' } : { bytes: body }
}

/** Rejects when the signal ends: looking a name up cannot be ended, only left. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const leave = () =>
      reject(
        new NoAnswer((signal.reason as Error).message, {
          connectMs: null,
          firstByteMs: null,
          totalMs: 0,
        }),
      )
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
  })
