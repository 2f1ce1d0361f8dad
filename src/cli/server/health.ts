import type { Holder } from '../../lib/files/directory-lock.ts'
import { errorText, reasonOfCode } from '../../lib/files/error-text.ts'
import { serverSocket } from '../socket.ts'

const answerMsMax = 3_000

interface HealthOutput {
  out(line: string): void
  err(line: string): void
}

const serverRoles = ['serve', 'dev', 'replica']

/**
 * Calls the server of a data directory, even if another one listens on the default port. A server
 * that could not store its address, on a full disk, is reached through its socket.
 */
export async function directoryHealth(
  dir: string,
  holder: Holder | undefined,
  output: HealthOutput,
): Promise<number> {
  if (!holder || !serverRoles.includes(holder.role)) {
    output.err(`No server runs in ${dir}.`)
    return 1
  }
  if (holder.url !== undefined) return healthcheck(holder.url, output)
  const socket = serverSocket(dir)
  if (socket !== undefined) return healthcheck('http://localhost', output, socket)
  output.err(`The server of ${dir} is starting.`)
  return 1
}

/**
 * Checks the health of a server on this machine; returns 0 if it is healthy. For probes in
 * containers without a shell.
 */
export async function healthcheck(
  server: string,
  { out, err }: HealthOutput,
  unix?: string,
): Promise<number> {
  const url = `${server.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')}/health`
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(answerMsMax),
      ...(unix !== undefined && { unix }),
    })
    out(await response.text())
    return response.ok ? 0 : 1
  } catch (error) {
    err(`Cannot connect to ${url}: ${reasonOfCode(error) ?? errorText(error)}`)
    return 1
  }
}
