import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'
import { unpacked } from '../../lib/files/unpacked.ts'
import { after } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import type { Egress, Route } from '../egress/egress.ts'
import { headersOf, messageOf, pinnedRequest, reasonOf } from '../egress/request.ts'

/** The head of an answer, and its body as it comes, unpacked. */
export interface PublisherReply {
  status: number
  headers: Readonly<Record<string, string>>
  /** Throws `NoReply` where the connection ends before the body does. */
  body: AsyncIterable<Uint8Array>
  /** Ends the connection, whatever is left of the body. */
  leave(): void
}

/** Why there was no answer, or none to its end; of the address it repeats the host alone. */
export class NoReply extends Error {
  /** The guard does not let it through: trying again changes nothing. */
  readonly refused: boolean
  /** The answer began, and ended before it was complete. */
  readonly cut: boolean
  constructor(message: string, { refused = false, cut = false } = {}) {
    super(message)
    this.refused = refused
    this.cut = cut
  }
}

export type PublisherFetch = ReturnType<typeof createPublisherFetch>

const headMs = 30 * secondMs
/** Nothing more comes: a body may be large, and need not be fast. */
const idleMs = 30 * secondMs

/** Gets what publishers publish, on connections to the addresses that the guard has judged. */
export function createPublisherFetch(egress: Egress) {
  const all = new AbortController()
  return {
    /**
     * One GET through the guard; nothing is followed. Throws `NoReply`, where no answer has begun
     * within `withinMs` too, which is at most half a minute.
     */
    async get(url: string, headers: Readonly<Record<string, string>>, withinMs: number = headMs) {
      const route = await routeOf(egress, url, all.signal)
      const sent = { 'Accept-Encoding': 'gzip', ...headers }
      return await opened(route, sent, Math.max(1, Math.min(headMs, withinMs)), all.signal)
    },
    /** Ends everything that is under way. */
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

/** The name of a publisher that is read every day is right: what fails is the way there. */
function unreachable(error: unknown, host: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN'
    ? `no DNS or no internet for ${host}`
    : `${host}: ${reasonOf(error)}`
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
    const undo: (() => void)[] = []
    const fail = (message: string) => {
      for (const each of undo) each()
      sent.destroy()
      reject(new NoReply(message))
    }
    const aborted = () => fail(messageOf(signal.reason))
    undo.push(
      after(withinMs, () => fail(`${host}: no answer within ${Math.ceil(withinMs / secondMs)} s`)),
    )
    signal.addEventListener('abort', aborted, { once: true })
    undo.push(() => signal.removeEventListener('abort', aborted))
    sent.on('error', error => fail(unreachable(error, host)))
    sent.on('response', response => {
      for (const each of undo) each()
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
    throw new NoReply(`the answer is packed as ${encoding}, which was not asked for`)
  }
  try {
    yield* encoding === 'gzip'
      ? unpacked(createGunzip(), pieces(response, signal))
      : pieces(response, signal)
  } catch (error) {
    if (error instanceof NoReply) throw error
    throw new NoReply('the answer ended too early', { cut: true })
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
    if (broken || signal.aborted) throw new NoReply('the answer ended too early', { cut: true })
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const waitingBytesMax = 256 * 1024
