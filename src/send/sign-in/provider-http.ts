import { after, type Clock } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import { createEgress } from '../egress/egress.ts'
import { request } from '../egress/request.ts'

const bytesMax = 1 << 20

/** The provider answered with an error; `code` is its name in OAuth, where it gave one. */
export class ProviderError extends Error {
  constructor(
    readonly status: number,
    readonly code: string | undefined,
  ) {
    super(`the identity provider answered ${status}${code === undefined ? '' : ` ${code}`}`)
  }
  /** The provider does not know the client, or refuses its secret. */
  get isAboutClient(): boolean {
    return this.code === 'invalid_client' || this.code === 'unauthorized_client'
  }
}

/** Asks the identity provider, which may be within the company's own network. No redirect is followed. */
export type AskProvider = (
  url: string,
  form?: URLSearchParams,
  authorization?: string,
) => Promise<Readonly<Record<string, unknown>>>

export function createAskProvider(clock: Clock, waitMs = 10 * secondMs): AskProvider {
  const egress = createEgress(['0.0.0.0/0', '::/0'])
  return async (url, form, authorization) => {
    const route = await egress.route(url)
    if ('refused' in route) throw new Error(route.refused)
    const ended = new AbortController()
    const cancel = after(waitMs, () => ended.abort())
    try {
      const answer = await request(
        route,
        {
          method: form ? 'POST' : 'GET',
          headers: {
            Accept: 'application/json',
            ...(form && { 'Content-Type': 'application/x-www-form-urlencoded' }),
            ...(authorization !== undefined && { Authorization: authorization }),
          },
          ...(form && { body: form.toString() }),
          bytesMax,
        },
        clock,
        ended.signal,
      )
      if (answer.status !== 200 || answer.cut)
        throw new ProviderError(answer.status, errorCodeIn(answer.body.toString()))
      const body: unknown = JSON.parse(answer.body.toString())
      if (typeof body !== 'object' || body === null)
        throw new Error('the identity provider must answer an object')
      return body as Record<string, unknown>
    } finally {
      cancel()
    }
  }
}

const errorCodeIn = (body: string): string | undefined =>
  /"error"\s*:\s*"([a-z_]{1,60})"/.exec(body)?.[1]
