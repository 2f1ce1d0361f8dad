import { chmodSync, existsSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The longest path that the kernel takes for a socket, less the byte that ends it. */
const pathBytesMax = 107

/** Where the server of a data directory listens for commands on the same machine. */
export function socketPath(dir: string): string {
  const path = join(resolve(dir), 'wellhead.sock')
  if (Buffer.byteLength(path) <= pathBytesMax) return path
  return join(tmpdir(), `wellhead-${Bun.hash.wyhash(path).toString(36)}.sock`)
}

/**
 * Listens on the socket of the data directory. Only the user who runs the server can open it, and
 * whoever can owns the data anyway; so requests that come through it need no token. The lock on the
 * directory is held: a socket that is there is a dead one's.
 */
export function listenLocally(
  dir: string,
  local: WeakSet<Request>,
  fetch: (request: Request) => Response | Promise<Response>,
) {
  const path = socketPath(dir)
  if (existsSync(path)) rmSync(path)
  const server = Bun.serve({
    unix: path,
    development: false,
    maxRequestBodySize: 32 * 2 ** 20,
    fetch(request) {
      local.add(request)
      return fetch(request)
    },
  })
  chmodSync(path, 0o600)
  return {
    async stop() {
      await server.stop(true)
      rmSync(path, { force: true })
    },
  }
}
