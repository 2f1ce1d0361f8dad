import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EMFILE: 'too many files are open',
  ELOOP: 'there are too many symbolic links',
  ECONNREFUSED: 'connection refused; is the server running?',
  ConnectionRefused: 'connection refused; is the server running?',
  ECONNRESET: 'the connection was closed before a response',
  ENOTFOUND: 'cannot resolve the host name (DNS)',
  ETIMEDOUT: 'no connection in time',
}

/** Faults that the source of a copy may have as well as its target. */
const openFaults = new Set(['ENOENT', 'EACCES', 'EISDIR'])

const deeds: Readonly<Record<string, string>> = {
  mkdir: 'create the directory',
  copyfile: 'write',
  write: 'write',
  read: 'read',
}

/** The word for an error of the system: `it does not exist` for ENOENT. */
export const reasonOfCode = (error: unknown): string | undefined => {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  return code === undefined ? undefined : reasons[code]
}

/** An error as people read it: an error of the system names the path and the reason, not its code. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [, code = '', syscall, source, path] =
    /^(E[A-Z]+): .*, (\w+) (?:'(.+)' -> )?'(.+)'/.exec(error.message) ?? []
  const reason = reasons[code]
  if (reason === undefined || path === undefined) return textWithoutPath(error.message)
  // A copy names two paths, and not which of them it could not open.
  if (source !== undefined && openFaults.has(code) && !isReadable(source))
    return `Cannot read ${source}: ${reason}.`
  const deed = deeds[syscall!] ?? 'open'
  const isParent = reason === reasons.ENOENT && !existsSync(dirname(path))
  return `Cannot ${deed} ${path}: ${isParent ? `${dirname(path)} does not exist` : reason}.`
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** An operation on an open file names no path. */
function textWithoutPath(message: string): string {
  const [, code = '', syscall = ''] = /^(E[A-Z]+): [^,]+, (\w+)$/.exec(message) ?? []
  const [reason, deed] = [reasons[code], deeds[syscall]]
  return reason === undefined || deed === undefined ? message : `Cannot ${deed}: ${reason}.`
}
