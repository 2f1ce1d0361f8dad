import { copyFileSync, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'

/**
 * Files that several names stand for. Nobody may write one: each name would see it. A name that is
 * to be written gets a file of its own first.
 */

/** Other names stand for the same file. */
export const isShared = (path: string): boolean =>
  (statSync(path, { throwIfNoEntry: false })?.nlink ?? 0) > 1

/** Both names stand for one file. */
export const isSameFile = (path: string, other: string): boolean => {
  const [some, others] = [path, other].map(name => statSync(name, { throwIfNoEntry: false }))
  return some !== undefined && some.ino === others?.ino && some.dev === others.dev
}

/** Makes `to` a name of the file `from`; where the file system has no such names, a copy of it. */
export function share(from: string, to: string): void {
  rmSync(to, { force: true })
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}

const besides = (path: string) => `${path}.own`

/** Gives a name that nobody has open a file of its own. */
export function makeOwn(path: string): void {
  copyFileSync(path, besides(path))
  renameSync(besides(path), path)
}

/** As `makeOwn`, while others go on; a name that came to stand for another file is left alone. */
export async function makeOwnBeside(path: string): Promise<void> {
  const before = statSync(path).ino
  await copyFile(path, besides(path))
  if (statSync(path, { throwIfNoEntry: false })?.ino === before) renameSync(besides(path), path)
  else rmSync(besides(path), { force: true })
}
