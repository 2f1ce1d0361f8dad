import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '../time/clock.ts'
import { hourMs } from '../time/instant.ts'

const workingFilePattern = /\.(?:([0-9a-f]+)-)?(\d+)\.making(?:[.-]|$)/

/** A file of a process that cannot be seen is left over when it has not grown for this long. */
const leftAfterMs = 6 * hourMs

/**
 * The path of a file of this process before it is whole, such as a backup: a server and a command
 * may make one at the same time. Files that killed processes left are removed.
 */
export function workingFile(dir: string, name: string): string {
  const fileName = `${name}.${processPlace()}-${process.pid}.making`
  removeLeftFiles(dir, fileName)
  return join(dir, fileName)
}

/**
 * Removes the working files that killed processes left: each may be as big as the database. In a
 * container that starts again, a process has the number of the killed one: what has it is left over
 * where it begins with `own`.
 */
export function removeLeftFiles(dir: string, own = ''): void {
  const here = processPlace()
  const isLeft = (name: string, pid: number) =>
    pid === process.pid ? name.startsWith(own) : !isRunning(pid)
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    const [, place = '', pid] = workingFilePattern.exec(name) ?? []
    const path = join(dir, name)
    if (pid === undefined) continue
    if (place === here ? !isLeft(name, Number(pid)) : !isOld(path)) continue
    try {
      rmSync(path, { force: true })
    } catch {
      // It belongs to another user, in a directory of everybody.
    }
  }
}

/**
 * Names the container or machine within which numbers of processes are valid. Others that share the
 * directory may have a process of any number, and on another machine a namespace of the same number.
 */
function processPlace(): string {
  let namespace = ''
  try {
    namespace = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Only Linux has namespaces.
  }
  return createHash('sha256').update(`${hostname()} ${namespace}`).digest('hex').slice(0, 12)
}

function isOld(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && createSystemClock().now() - stats.mtimeMs > leftAfterMs
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user may not be signalled.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
