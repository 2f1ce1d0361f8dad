import type { Database } from 'bun:sqlite'

export interface Trigger {
  name: string
  sql: string
}

/**
 * Replaces all triggers whose names start with `prefix` by the given ones. Runs in one transaction
 * with `also`, and does nothing where the triggers are the same already.
 */
export function setTriggers(
  db: Database,
  prefix: string,
  wanted: readonly Trigger[],
  also: () => void = () => undefined,
): void {
  const present = new Map(
    db
      .query<Trigger, [string]>(
        `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND substr(name, 1, length(?1)) = ?1`,
      )
      .all(prefix)
      .map(({ name, sql }) => [name, sql]),
  )
  if (present.size === wanted.length && wanted.every(({ name, sql }) => present.get(name) === sql))
    return
  db.transaction(() => {
    for (const name of present.keys()) db.run(`DROP TRIGGER ${name}`)
    for (const { sql } of wanted) db.run(sql)
    also()
  }).immediate()
}
