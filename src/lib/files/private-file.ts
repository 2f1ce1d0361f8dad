import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs'

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
 * Takes others' rights to a file, if there is one and it is ours to change. Devices and pipes, such as
 * a log file of /dev/null, are everybody's.
 */
export function closeToOthers(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats || stats.isCharacterDevice() || stats.isFIFO()) return
  if ((stats.mode & permissionBits & ~privateMode) === 0) return
  try {
    chmodSync(path, privateMode)
  } catch (error) {
    // A file of another owner, and a file system without modes: what is in it can be used all the same.
    if (!['EPERM', 'ENOTSUP', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error
  }
}
