import type { Config } from '../config.ts'

const answerMsMax = 3_000

/**
 * Asks a server on this machine for its health; 0 when it is well. For probes of containers that
 * have no shell.
 */
export async function healthcheck(
  config: Config,
  { out, err }: { out(line: string): void; err(line: string): void },
): Promise<number> {
  const anywhere = config.server.host === '0.0.0.0' || config.server.host === '::'
  const url = `http://${anywhere ? '127.0.0.1' : config.server.host}:${config.server.port}/health`
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(answerMsMax) })
    out(await response.text())
    return response.ok ? 0 : 1
  } catch (error) {
    err(`${url}: ${(error as Error).message}`)
    return 1
  }
}
