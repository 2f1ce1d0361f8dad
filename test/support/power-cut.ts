import { copyFileSync, existsSync, mkdtempSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Copies a database, its log and its checksums as a power cut at this moment leaves them, into a
 * directory within its own; answers the path of the copy.
 */
export function cutPower(path: string): string {
  const left = mkdtempSync(join(dirname(path), 'left-'))
  for (const tail of ['', '-wal', '-checksums'])
    if (existsSync(path + tail)) copyFileSync(path + tail, join(left, `wellhead.db${tail}`))
  return join(left, 'wellhead.db')
}
