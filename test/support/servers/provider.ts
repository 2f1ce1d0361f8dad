import { type AddressInfo, createServer, type Socket } from 'node:net'

/** The action of a provider's stand-in for a request. */
export type Behaviour =
  | 'ok'
  | 'accepts and never answers'
  | 'accepts and cuts the connection'
  | 'accepts and answers no JSON'
  | 'accepts and answers half'
  | 'cuts the connection'
  | 'never answers'
  | 'drips'
  | { status: number; body: string; headers?: Record<string, string> }

const silent: Behaviour[] = ['accepts and never answers', 'never answers', 'drips']

export interface Stand {
  url: string
  /** Every request: its headers in lower case and its body. */
  requests: { path: string; headers: Record<string, string>; body: string }[]
  /** Received requests, by idempotency key where they have one. */
  delivered: string[]
  /**
   * How long an attempt waits for the next request: short where that is not answered, so that a
   * busy machine never makes a response late.
   */
  attemptMs(): number
  close(): void
}

/**
 * A provider over real sockets with scripted behaviour, one for each request and the last one for
 * the rest; requests with the same key are one delivery.
 */
export async function provider(behaviours: readonly Behaviour[], answer: string): Promise<Stand> {
  const sockets = new Set<Socket>()
  const stand = { requests: [] as Stand['requests'], delivered: [] as string[] }
  const keys = new Set<string>()
  const server = createServer(socket => {
    sockets.add(socket)
    let text = ''
    socket.on('error', () => {})
    socket.on('data', bytes => {
      text += bytes.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      const [start = '', ...lines] = text.slice(0, end).split('\r\n')
      const headers = Object.fromEntries(
        lines.map(line => [
          line.slice(0, line.indexOf(':')).toLowerCase(),
          line.slice(line.indexOf(':') + 1).trim(),
        ]),
      )
      const body = text.slice(end + 4)
      if (body.length < Number(headers['content-length'] ?? 0)) return
      text = ''
      const behaviour = behaviours[Math.min(stand.requests.length, behaviours.length - 1)]!
      stand.requests.push({ path: start.split(' ')[1]!, headers, body })
      const accepts =
        typeof behaviour === 'string' && (behaviour === 'ok' || behaviour.startsWith('accepts'))
      const key = headers['idempotency-key'] ?? `request ${stand.requests.length}`
      if (accepts && !keys.has(key)) {
        keys.add(key)
        stand.delivered.push(key)
      }
      behave(socket, behaviour, answer)
    })
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    ...stand,
    attemptMs() {
      const next = behaviours[Math.min(stand.requests.length, behaviours.length - 1)]!
      return silent.some(name => name === next) ? 100 : 30_000
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function behave(socket: Socket, behaviour: Behaviour, answer: string): void {
  const respond = (status: number, body: string, headers: Record<string, string> = {}) => {
    const lines = Object.entries({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    })
    socket.end(
      `HTTP/1.1 ${status} X\r\nconnection: close\r\n${lines.map(line => line.join(': ')).join('\r\n')}\r\n\r\n${body}`,
    )
  }
  if (typeof behaviour === 'object') respond(behaviour.status, behaviour.body, behaviour.headers)
  else if (behaviour === 'ok') respond(200, answer)
  else if (behaviour.endsWith('no JSON')) respond(200, '<html>')
  else if (behaviour.endsWith('half')) respond(200, answer.slice(0, 5), { 'content-length': '500' })
  else if (behaviour.includes('cuts')) socket.destroy()
  else if (behaviour === 'drips') socket.write('HTTP/1.1 200 OK\r\nx-drip: ')
}
