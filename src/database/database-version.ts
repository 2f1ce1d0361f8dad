import { Database } from 'bun:sqlite'
import { lazy } from './statement.ts'

/** Tells whether anything was committed to a database since it was last asked, by whichever connection. */
export type DatabaseVersion = ReturnType<typeof openVersion>

/** A connection of its own: SQLite does not count a connection's own commits. */
export function openVersion(path: string) {
  const db = new Database(path, { readonly: true })
  const query = lazy<{ data_version: number }, []>(db, 'PRAGMA data_version')
  let version = 0
  let isOpen = true
  return {
    /** Another number after every commit; the last one once it is closed. */
    read() {
      if (isOpen) version = query.get()!.data_version
      return version
    },
    close() {
      isOpen = false
      db.close()
    },
  }
}
