import { connect } from 'node:net'
import { gunzipSync, inflateSync } from 'node:zlib'

export type Header = readonly [name: string, value: string]

export interface WireAnswer {
  status: number
  headers: Headers
  text: string
  /** Undefined where the text is not JSON. */
  json: unknown
}

/** The bytes of a body that was sent in pieces. */
function joinedChunks(body: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.subarray(at, lineEnd).toString('latin1'), 16)
    if (!(size > 0)) return Buffer.concat(pieces)
    pieces.push(body.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}

const decoded = (body: Buffer, encoding: string | null): Buffer =>
  encoding === 'gzip' ? gunzipSync(body) : encoding === 'deflate' ? inflateSync(body) : body

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * One request on its own connection, with exactly these headers in this order and spelling,
 * which no HTTP library would leave alone.
 */
export async function sendOnWire(
  base: string,
  method: string,
  path: string,
  headers: readonly Header[],
  body?: string,
): Promise<WireAnswer> {
  const { hostname, port, host } = new URL(base)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...(body === undefined && method === 'POST' ? ['Content-Length: 0'] : []),
    ...(headers.some(([name]) => name.toLowerCase() === 'connection') ? [] : ['Connection: close']),
  ].map(line => line.replace(/^(connection): .*/i, '$1: close'))
  const received = await new Promise<Buffer>((resolve, reject) => {
    const parts: Buffer[] = []
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`),
    )
    socket.on('data', (part: Buffer) => parts.push(part))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(parts)))
  })
  const headEnd = received.indexOf('\r\n\r\n')
  const [statusLine = '', ...fields] = received
    .subarray(0, headEnd)
    .toString('latin1')
    .split('\r\n')
  const answered = new Headers()
  for (const field of fields) {
    const colon = field.indexOf(':')
    answered.append(field.slice(0, colon), field.slice(colon + 1).trim())
  }
  const raw = received.subarray(headEnd + 4)
  const whole = answered.get('transfer-encoding') === 'chunked' ? joinedChunks(raw) : raw
  const text = decoded(whole, whole.length > 0 ? answered.get('content-encoding') : null).toString()
  return { status: Number(statusLine.split(' ')[1]), headers: answered, text, json: jsonOf(text) }
}
