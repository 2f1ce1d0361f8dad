import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { stringify } from 'smol-toml'
import { isTable, parseToml } from '../../lib/text/toml.ts'
import { shownValue, unknownName, wrongValue } from '../../lib/text/wrong-value.ts'

/** A server that a person uses, and their key for it. */
export interface SavedServer {
  url: string
  apiKey: string
}

export interface SavedServers {
  /** The name of the default server. */
  preferred: string | undefined
  servers: Record<string, SavedServer>
}

export interface ServerChoice {
  /** The name of a saved server. */
  server?: string
  url?: string
  key?: string
  /** A file with the key, which the list of processes does not show. */
  keyFile?: string
}

type Environment = Readonly<Record<string, string | undefined>>

const localUrl = 'http://127.0.0.1:8470'
const namePattern = /^[a-z0-9][a-z0-9_-]{0,39}$/i

/** Where the servers of a person are saved. */
export const serversPath = (env: Environment): string =>
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'wellhead', 'servers.toml')

export function readServers(path: string): SavedServers {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return { preferred: undefined, servers: {} }
    }
    throw error
  }
  const toml = parseToml(text)
  if ('fault' in toml) throw new Error(`${path}:${toml.line}: ${toml.fault}`)
  const { default: preferred, servers } = toml.table
  const entries = Object.entries(isTable(servers) ? servers : {}).map(([name, entry]) => {
    const { url, key } = isTable(entry) ? entry : {}
    if (typeof url !== 'string' || typeof key !== 'string') {
      throw new Error(`${path}: servers.${name} needs a url and a key, both text`)
    }
    return [name, { url, apiKey: key }] as const
  })
  return {
    preferred: typeof preferred === 'string' ? preferred : undefined,
    servers: Object.fromEntries(entries),
  }
}

/** Writes the file again; only its owner may read it, because of the keys in it. */
export function writeServers(path: string, { preferred, servers }: SavedServers): void {
  const tables = Object.fromEntries(
    Object.entries(servers).map(([name, { url, apiKey }]) => [name, { url, key: apiKey }]),
  )
  const text = stringify(
    preferred === undefined ? { servers: tables } : { default: preferred, servers: tables },
  )
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const fresh = `${path}.new`
  writeFileSync(fresh, `${text}\n`, { mode: 0o600 })
  chmodSync(fresh, 0o600)
  renameSync(fresh, path)
}

/** No server is saved under this name. */
export const unknownServer = (name: string, { servers }: SavedServers): Error =>
  new Error(
    Object.keys(servers).length === 0
      ? `Unknown server ${shownValue(name)}: none is saved. Run wellhead login ADDRESS.`
      : unknownName('server', name, Object.keys(servers)),
  )

export function checkName(name: string): void {
  if (!namePattern.test(name)) {
    throw new Error(`${name} must be a server name of up to 40 letters, digits, - and _`)
  }
}

export function checkUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new Error(
      wrongValue('address', 'the URL of a server, such as https://prices.example.com', url),
    )
  }
  return url.replace(/\/+$/, '')
}

/**
 * The server of a command: the named one, the address on the command line, that of WELLHEAD_URL,
 * the preferred one of those saved, this machine. An address has the key that was saved for it, if
 * no other is given.
 */
export function chosenServer(choice: ServerChoice, env: Environment): SavedServer {
  const path = serversPath(env)
  const url = choice.url ?? (choice.server === undefined ? env.WELLHEAD_URL : undefined)
  const saved = readServers(path)
  const name = choice.server ?? saved.preferred
  const server = url === undefined && name !== undefined ? saved.servers[name] : undefined
  if (choice.server !== undefined && !server) {
    throw unknownServer(choice.server, saved)
  }
  const filed =
    choice.keyFile === undefined ? undefined : readFileSync(choice.keyFile, 'utf8').trim()
  const address = checkUrl(server?.url ?? url ?? localUrl)
  const preferred = saved.servers[saved.preferred ?? '']
  const atAddress = [preferred, ...Object.values(saved.servers)].find(each => each?.url === address)
  const apiKey = filed ?? choice.key ?? server?.apiKey ?? env.WELLHEAD_API_KEY ?? atAddress?.apiKey
  if (!apiKey) {
    throw new Error(
      'no API key: save one with "wellhead login ADDRESS", or set WELLHEAD_API_KEY and WELLHEAD_URL',
    )
  }
  return { url: address, apiKey }
}
