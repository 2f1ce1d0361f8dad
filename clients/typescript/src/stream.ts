import { ApiError, ConnectionFailed } from './errors.ts'
import { type Fetch, pause, refusalOf } from './transport.ts'

export interface StreamEvent<T = unknown> {
  /** Where to go on after this event. */
  id: string
  type: string
  data: T
}

export interface StreamOptions {
  /** The `id` to go on after; absent: only what comes from now on. */
  since?: string | number
  /** How often in a row the connection may fail to open; absent: no bound. */
  reconnects?: number
  /** Ends the stream. */
  signal?: AbortSignal
}

interface StreamSource extends StreamOptions {
  url: string
  apiKey: string | undefined
  fetch: Fetch
  sleep?: (ms: number) => Promise<void>
}

/** The service sends a sign of life every 15 seconds; much longer without one is a broken connection. */
const silenceMs = 40_000
const reconnectMs = 3_000
const longestReconnectMs = 60_000

interface Block {
  id?: string
  event?: string
  data?: string
  retry?: string
}

/** The fields of each block of a stream; comments are signs of life only. */
async function* blocksOf(
  body: ReadableStream<Uint8Array>,
  alive: () => void,
): AsyncGenerator<Block> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      alive()
      text += decoder.decode(value, { stream: true })
      const parts = text.replaceAll('\r\n', '\n').split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const block: Record<string, string> = {}
        for (const line of part.split('\n')) {
          if (line === '' || line.startsWith(':')) continue
          const [name = '', ...rest] = line.split(':')
          const content = rest.join(':').replace(/^ /, '')
          block[name] =
            name === 'data' && block.data !== undefined ? `${block.data}\n${content}` : content
        }
        if (Object.keys(block).length > 0) yield block
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The events of a stream until it is left or aborted. A connection that breaks is opened again after the last event received. */
export async function* streamEvents<T>(source: StreamSource): AsyncGenerator<StreamEvent<T>> {
  const { url, apiKey, fetch: send, reconnects, signal, sleep = pause } = source
  let lastId = source.since === undefined ? undefined : String(source.since)
  let retryMs = reconnectMs
  let failures = 0
  while (!signal?.aborted) {
    const connection = new AbortController()
    const leave = () => connection.abort()
    signal?.addEventListener('abort', leave, { once: true })
    let silence: ReturnType<typeof setTimeout> | undefined
    const alive = () => {
      clearTimeout(silence)
      silence = setTimeout(leave, silenceMs)
    }
    let waitMs = retryMs
    try {
      alive()
      const headers = new Headers({ accept: 'text/event-stream' })
      if (apiKey) headers.set('authorization', `Bearer ${apiKey}`)
      if (lastId !== undefined) headers.set('last-event-id', lastId)
      const response = await send(url, { headers, signal: connection.signal })
      if (!response.ok || !response.body) {
        const { error, mayRetry } = await refusalOf(response)
        if (!mayRetry || (reconnects !== undefined && failures >= reconnects)) throw error
        waitMs = error.retryAfterSeconds === undefined ? retryMs : error.retryAfterSeconds * 1_000
      } else {
        for await (const block of blocksOf(response.body, alive)) {
          failures = 0
          lastId = block.id ?? lastId
          if (/^\d+$/.test(block.retry ?? '')) retryMs = Number(block.retry)
          if (block.data === undefined) continue
          const data = JSON.parse(block.data) as T
          yield { id: lastId ?? '', type: block.event ?? 'message', data }
        }
        waitMs = retryMs
      }
    } catch (failure) {
      if (signal?.aborted) return
      if (failure instanceof ApiError) throw failure
      if (reconnects !== undefined && failures >= reconnects) {
        const reason = failure instanceof Error ? failure.message : String(failure)
        throw new ConnectionFailed(`the stream broke off: ${reason}`, { cause: failure })
      }
      waitMs = Math.min(longestReconnectMs, retryMs * 2 ** failures)
    } finally {
      clearTimeout(silence)
      signal?.removeEventListener('abort', leave)
      connection.abort()
    }
    failures += 1
    if (!signal?.aborted) await sleep(waitMs)
  }
}
