import { existsSync, lstatSync, openSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { nextTurn } from '../lib/process/loop-turns.ts'

/** The longest path that the kernel takes for a socket, less the byte that ends it. */
const pathBytesMax = 107
const socketName = 'wellhead.sock'

/** Where the server of a data directory listens for commands on the same machine. */
export const socketFile = (dir: string): string => join(resolve(dir), socketName)

/** Directories that are held open by this process, by their paths. */
const openDirectories = new Map<string, number>()

/**
 * The name under which the kernel binds or reaches the socket. It always is in the data
 * directory: anywhere else someone else could listen under its name first. A path that is too long
 * for the kernel is shortened through the directory held open.
 */
function socketPath(dir: string): string {
  const path = socketFile(dir)
  if (Buffer.byteLength(path) <= pathBytesMax) return path
  if (process.platform !== 'linux')
    throw new Error(
      `${path} is too long for a socket (${pathBytesMax} bytes): name a shorter directory with --data`,
    )
  const directory = resolve(dir)
  const descriptor = openDirectories.get(directory) ?? openSync(directory, 'r')
  openDirectories.set(directory, descriptor)
  return `/proc/self/fd/${descriptor}/${socketName}`
}

/**
 * Where a command reaches the server of a data directory; undefined where there is no socket.
 * Throws where someone else could have put it there: passwords and tokens go through it.
 */
export function serverSocket(dir: string): string | undefined {
  const path = socketFile(dir)
  const socket = lstatSync(path, { throwIfNoEntry: false })
  if (!socket) return undefined
  const owner = statSync(dir).uid
  if (!socket.isSocket() || (socket.uid !== owner && socket.uid !== process.getuid?.()))
    throw new Error(
      `${path} is not the socket of this directory's server: it belongs to user ${socket.uid}, the directory to user ${owner}. Remove it and restart the server.`,
    )
  return socketPath(dir)
}

const ownerOnly = 0o177

/**
 * Listens on the socket of the data directory. Only the user who runs the server can open it, and
 * that user owns the data anyway, so requests through it need no token. The lock on the directory
 * is held, so an existing socket belongs to a process that has ended.
 */
export function listenLocally(
  dir: string,
  local: WeakSet<Request>,
  fetch: (request: Request) => Response | Promise<Response>,
) {
  const path = socketFile(dir)
  if (existsSync(path)) rmSync(path)
  // From its first moment on: there is none at which others could open it.
  const mask = process.umask(ownerOnly)
  let server: Bun.Server<undefined>
  try {
    server = Bun.serve({
      unix: socketPath(dir),
      development: false,
      maxRequestBodySize: 32 * 2 ** 20,
      async fetch(request) {
        local.add(request)
        // A command sends one request after the other, each over its own connection: answered at
        // once they would keep the loop from every other socket. Of those that came in the same turn
        // the network's are answered first.
        await nextTurn()
        await nextTurn()
        return fetch(request)
      },
    })
  } finally {
    process.umask(mask)
  }
  return {
    async stop() {
      await server.stop(true)
      rmSync(path, { force: true })
    },
  }
}
