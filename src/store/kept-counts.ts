import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { lazy } from './statement.ts'
import { momentOf } from './vintage.ts'

/** What a connection has counted since anything was last written. */
interface Counted {
  /** Another text after every write, by this connection or another one. */
  state(): { state: string; hasWritten: boolean }
  of: string
  counts: Map<string, number>
}

/** So many different questions are kept; a client that asks for more has them counted anew. */
const countsMax = 1_000

const countedBy = new WeakMap<Database, Counted>()

function countedOf(db: Database): Counted {
  const known = countedBy.get(db)
  if (known) return known
  // SQLite does not count a connection's own commits among the versions that it sees.
  const versions = lazy<{ others: number; own: number }, []>(
    db,
    'SELECT data_version AS others, total_changes() AS own FROM pragma_data_version',
  )
  const counted: Counted = {
    state() {
      const { others, own } = versions.get()!
      return { state: `${others} ${own}`, hasWritten: own > 0 }
    },
    of: '',
    counts: new Map(),
  }
  countedBy.set(db, counted)
  return counted
}

/**
 * How many rows a query finds, which answers it as `n`. Lists say it beside each of their pages, and
 * to count takes longer than to read a page, so a count is kept until anything is written.
 */
export function keptCount<Bindings extends SQLQueryBindings[]>(
  db: Database,
  sql: string,
): (...bindings: Bindings) => number {
  const statement = lazy<{ n: number }, Bindings>(db, sql)
  return (...bindings) => {
    const counted = countedOf(db)
    const { state, hasWritten } = counted.state()
    if (counted.of !== state || counted.counts.size >= countsMax) {
      counted.of = state
      counted.counts.clear()
    }
    const key = JSON.stringify([momentOf(db), sql, bindings])
    const known = counted.counts.get(key)
    if (known !== undefined) return known
    const { n } = statement.get(...bindings)!
    // What a transaction has written so far may be taken back.
    if (!(hasWritten && db.inTransaction)) counted.counts.set(key, n)
    return n
  }
}
