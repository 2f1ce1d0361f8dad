import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'
import { unpacked } from '../../lib/files/unpacked.ts'
import { withCertificateAdvice } from '../../lib/text/certificate-advice.ts'
import { after } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import type { Egress, Route } from '../egress/egress.ts'
import { headersOf, messageOf, pinnedRequest, reasonOf } from '../egress/request.ts'

/** The head of a response, and its decompressed body as it arrives. */
export interface PublisherReply {
  status: number
  headers: Readonly<Record<string, string>>
  /** Throws `NoReply` where the connection ends before the body does. */
  body: AsyncIterable<Uint8Array>
  /** Ends the connection, whatever is left of the body. */
  leave(): void
}

/** Why there was no complete response. The message contains only the host of the address. */
export class NoReply extends Error {
  /** The egress guard refused the address, so a retry changes nothing. */
  readonly refused: boolean
  /** The response began, and ended before it was complete. */
  readonly cut: boolean
  constructor(message: string, { refused = false, cut = false } = {}) {
    super(message)
    this.refused = refused
    this.cut = cut
  }
}

export type PublisherFetch = ReturnType<typeof createPublisherFetch>

const headMs = 30 * secondMs
/** A body that sends nothing for this long is given up; a large one may take longer in total. */
const idleMs = 30 * secondMs

/** Fetches from publishers, only at addresses that the egress guard has accepted. */
export function createPublisherFetch(egress: Egress) {
  const all = new AbortController()
  return {
    /**
     * Sends one GET; redirects are not followed. Throws `NoReply`, also if no response has begun
     * within `withinMs`, which is at most half a minute.
     */
    async get(url: string, headers: Readonly<Record<string, string>>, withinMs: number = headMs) {
      const route = await routeOf(egress, url, all.signal)
      const sent = { 'Accept-Encoding': 'gzip', ...headers }
      return await opened(route, sent, Math.max(1, Math.min(headMs, withinMs)), all.signal)
    },
    /** Ends all requests in progress. */
    halt: () => all.abort(new Error('this service was stopped')),
  }
}

async function routeOf(egress: Egress, url: string, signal: AbortSignal): Promise<Route> {
  if (signal.aborted) throw new NoReply(messageOf(signal.reason))
  const route = await egress.route(url).catch(error => {
    throw new NoReply(unreachable(error, URL.parse(url)?.hostname ?? 'the publisher'))
  })
  if ('refused' in route) throw new NoReply(route.refused, { refused: true })
  return route
}

/** Host names of publishers are correct, so a failed lookup means that DNS or the internet is down. */
function unreachable(error: unknown, host: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN'
    ? `no DNS or no internet for ${host}`
    : `${host}: ${withCertificateAdvice(reasonOf(error))}`
}

async function opened(
  route: Route,
  headers: Readonly<Record<string, string>>,
  withinMs: number,
  signal: AbortSignal,
): Promise<PublisherReply> {
  const host = route.url.hostname.replace(/^\[(.*)\]$/, '$1')
  const open = await pinnedRequest(route, 'GET', headers)
  return await new Promise((resolve, reject) => {
    const sent = open()
    const cleanups: (() => void)[] = []
    const fail = (message: string) => {
      for (const each of cleanups) each()
      sent.destroy()
      reject(new NoReply(message))
    }
    const aborted = () => fail(messageOf(signal.reason))
    cleanups.push(
      after(withinMs, () =>
        fail(`${host}: no response within ${Math.ceil(withinMs / secondMs)} s`),
      ),
    )
    signal.addEventListener('abort', aborted, { once: true })
    cleanups.push(() => signal.removeEventListener('abort', aborted))
    sent.on('error', error => fail(unreachable(error, host)))
    sent.on('response', response => {
      for (const each of cleanups) each()
      const leave = () => void sent.destroy()
      resolve({
        status: response.statusCode ?? 0,
        headers: headersOf(response),
        body: bodyOf(response, signal, leave),
        leave,
      })
    })
    sent.end()
  })
}

async function* bodyOf(
  response: IncomingMessage,
  signal: AbortSignal,
  leave: () => void,
): AsyncIterable<Uint8Array> {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'gzip' && encoding !== 'identity') {
    leave()
    throw new NoReply(`the response is encoded as ${encoding}, which was not requested`)
  }
  try {
    yield* encoding === 'gzip'
      ? unpacked(createGunzip(), pieces(response, signal))
      : pieces(response, signal)
  } catch (error) {
    if (error instanceof NoReply) throw error
    throw new NoReply('the response ended too early', { cut: true })
  } finally {
    leave()
  }
}

/**
 * The pieces of a body in order, with a buffer for one or two: the connection waits for the
 * consumer.
 */
async function* pieces(response: IncomingMessage, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const waiting: Uint8Array[] = []
  let waitingBytes = 0
  let wake = () => {}
  let ended = false
  let broken = false
  const settle = (isBroken: boolean) => {
    broken ||= isBroken && !response.complete
    ended = true
    wake()
  }
  response.on('data', (piece: Buffer) => {
    waiting.push(piece)
    waitingBytes += piece.length
    if (waitingBytes >= waitingBytesMax) response.pause()
    wake()
  })
  response.on('end', () => settle(true))
  response.on('error', () => settle(true))
  response.on('aborted', () => settle(true))
  response.on('close', () => settle(true))
  const stop = () => settle(true)
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const piece = waiting.shift()
      if (piece) {
        waitingBytes -= piece.length
        if (waiting.length === 0) response.resume()
        yield piece
      } else if (ended) break
      else {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const undo = after(idleMs, () => settle(true))
        if (waiting.length === 0 && !ended) await promise
        undo()
      }
    }
    if (broken || signal.aborted) throw new NoReply('the response ended too early', { cut: true })
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const waitingBytesMax = 256 * 1024
