import { lchownSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Gives files that root has made in another user's directory to that user: the server runs as the
 * user and could not open them. `isOurs` names the files that this program makes; a file with a
 * second name stays as it is, because the user could have made it a name of any file.
 */
export function keepOwner(dir: string, isOurs: (name: string) => boolean): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dir)
  if (uid === 0) return
  for (const name of readdirSync(dir)) {
    if (!isOurs(name)) continue
    const path = join(dir, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.uid === 0 && stats.isFile() && stats.nlink === 1) lchownSync(path, uid, gid)
  }
}
