import { createServer, type Socket } from 'node:net'

export interface Received {
  head: string
  headers: Map<string, string>
  body: Buffer
}

/**
 * A receiver of raw bytes on loopback with scripted responses; it records what was received and
 * which connections were closed.
 */
export interface Receiver {
  port: number
  url: string
  received: Received[]
  connections: number
  /** Resolves when every connection so far has been closed by the other side. */
  quiet(): Promise<void>
  close(): Promise<void>
}

export type Behaviour = (socket: Socket, request: Received) => void

/** `answer` is called once the whole request has arrived; `greet` when a connection is made. */
export async function receiver(
  answer: Behaviour,
  greet: (socket: Socket) => void = () => undefined,
): Promise<Receiver> {
  const received: Received[] = []
  const open = new Set<Socket>()
  const closed: (() => void)[] = []
  let connections = 0
  const server = createServer(socket => {
    connections += 1
    open.add(socket)
    let bytes = Buffer.alloc(0)
    let isAnswered = false
    socket.on('error', () => undefined)
    socket.on('close', () => {
      open.delete(socket)
      if (open.size === 0) for (const each of closed.splice(0)) each()
    })
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const request = isAnswered ? undefined : wholeRequest(bytes)
      if (!request) return
      isAnswered = true
      received.push(request)
      answer(socket, request)
    })
    greet(socket)
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    get connections() {
      return connections
    },
    quiet: () => (open.size === 0 ? Promise.resolve() : new Promise(done => closed.push(done))),
    close() {
      for (const socket of open) socket.destroy()
      return new Promise(done => server.close(() => done()))
    },
  }
}

function wholeRequest(bytes: Buffer): Received | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.subarray(0, end).toString('latin1')
  const headers = new Map(
    head
      .split('\r\n')
      .slice(1)
      .map(line => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
  )
  const body = bytes.subarray(end + 4)
  return body.length < Number(headers.get('content-length') ?? 0)
    ? undefined
    : { head, headers, body }
}

/** An answer as it goes over the wire. */
export const answered = (
  status: string,
  body: string | Uint8Array = '',
  headers: Record<string, string> = {},
): Buffer =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status}\r\n${Object.entries({ 'Content-Length': String(body.length), ...headers })
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    ),
    typeof body === 'string' ? Buffer.from(body) : body,
  ])
