import { errorText, reasonOfCode } from '../../lib/files/error-text.ts'
import { sleep } from '../../lib/time/clock.ts'
import { type Ask, refusalOf } from '../../topics/assistants/operations/tool.ts'
import { sendAgain } from '../send-again.ts'

export interface RemoteServer {
  url: string
  apiKey: string
  /** The client that the requests name. */
  source: 'cli' | 'mcp'
}

const timeoutMs = 30_000
/** Waits for a rate limit only if it resets within this time. */
const waitedMsMax = 15_000
const retries = 2

/** The address of a path with its parameters; undefined ones are left out. */
export function addressOf(
  { url }: Pick<RemoteServer, 'url'>,
  path: string,
  query: Readonly<Record<string, unknown>> = {},
): URL {
  const address = new URL(`${url.replace(/\/+$/, '')}${path}`)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, String(value))
  }
  return address
}

export const headersOf = ({ apiKey, source }: RemoteServer): Record<string, string> => ({
  accept: 'application/json',
  authorization: `Bearer ${apiKey}`,
  'x-service-source': source,
})

/** Sends a request; one that reads is sent again after a short rate limit. */
async function send(address: URL, init: RequestInit): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    let response: Response
    try {
      response = await fetch(address, { ...init, signal: AbortSignal.timeout(timeoutMs) })
    } catch (error) {
      const reason = reasonOfCode(error) ?? errorText(error)
      throw new Error(`Cannot connect to ${address.origin}: ${reason}`)
    }
    const waitMs = Number(response.headers.get('retry-after') ?? Number.NaN) * 1_000
    const isExhausted = response.headers.get('x-ratelimit-state') === 'exhausted'
    const mayWait = init.method === 'GET' && waitMs <= waitedMsMax && attempt < retries
    if (response.status !== 429 || isExhausted || !mayWait) return response
    await sleep(waitMs)
  }
}

/** The names that commands have for parameters of the API. */
const commandNames: Readonly<Record<string, string>> = {
  start_date: '--start',
  end_date: '--end',
  as_of: '--as-of',
  interval: '--interval',
  date: '--date',
  '{slug}': 'family',
}

/** A message of the API in the words of the command line. */
export const inCommandNames = (message: string): string =>
  message
    .replace(/^\/v1\/\S+: (?=\{)/, '')
    .replace(
      /^(?:interval|date|\{slug\}|as_of)(?= )|\b(?:start|end)_date\b/g,
      name => commandNames[name]!,
    )

/** Sends requests to a server over HTTP with a key; throws Refusal for errors. */
export const createRemoteAsk =
  (server: RemoteServer): Ask =>
  async <T>(method: 'GET' | 'POST', path: string, { query, body }: Parameters<Ask>[2] = {}) => {
    const content =
      body === undefined
        ? { headers: headersOf(server) }
        : {
            headers: { ...headersOf(server), 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }
    const once = () => send(addressOf(server, path, query), { method, ...content })
    const response = await (method === 'GET' ? sendAgain(once) : once())
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    const value: unknown = isJson ? JSON.parse(text) : undefined
    if (!response.ok || !isJson)
      throw refusalOf(response.status, value, server.source === 'cli' ? inCommandNames : undefined)
    return value as T
  }
