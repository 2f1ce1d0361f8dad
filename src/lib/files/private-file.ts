import { chmodSync, closeSync, existsSync, lstatSync, openSync, statSync } from 'node:fs'

/** Only its owner reads and writes it. */
export const privateMode = 0o600

const permissionBits = 0o777

/**
 * Makes a file that only its owner reads where there is none, and takes others' rights to one. One
 * that is there is never opened: closing it would drop the locks that this process has on it.
 */
export function makePrivate(path: string): void {
  if (existsSync(path)) closeToOthers(path)
  else closeSync(openSync(path, 'a', privateMode))
}

/**
 * Removes the access of other users to a file, if it exists and is ours. Devices and pipes, such as
 * a log file of /dev/null, are shared. Another user's link may lead root to any file.
 */
export function closeToOthers(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  const link = lstatSync(path, { throwIfNoEntry: false })
  if (link?.isSymbolicLink() && link.uid !== 0 && process.getuid?.() === 0) return
  if (!stats || stats.isCharacterDevice() || stats.isFIFO()) return
  if ((stats.mode & permissionBits & ~privateMode) === 0) return
  try {
    chmodSync(path, privateMode)
  } catch (error) {
    // A file of another owner, or a file system without modes: the file can be used nevertheless.
    if (!['EPERM', 'ENOTSUP', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error
  }
}
