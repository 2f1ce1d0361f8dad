import type { Socket } from 'bun'

export interface LoadRequest {
  port: number
  /** Complete requests as bytes; the connections send them by turns. */
  requests: readonly Uint8Array[]
  /** The size that every response body must have; its status must be 200. */
  bodyBytes: number
  seconds: number
}

/** Enough that the server always has a request waiting, few enough that its queue stays short. */
const connectionCount = 64
/**
 * A measurement continues until it has this many responses, however slow the server is: fewer would
 * not be significant.
 */
const answersMin = 2 * connectionCount
const patienceMs = 60_000
const pollMs = 20

const headEnd = Buffer.from('\r\n\r\n')
const headBytesMax = 16_384
const statusAt = 'HTTP/1.1 '.length

/** One GET as it goes over the wire. */
export const requestBytes = (
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Uint8Array =>
  Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`,
  )

/**
 * Answers a second over keep-alive connections with one request each under way. The requests are
 * made beforehand and the answers only measured, not parsed, because the generator shares the
 * machine with the server. Throws on any answer that is not the expected one.
 */
export async function load({ port, requests, bodyBytes, seconds }: LoadRequest): Promise<number> {
  let answers = 0
  let lastAt = 0
  let inProgress = 0
  let next = 0
  let stopped = false
  let fault: Error | undefined
  const ask = (socket: Socket<Answer>) => {
    const request = requests[next]!
    next = next + 1 === requests.length ? 0 : next + 1
    inProgress += 1
    if (socket.write(request) !== request.length)
      fault ??= new Error('a request did not fit into the socket')
  }
  const data = (socket: Socket<Answer>, received: Buffer) => {
    const answer = socket.data
    const chunk = answer.head ? Buffer.concat([answer.head, received]) : received
    answer.head = undefined
    if (answer.missing === 0 && chunk.indexOf(headEnd) < 0 && chunk.length < headBytesMax) {
      answer.head = chunk
      return
    }
    if (answer.missing > 0) answer.missing -= chunk.length
    else {
      const body = bodyIn(chunk, bodyBytes)
      if (!body)
        fault ??= new Error(
          `expected 200 with ${bodyBytes} bytes, got: ${chunk.toString('latin1', 0, 400)}`,
        )
      else answer.missing = body.bytes - (chunk.length - body.at)
    }
    if (answer.missing > 0) return
    if (answer.missing < 0) fault ??= new Error(`an answer is longer than ${bodyBytes} bytes`)
    answers += 1
    inProgress -= 1
    lastAt = performance.now()
    if (!stopped && !fault) ask(socket)
  }
  const close = () => {
    if (!stopped) fault ??= new Error('the server closed a connection')
  }
  const sockets = await Promise.all(
    Array.from({ length: connectionCount }, () =>
      Bun.connect<Answer>({
        hostname: '127.0.0.1',
        port,
        data: { missing: 0, head: undefined },
        socket: { data, close },
      }),
    ),
  )
  const startedAt = performance.now()
  for (const socket of sockets) ask(socket)
  await Bun.sleep(seconds * 1000)
  while (answers < answersMin && !fault && performance.now() - startedAt < patienceMs)
    await Bun.sleep(pollMs)
  // To the last answer, not to now: a slow server answers all connections at once, and the time
  // since then has no response.
  const perSecond = (answers * 1000) / (lastAt - startedAt)
  stopped = true
  // Responses still outstanding would be work during the other side's measurement.
  while (inProgress > 0 && !fault && performance.now() - startedAt < patienceMs)
    await Bun.sleep(pollMs)
  for (const socket of sockets) socket.terminate()
  if (fault) throw fault
  if (answers < answersMin || inProgress > 0)
    throw new Error(`only ${answers} answers in ${patienceMs / 1000} s`)
  return perSecond
}

interface Answer {
  /** Bytes of the body that are still to come; 0 before the head. */
  missing: number
  /** The part of a head that has come so far. */
  head: Buffer | undefined
}

/**
 * Where the body begins in a chunk that begins with the head of an answer, and its bytes on the
 * wire; undefined for an answer that is not the expected one.
 */
function bodyIn(chunk: Buffer, bodyBytes: number): { at: number; bytes: number } | undefined {
  const end = chunk.indexOf(headEnd)
  if (end < 0 || chunk.toString('latin1', statusAt, statusAt + 3) !== '200') return undefined
  const head = chunk.toString('latin1', 0, end).toLowerCase()
  const [, length] = /\r\ncontent-length: (\d+)/.exec(head) ?? []
  const at = end + headEnd.length
  if (length !== undefined)
    return Number(length) === bodyBytes ? { at, bytes: bodyBytes } : undefined
  // A whole body goes as one piece, with its length in hexadecimals before it and an empty one after.
  return head.includes('\r\ntransfer-encoding: chunked')
    ? { at, bytes: bodyBytes + bodyBytes.toString(16).length + '\r\n\r\n0\r\n\r\n'.length }
    : undefined
}
