import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'

/** The name of a user in the system's own list, by number. */
function listedUser(id: number): string | undefined {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map(line => line.split(':'))
      .find(([, , number]) => number === String(id))?.[0]
  } catch {
    return undefined
  }
}

/** The name of a user, or its number where the system has no name for it. */
export const userName = (id: number): string => listedUser(id) ?? String(id)

/** The user that runs this process: their name, or their number where they have none. */
export function processUser(): string {
  const id = process.getuid?.()
  try {
    const name = userInfo().username
    // The runtime returns "unknown" where the environment names no user.
    if (name !== 'unknown') return name
  } catch {
    // A user without an entry in the list.
  }
  return id === undefined ? 'unknown' : userName(id)
}

const ownerOf = (path: string): number | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.uid
  } catch {
    return undefined
  }
}

/** The file that a system call failed on, else the one that was meant. */
const pathOf = (error: NodeJS.ErrnoException, path: string): string => error.path ?? path

/**
 * Why this process cannot use a file, with the remedy; undefined where the error is not one of the
 * file system that a user can fix.
 */
export function fileFault(error: unknown, meant: string): string | undefined {
  if (!(error instanceof Error)) return undefined
  const fault = error as NodeJS.ErrnoException
  const path = pathOf(fault, meant)
  switch (fault.code) {
    case 'EACCES':
    case 'EPERM':
      return accessFault(path)
    case 'EROFS':
    case 'SQLITE_READONLY':
    case 'SQLITE_READONLY_DIRECTORY':
      return `${path} must be writable; its file system is mounted read-only. Mount it writable, or name another directory with --data.`
    case 'EISDIR':
      return `${path} must be a file; got a directory. Move the directory away.`
    case 'ENOTDIR':
      return `${path} must be below a directory; got a file in its path. Name another directory with --data.`
    default:
      return undefined
  }
}

/** Names whose file or directory it is that this process may not use. */
export function accessFault(path: string): string {
  const who = processUser()
  const parent = dirname(path)
  const [owner, parentOwner] = [ownerOf(path), ownerOf(parent)]
  const named = owner === undefined ? parent : path
  const has = owner ?? parentOwner
  if (has === undefined)
    return `The user ${who} may not look into ${dirname(parent)}. Run the command as the owner of the data directory, or as root.`
  const user = process.getuid?.()
  if (owner !== undefined && owner === user)
    return `${path} must be readable and writable by its owner ${who}: chmod u+rw ${path}`
  if (owner !== undefined && parentOwner === user && user !== undefined)
    return `${path} belongs to ${userName(owner)} and must belong to ${who}, as its directory does. As root: chown -R ${who}: ${parent}`
  const its = userName(has)
  return its === 'root'
    ? `${named} belongs to root, and this is ${who}. Run the command as root, or as root give it to ${who}: chown -R ${who}: ${named}`
    : `${named} belongs to ${its}, and this is ${who}. Run the command as ${its} or root.`
}
