import type { Config } from '../../config.ts'

const answerMsMax = 3_000

/** Where a server of a configuration listens, as this machine reaches it. */
export const configuredUrl = ({ server: { host, port } }: Config): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * Asks a server on this machine for its health; 0 when it is well. For probes of containers that
 * have no shell.
 */
export async function healthcheck(
  server: string,
  { out, err }: { out(line: string): void; err(line: string): void },
): Promise<number> {
  const url = `${server.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')}/health`
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(answerMsMax) })
    out(await response.text())
    return response.ok ? 0 : 1
  } catch (error) {
    err(`${url}: ${(error as Error).message}`)
    return 1
  }
}
