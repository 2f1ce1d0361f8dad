import type { Server, ServerWebSocket, WebSocketHandler } from 'bun'
import type { CableConnection, CableSocket } from '../topics/streams/service/cable.ts'

/** The data that the server stores with each of its sockets. */
export interface SocketData {
  connection: CableConnection
}

/** Functions that only the server of the connections can provide. */
export type Connections = ReturnType<typeof connectionsOf>

/** A connection on which nothing comes and goes for so long is closed. */
export const idleSeconds = 10

/** For an application without a server. */
export const noConnections: Connections = { upgrade: () => false, idle: () => {} }

/**
 * `originals`: requests whose address was rewritten, by what came of them. `local`: requests that
 * came through another server of this process, which has no sockets.
 */
export const connectionsOf = (
  server: () => Server<SocketData> | undefined,
  originals: Pick<WeakMap<Request, Request>, 'get'>,
  local: Pick<WeakSet<Request>, 'has'>,
) => ({
  /**
   * Upgrades the connection of a request to a socket; false when the request does not ask for it.
   */
  upgrade: (request: Request, connection: CableConnection, headers: Record<string, string>) =>
    (!local.has(request) &&
      server()?.upgrade(originals.get(request) ?? request, { data: { connection }, headers })) ||
    false,
  /** How many seconds the connection of a request may idle; 0: for ever. */
  idle: (request: Request, seconds: number) =>
    server()?.timeout(originals.get(request) ?? request, seconds),
})

const socketOf = (socket: ServerWebSocket<SocketData>): CableSocket => ({
  send: text => socket.send(text) > 0,
  waitingBytes: () => socket.getBufferedAmount(),
  close: (code, reason) => socket.close(code, reason),
})

/**
 * A connection whose frames another server sends and receives, at an address with ws://; undefined:
 * that server refuses it.
 */
export function forwardedConnection(
  address: string,
  headers: Headers,
): Promise<CableConnection | undefined> {
  for (const name of [...headers.keys()])
    if (name.startsWith('sec-websocket-')) headers.delete(name)
  const options: Bun.WebSocketOptions = { headers: Object.fromEntries(headers) }
  // Where pages are compiled too, the type is that of browsers, which send no headers.
  const other = new WebSocket(address, options as never)
  let client: CableSocket | undefined
  /** Frames that came before the client was connected. */
  const early: string[] = []
  other.onmessage = ({ data }) => {
    if (client) client.send(String(data))
    else early.push(String(data))
  }
  return new Promise(done => {
    other.onclose = ({ code, reason }) => {
      client?.close(code === lostCode ? restartCode : code, reason)
      done(undefined)
    }
    other.onopen = () =>
      done({
        opened(socket) {
          client = socket
          for (const text of early.splice(0)) socket.send(text)
          if (other.readyState !== WebSocket.OPEN) socket.close(restartCode, '')
        },
        receive: text => other.send(text),
        drained: () => {},
        closed: () => other.close(),
      })
  })
}

/** A connection that ended without a close frame; no server may send this code. */
const lostCode = 1006
/** The server restarts: connect again. */
const restartCode = 1012

/** The server's side of sockets. Anything but text is ignored. */
export const sockets: WebSocketHandler<SocketData> = {
  // An identifier with a hundred codes has room.
  maxPayloadLength: 16 * 2 ** 10,
  // The runtime pings silent clients; one that does not respond is closed.
  idleTimeout: 60,
  // More than the unsent data that a connection may have: a last protection of memory.
  backpressureLimit: 2 ** 20,
  closeOnBackpressureLimit: true,
  perMessageDeflate: false,
  open: socket => socket.data.connection.opened(socketOf(socket)),
  message(socket, message) {
    if (typeof message === 'string') socket.data.connection.receive(message)
  },
  drain: socket => socket.data.connection.drained(),
  close: socket => socket.data.connection.closed(),
}
