import { readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '../time/clock.ts'
import { hourMs } from '../time/instant.ts'

const workingFilePattern = /\.(?:(\d+)-)?(\d+)\.making(?:[.-]|$)/

/** A file of a process that cannot be seen is left over when it has not grown for this long. */
const leftAfterMs = 6 * hourMs

/**
 * The path of a file of this process in a data directory, such as a backup before it is whole: a
 * server and a command may make one at the same time. Files that killed processes left are removed,
 * because each is as big as the database.
 */
export function workingFile(dir: string, name: string): string {
  const here = processNamespace()
  for (const other of readdirSync(dir)) {
    const [, namespace = '', pid] = workingFilePattern.exec(other) ?? []
    const path = join(dir, other)
    if (pid === undefined) continue
    if (namespace === here ? !isRunning(Number(pid)) : isOld(path)) rmSync(path, { force: true })
  }
  return join(dir, `${name}.${here}-${process.pid}.making`)
}

/**
 * The numbers of processes are valid within one container. Another one that shares the directory
 * may have a process of any number.
 */
function processNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
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
