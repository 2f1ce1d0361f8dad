import { statfsSync, statSync } from 'node:fs'

/** Bytes that this user may still use on the disk of a directory. */
export function freeBytesOf(dir: string): number {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}

/** The size of a file; 0 where there is none. */
export const bytesOf = (path: string): number =>
  statSync(path, { throwIfNoEntry: false })?.size ?? 0

export const megabyte = 2 ** 20

/**
 * Throws where a disk has no room for a copy: one that ends on a full disk takes the last room of
 * everything else that writes there.
 */
export function requireSpace(
  dir: string,
  bytes: number,
  purpose: string,
  freeBytes = freeBytesOf,
): void {
  const free = freeBytes(dir)
  // Some file systems over a network do not know their size.
  if (free >= bytes || statfsSync(dir).blocks === 0) return
  throw new Error(
    `${dir} must have ${Math.ceil(bytes / megabyte)} MB of free disk space for ${purpose}; it has ${Math.floor(free / megabyte)} MB.`,
  )
}
