import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite'

/**
 * A cache of prepared statements by their text, for searches whose SQL depends on the request. The
 * most recently used ones are kept.
 */
export function createStatementCache(db: Database, keptMax = 200) {
  const kept = new Map<string, Statement>()
  return <Row, Values extends SQLQueryBindings[]>(sql: string): Statement<Row, Values> => {
    const statement = kept.get(sql) ?? db.prepare(sql)
    kept.delete(sql)
    kept.set(sql, statement)
    if (kept.size > keptMax) {
      const [oldest, unused] = kept.entries().next().value!
      kept.delete(oldest)
      unused.finalize()
    }
    return statement as unknown as Statement<Row, Values>
  }
}
