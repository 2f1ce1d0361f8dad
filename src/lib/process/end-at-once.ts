/**
 * Ends the process as a crash would. An orderly exit closes the database, and SQLite checkpoints
 * the WAL at that moment, without updating our page checksums and commit mark, so that the next
 * start would report damage and missing commits. A crash loses nothing.
 */
export function endAtOnce(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('the process outlived SIGKILL')
}
