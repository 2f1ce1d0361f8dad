import type { Config } from './config.ts'

type Address = Pick<Config['server'], 'host' | 'port'>

/** Where a server listens, as this machine reaches it. */
export const listeningUrl = ({ host, port }: Address): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Where people reach the service: `server.base_url`, or without one where it listens. */
export const publicUrl = ({ baseUrl, ...address }: Address & { baseUrl: string }): string =>
  baseUrl || listeningUrl(address)
