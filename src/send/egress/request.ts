import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { after, type Clock } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import type { Exchange } from '../attempt.ts'
import type { Route } from './egress.ts'

export interface OutgoingRequest {
  method: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  body?: string
  /** The most bytes that are read of the response; it is cut there. */
  bytesMax: number
  /**
   * Time limit of the response's body after its head; default: the limit of the whole request.
   */
  bodyMs?: number
}

/** A response as it was received: redirects are not followed, and nothing is decompressed. */
export interface Answer {
  status: number
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** The body is longer than `bytesMax`, or the connection ended early. */
  cut: boolean
  timing: Exchange['timing']
  tls: Exchange['tls']
}

/** Why there was no response. */
export class NoAnswer extends Error {
  readonly timing: Exchange['timing']
  constructor(message: string, timing: Exchange['timing']) {
    super(message)
    this.timing = timing
  }
}

/** Time limit from the DNS lookup to the end of the handshake. */
export const connectMs = 10 * secondMs
const headBytesMax = 16_384

/**
 * One HTTP request to the addresses of a route and to no other, on its own connection. Rejects
 * with NoAnswer when there is none or when `signal` ends it; `startedAt` is the monotonic moment at
 * which its time began.
 */
export async function request(
  route: Route,
  outgoing: OutgoingRequest,
  clock: Clock,
  signal: AbortSignal,
  startedAt = clock.monotonic(),
): Promise<Answer> {
  const since = () => Math.round(clock.monotonic() - startedAt)
  const timing: { connectMs: number | null; firstByteMs: number | null } = {
    connectMs: null,
    firstByteMs: null,
  }
  const { headers, body } = outgoing
  const open = await pinnedRequest(route, outgoing.method, {
    ...headers,
    ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
  })
  return new Promise((resolve, reject) => {
    const httpRequest = open()
    const cleanups: (() => void)[] = []
    const end = () => {
      for (const each of cleanups) each()
      httpRequest.destroy()
    }
    const fail = (message: string) => {
      end()
      reject(new NoAnswer(message, { ...timing, totalMs: since() }))
    }
    const connected = () => {
      timing.connectMs ??= since()
    }
    /** Once the head has arrived, its status counts, whatever happens to the body. */
    let takeAsItIs: (() => void) | undefined
    const aborted = () => fail(messageOf(signal.reason))
    cleanups.push(
      after(
        Math.max(0, connectMs - since()),
        () => timing.connectMs === null && fail(`no connection within ${connectMs / secondMs} s`),
      ),
    )
    signal.addEventListener('abort', aborted, { once: true })
    cleanups.push(() => signal.removeEventListener('abort', aborted))
    httpRequest.on('socket', socket =>
      socket.once(isSecure(route) ? 'secureConnect' : 'connect', connected),
    )
    httpRequest.on('error', error => (takeAsItIs ? takeAsItIs() : fail(reasonOf(error))))
    // A receiver that switches to another protocol has not accepted the message.
    httpRequest.on('upgrade', response => finisher(response)(Buffer.alloc(0), true))
    const finisher = (response: IncomingMessage) => {
      connected()
      timing.firstByteMs = since()
      const head = {
        status: response.statusCode ?? 0,
        headers: headersOf(response),
        tls: tlsOf(response.socket),
      }
      return (body: Buffer, cut: boolean) => {
        end()
        resolve({ ...head, body, cut, timing: { ...timing, totalMs: since() } })
      }
    }
    httpRequest.on('response', response => {
      const reading = read(response, outgoing, finisher(response))
      takeAsItIs = reading.end
      cleanups.push(reading.undo)
    })
    if (signal.aborted) aborted()
    else httpRequest.end(body)
  })
}

/**
 * Reads up to the maximum and returns what was read, complete or not; `end` stops reading early,
 * `undo` cancels its timer.
 */
function read(
  response: IncomingMessage,
  { bytesMax, bodyMs }: OutgoingRequest,
  finish: (body: Buffer, cut: boolean) => void,
): { end(): void; undo(): void } {
  const chunks: Buffer[] = []
  let bytes = 0
  const complete = (cut: boolean) => finish(Buffer.concat(chunks).subarray(0, bytesMax), cut)
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bytesMax) complete(true)
  })
  response.on('end', () => complete(!response.complete))
  response.on('error', () => complete(true))
  response.on('close', () => complete(true))
  return {
    end: () => complete(true),
    undo: bodyMs === undefined ? () => undefined : after(bodyMs, () => complete(true)),
  }
}

const isSecure = ({ url }: Route) => url.protocol === 'https:'

/**
 * Returns a function that opens a request to the addresses that were checked, whatever DNS returns
 * by then, on a separate connection.
 */
export async function pinnedRequest(
  route: Route,
  method: OutgoingRequest['method'],
  headers: Readonly<Record<string, string>>,
): Promise<() => ClientRequest> {
  const { url, addresses } = route
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const lookup: LookupFunction = (_name, { all }, done) => {
    if (all) done(null, [...addresses])
    else done(null, addresses[0]!.address, addresses[0]!.family)
  }
  const options: RequestOptions & { rejectUnauthorized: boolean; servername?: string } = {
    host,
    port: url.port || (isSecure(route) ? 443 : 80),
    path: url.pathname + url.search,
    method,
    headers,
    lookup,
    // A connection kept for later would outlive the check of its address.
    agent: false,
    maxHeaderSize: headBytesMax,
    // Environment variables cannot turn the check of certificates off.
    rejectUnauthorized: true,
    ...(isSecure(route) && isIP(host) === 0 && { servername: host.replace(/\.$/, '') }),
  }
  // Loaded with the first request, not with the process: they are a tenth of the start.
  const { request: open } = await (isSecure(route) ? import('node:https') : import('node:http'))
  return () => open(options)
}

function tlsOf(socket: IncomingMessage['socket']): Exchange['tls'] {
  if (!('getProtocol' in socket)) return null
  const secured = socket as TLSSocket
  return {
    protocol: secured.getProtocol() ?? 'unknown',
    cipher: secured.getCipher()?.standardName ?? 'unknown',
  }
}

export const headersOf = (response: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )

const sentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before a response',
  EPIPE: 'the connection was closed before a response',
  ENOTFOUND: 'cannot resolve the name of the target (DNS)',
  EAI_AGAIN: 'the name of the target could not be looked up now',
  ETIMEDOUT: 'no connection in time',
  EHOSTUNREACH: 'cannot connect to the target',
  ENETUNREACH: 'cannot connect to the target',
  HPE_HEADER_OVERFLOW: `the head of the response was longer than ${headBytesMax / 1024} KB`,
}

/** One sentence without addresses and paths of this machine. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const sentence = sentences[code]
  if (sentence) return sentence
  if (code.startsWith('HPE_')) return 'the response was not HTTP'
  if (/CERT|SSL|TLS|SELF_SIGNED|ISSUER/.test(code))
    return `the certificate or the handshake was not accepted (${code})`
  return code ? `the connection failed (${code})` : 'the connection failed'
}

/** Why an attempt was ended, by who ended it. */
export const messageOf = (reason: unknown): string =>
  reason instanceof Error ? reason.message : 'the attempt was ended'
