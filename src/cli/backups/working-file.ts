import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const workingFilePattern = /\.(\d+)\.making(?:[.-]|$)/

/**
 * The path of a file of this process in a data directory, such as a backup before it is whole: a
 * server and a command may make one at the same time. Files that killed processes left are removed,
 * because each is as big as the database.
 */
export function workingFile(dir: string, name: string): string {
  for (const other of readdirSync(dir)) {
    const [, pid] = workingFilePattern.exec(other) ?? []
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(dir, other), { force: true })
  }
  return join(dir, `${name}.${process.pid}.making`)
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
