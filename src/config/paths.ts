import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { processUser } from '../lib/files/file-faults.ts'
import type { Config } from './config.ts'

/** A setting whose path cannot be used as it has to be. */
export interface PathFault {
  setting: string
  /** The whole sentence: what it must be, and what is there. */
  message: string
}

type Use = 'read' | 'read directory' | 'write directory' | 'write file'

const words: Readonly<Record<Use, (user: string) => string>> = {
  read: user => `must be a file that ${user} can read`,
  'read directory': user => `must be a directory that ${user} can read`,
  'write directory': user => `must be a directory that ${user} can write to`,
  'write file': user => `must be a file in a directory that ${user} can write to`,
}

const { R_OK, W_OK, X_OK } = constants

/**
 * Describes why a path cannot be used; undefined where it can, also because it is created then.
 */
function obstacle(path: string, use: Use, isCreated = true): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (use === 'write file') {
      if (stats?.isDirectory()) return `${path}, which is a directory`
      // The complete file is renamed to this path, which would replace /dev/null.
      if (stats && !stats.isFile()) return `${path}, which is a pipe or a device`
      const inside = obstacle(dirname(path), 'write directory', isCreated)
      return inside && `${path} in ${inside}`
    }
    if (!stats && isCreated && use === 'write directory') return creationObstacle(path)
    if (!stats) return missing(path)
    if (use === 'read') {
      // A pipe or a device may hold a secret, too.
      if (stats.isDirectory()) return `${path}, which is a directory`
      accessSync(path, R_OK)
      return undefined
    }
    if (!stats.isDirectory()) return `${path}, which is a file`
    accessSync(path, use === 'write directory' ? R_OK | W_OK | X_OK : R_OK | X_OK)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return `${path}, whose path leads through a file`
    // A disk that does not respond now may do so later: the job that needs it reports it.
    return code === 'EACCES' || code === 'EPERM' || code === 'EROFS' ? path : undefined
  }
}

const missing = (path: string) => `${path}, which does not exist`

/** A directory that does not exist is created at its first use, in the nearest one that does. */
function creationObstacle(path: string): string | undefined {
  const parent = dirname(path)
  const found = obstacle(parent, 'write directory')
  return found && `${path}, which cannot be created in ${found}`
}

function fault(setting: string, path: string, use: Use, isCreated = true): PathFault[] {
  const found = path === '' ? undefined : obstacle(path, use, isCreated)
  if (found === undefined) return []
  return [{ setting, message: `${setting} ${words[use](processUser())}; got ${found}.` }]
}

/** Files of the configuration that every command reads that opens the database. */
export const fileFaults = ({ nats, oidc }: Config): PathFault[] => [
  ...(nats.servers.length === 0
    ? []
    : fault('nats.credentials_file', nats.credentialsFile, 'read')),
  ...fault('oidc.client_secret_file', oidc.clientSecretFile, 'read'),
]

/**
 * The file that a server and a replica write once they listen. It may be in the data directory,
 * which the first start creates.
 */
export const readyFileFaults = ({ server, data }: Config): PathFault[] => {
  const isInData = dirname(resolve(server.readyFile)) === resolve(data.dir)
  return fault('server.ready_file', server.readyFile, 'write file', isInData)
}

/** Files and directories that a server uses later: a start is refused while they are wrong. */
export const servedPathFaults = (config: Config): PathFault[] => [
  ...readyFileFaults(config),
  ...fault('files.directory', config.files.directory, 'write directory'),
  ...fault('backups.directory', config.backups.directory, 'write directory'),
  ...fault('data_sources.directory', config.data_sources.directory, 'read directory'),
]
