import type { ProcessRuntime } from '../config/runtime.ts'
import { commandUserHeader } from '../http/gate/operator-entry.ts'
import { pointBlockType } from '../http/input/body.ts'
import { type Instance, openInstance } from '../instance/instance.ts'
import { keepDirectoryOwner, prepareDirectory } from '../instance/services/directory.ts'
import { refuseSettings } from '../instance/services/refusals.ts'
import { lockDataDir } from '../lib/files/directory-lock.ts'
import { processUser } from '../lib/files/file-faults.ts'
import { Temporary } from './exit-codes.ts'
import { notifyOnce, sendAgain } from './send-again.ts'
import { serverSocket } from './socket.ts'

/**
 * The access of a command to the data: through the running server, or by opening the directory
 * itself when none runs.
 */
export type Operator = ReturnType<typeof operatorOver>

export async function openOperator(dir: string, runtime: ProcessRuntime): Promise<Operator> {
  prepareDirectory(dir, runtime)
  const path = serverSocket(dir)
  if (path !== undefined && (await answers(path))) {
    return operatorOver(
      undefined,
      (url, init) => askServer(path, url, init),
      () => {},
    )
  }
  const lock = lockDataDir(dir, {
    pid: process.pid,
    role: 'command',
    startedAt: runtime.clock.now(),
  })
  if ('heldBy' in lock) {
    throw new Temporary(
      `${dir} is in use by ${lock.heldBy ? `${lock.heldBy.role} (process ${lock.heldBy.pid})` : 'another process'}, which does not respond`,
    )
  }
  const release = () => {
    keepDirectoryOwner(dir)
    lock.release()
  }
  const local = new WeakSet<Request>()
  let instance: Instance
  try {
    refuseSettings(runtime, dir)
    instance = openInstance({ runtime, dir, local })
  } catch (error) {
    release()
    throw error
  }
  const ask = async (url: string, init?: RequestInit) => {
    const request = new Request(`http://localhost${url}`, init)
    local.add(request)
    return instance.app.handle(request)
  }
  return operatorOver(instance, ask, () => {
    instance.close()
    release()
  })
}

function operatorOver(
  instance: Instance | undefined,
  ask: (url: string, init?: RequestInit) => Promise<Response>,
  close: () => void,
) {
  const notify = notifyOnce()
  // A request within this process is not retried: no other process could change the result.
  const again = (send: () => Promise<Response>) => (instance ? send() : sendAgain(send, { notify }))
  return {
    /**
     * The open instance, if no server runs: a command that handles much data uses it directly
     * instead of over HTTP.
     */
    instance,
    /** Points as numbers are sent as they are, any other body as JSON. */
    async call(method: string, path: string, body?: unknown) {
      const send = () =>
        ask(path, {
          method,
          headers: {
            [commandUserHeader]: processUser(),
            ...(body !== undefined && { 'content-type': typeOf(body) }),
          },
          ...(body !== undefined && {
            body: body instanceof Uint8Array ? body : JSON.stringify(body),
          }),
        })
      const response = await (mayRepeat(method, path) ? again(send) : send())
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    /** The unparsed response, for streaming. */
    fetch: (path: string) => again(() => ask(path)),
    close,
  }
}

const typeOf = (body: unknown) => (body instanceof Uint8Array ? pointBlockType : 'application/json')

/** Requests of imports have the same effect when they are sent twice. */
const repeatable =
  /^\/admin\/v1\/(?:observations(?:\/compare)?|batches(?:\/\d+\/end)?|datasets\/[^?]+)(?:\?|$)/

const mayRepeat = (method: string, path: string): boolean =>
  method !== 'POST' || repeatable.test(path)

/**
 * Replaces the runtime's message about a closed connection, which suggests a typo in the address.
 * Only a request with the same effect twice ends as a temporary failure: schedulers repeat those.
 */
async function askServer(path: string, url: string, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(`http://localhost${url}`, { ...init, unix: path })
  } catch (cause) {
    const stopped = 'the server of this directory stopped before it responded'
    throw mayRepeat(init?.method ?? 'GET', url)
      ? new Temporary(`${stopped}; try again`, { cause })
      : new Error(`${stopped}: the change may have been made. Check that before you try again`, {
          cause,
        })
  }
}

async function answers(path: string): Promise<boolean> {
  try {
    const response = await fetch('http://localhost/health', { unix: path })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}
