import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { lazy } from './statement.ts'

/** The counts of a connection since the last write. */
interface Counts {
  /** A text that changes with every write, by this connection or another one. */
  state(): { state: string; hasWritten: boolean }
  version: string
  byQuery: Map<string, number>
}

/** The most cached counts; further queries are counted each time. */
const countsMax = 1_000

const countsByConnection = new WeakMap<Database, Counts>()

function connectionCounts(db: Database): Counts {
  const earlier = countsByConnection.get(db)
  if (earlier) return earlier
  // SQLite does not count a connection's own commits among the versions that it sees.
  const versions = lazy<{ others: number; own: number }, []>(
    db,
    'SELECT data_version AS others, total_changes() AS own FROM pragma_data_version',
  )
  const counts: Counts = {
    state() {
      const { others, own } = versions.get()!
      return { state: `${others} ${own}`, hasWritten: own > 0 }
    },
    version: '',
    byQuery: new Map(),
  }
  countsByConnection.set(db, counts)
  return counts
}

/**
 * Counts the rows of a query that returns the count as `n`. Lists return it with each of their
 * pages, and counting takes longer than reading a page, so a count is cached until the next write.
 */
export function cachedCount<Bindings extends SQLQueryBindings[]>(
  db: Database,
  sql: string,
): (...bindings: Bindings) => number {
  const statement = lazy<{ n: number }, Bindings>(db, sql)
  return (...bindings) => {
    const counts = connectionCounts(db)
    const { state, hasWritten } = counts.state()
    if (counts.version !== state || counts.byQuery.size >= countsMax) {
      counts.version = state
      counts.byQuery.clear()
    }
    const query = JSON.stringify([sql, bindings])
    const earlier = counts.byQuery.get(query)
    if (earlier !== undefined) return earlier
    const { n } = statement.get(...bindings)!
    // A transaction may still be rolled back.
    if (!(hasWritten && db.inTransaction)) counts.byQuery.set(query, n)
    return n
  }
}
