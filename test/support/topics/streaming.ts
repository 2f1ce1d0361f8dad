import type { AnyElysia } from 'elysia'
import {
  type Connections,
  connectionsOf,
  type SocketData,
  sockets,
} from '../../../src/http/cable.ts'
import { front } from '../../../src/http/front.ts'
import { linker } from '../../../src/http/problem/links.ts'
import { createApp } from '../../../src/instance/app/app.ts'
import type { Services } from '../../../src/instance/services/services.ts'

/** An application on a socket of this machine, as the command serve holds it. */
export interface Served {
  url: string
  /** The address of the WebSocket. */
  socketUrl: string
  stop(): Promise<void>
}

export function serveApp(
  services: Services,
  make?: (connections: Connections) => AnyElysia,
): Served {
  const originals = new WeakMap<Request, Request>()
  const connections = connectionsOf(() => server, originals, new WeakSet())
  const peer = {
    requestIP: (request: Request) => server.requestIP(originals.get(request) ?? request),
  }
  const app = make ? make(connections) : createApp(services, { connections, peer })
  const { config, ids } = services
  const fetch = front({
    ids,
    links: linker(config),
    corsOrigins: ['*'],
    vary: '',
    originals,
    handle: request => app.fetch(request),
  })
  const server = Bun.serve<SocketData>({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 10,
    development: false,
    fetch,
    websocket: sockets,
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    socketUrl: `ws://127.0.0.1:${server.port}`,
    async stop() {
      services.streams.stop()
      // Ended streams are read to their end before the connections are cut.
      await Promise.race([server.stop(false), Bun.sleep(300)])
      await server.stop(true)
    },
  }
}

export interface Block {
  id?: string
  event?: string
  data?: string
  comment?: string
}

/** Blocks of server-sent events as they arrive, parsed by the standard. */
export async function* blocksOf(response: Response): AsyncGenerator<Block> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield blockOf(text.slice(0, end))
      text = text.slice(end + 2)
    }
  }
}

function blockOf(text: string): Block {
  const block: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':')
    const name = colon === 0 ? 'comment' : line.slice(0, colon)
    block[name] = line.slice(colon + 1).trimStart()
  }
  return block
}
