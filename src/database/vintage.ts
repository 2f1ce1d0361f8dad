import type { Database } from 'bun:sqlite'
import { isoDay } from '../lib/time/instant.ts'
import { setTriggers, type Trigger } from './triggers.ts'

/** The keys of the tables whose earlier rows are kept. */
export const versionedKeys: Readonly<Record<string, readonly string[]>> = {
  cot_reports: ['market', 'reported_on'],
  drilling_productivities: ['region', 'counted_on'],
  duc_wells: ['region', 'counted_on'],
  frac_spreads: ['region', 'counted_on'],
  futures_days: ['series_id', 'traded_on'],
  futures_ticks: ['series_id', 'traded_at'],
  opec_productions: ['country', 'month'],
  outlook_forecasts: ['source', 'series_id', 'period', 'published_on'],
  rig_counts: ['region', 'counted_on'],
  storage_capacities: ['series_id', 'effective_on'],
}

/** The column of each that says what time a row speaks for: a day, a month or Unix ms. */
const ownTimes: Readonly<Record<string, string>> = {
  cot_reports: 'reported_on',
  drilling_productivities: 'counted_on',
  duc_wells: 'counted_on',
  frac_spreads: 'counted_on',
  futures_days: 'traded_on',
  futures_ticks: 'traded_at',
  opec_productions: 'month',
  outlook_forecasts: 'published_on',
  rig_counts: 'counted_on',
  storage_capacities: 'effective_on',
}

/** Tables whose earlier rows are kept, each with a column `recorded_at`. */
export const versionedTables: readonly string[] = Object.keys(versionedKeys)

const prefix = 'keep_'

const columnsOf = (db: Database, table: string): string[] =>
  db
    .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
    .all(table)
    .map(column => column.name)

/**
 * Lets the tables keep their earlier rows, by triggers made from the schema: one place for every way
 * in. A row that was known before the one that is there goes between the earlier ones.
 */
export function keepRevisions(db: Database): void {
  setTriggers(
    db,
    prefix,
    versionedTables.flatMap(table => triggersOf(table, columnsOf(db, table))),
  )
}

function triggersOf(table: string, columns: readonly string[]): Trigger[] {
  const keyOf = (row: 'NEW' | 'OLD') =>
    `json_array(${versionedKeys[table]!.map(column => `${row}.${column}`).join(', ')})`
  const rowOf = (row: 'NEW' | 'OLD') =>
    `json_object(${columns.map(column => `'${column}', ${row}.${column}`).join(', ')})`
  const own = `subject = '${table}' AND key = ${keyOf('NEW')}`
  const bodies = {
    // Since when anything is known of the dataset.
    since: `AFTER INSERT ON ${table}
      WHEN NOT EXISTS (SELECT 1 FROM dataset_coverage WHERE subject = '${table}' AND since_at <= NEW.recorded_at)
      BEGIN
        INSERT OR REPLACE INTO dataset_coverage (subject, since_at) VALUES ('${table}', NEW.recorded_at);
      END`,
    replaced: `AFTER UPDATE ON ${table} WHEN NEW.recorded_at > OLD.recorded_at
      BEGIN
        INSERT OR REPLACE INTO dataset_revisions (subject, key, recorded_at, superseded_at, fields)
        VALUES ('${table}', ${keyOf('OLD')}, OLD.recorded_at, NEW.recorded_at, ${rowOf('OLD')});
      END`,
    late: `BEFORE UPDATE ON ${table} WHEN NEW.recorded_at < OLD.recorded_at
      BEGIN
        INSERT OR REPLACE INTO dataset_revisions (subject, key, recorded_at, superseded_at, fields)
        VALUES ('${table}', ${keyOf('NEW')}, NEW.recorded_at, coalesce((SELECT min(recorded_at)
          FROM dataset_revisions WHERE ${own} AND recorded_at > NEW.recorded_at), OLD.recorded_at), ${rowOf('NEW')});
        UPDATE dataset_revisions SET superseded_at = NEW.recorded_at
          WHERE ${own} AND recorded_at < NEW.recorded_at AND superseded_at > NEW.recorded_at;
        INSERT OR REPLACE INTO dataset_coverage (subject, since_at)
          SELECT '${table}', NEW.recorded_at FROM dataset_coverage
          WHERE subject = '${table}' AND since_at > NEW.recorded_at;
        SELECT raise(IGNORE);
      END`,
  }
  return Object.entries(bodies).map(([name, body]) => ({
    name: `${prefix}${table}_${name}`,
    sql: `CREATE TRIGGER ${prefix}${table}_${name} ${body}`,
  }))
}

/**
 * Lets rows of a table be kept as they were until they are taken out: what is told of a deletion is
 * only when it was. `matches` is SQL that finds a row by `?1`.
 */
export function keepRemoved(
  db: Database,
  table: string,
  matches: string,
): (key: string, at: number) => void {
  const columns = columnsOf(db, table)
  const fields = columns.map(column => `'${column}', t.${column}`).join(', ')
  const key = versionedKeys[table]!.map(column => `t.${column}`).join(', ')
  const keep = db.query<unknown, [string, number]>(
    `INSERT OR REPLACE INTO dataset_revisions (subject, key, recorded_at, superseded_at, fields)
     SELECT '${table}', json_array(${key}), t.recorded_at, ?2, json_object(${fields})
     FROM ${table} t WHERE (${matches}) AND t.recorded_at < ?2`,
  )
  return (key, at) => void keep.run(key, at)
}

/** The moment that reads of a database are as of, while there is one. */
interface Past {
  asOf: number
  subjects: Set<string>
  /** Views of the tables, as SQL. */
  views: Map<string, string>
}
const pasts = new WeakMap<Database, Past>()

/** Unix ms that reads of a database are as of; undefined: they answer what is known now. */
export const momentOf = (db: Database): number | undefined => pasts.get(db)?.asOf

/**
 * What `work` reads of the versioned tables is what was known at a moment: every statement made by
 * `lazy` sees their rows as they were then. Before anything was recorded of a table, these are the rows
 * first recorded of what speaks for that moment or an earlier one, as of prices. `sinceAt` is when the tables it read begin to be known,
 * undefined where it read none. `work` must not await.
 */
export function asKnownAt<T>(
  db: Database,
  asOf: number,
  work: () => T,
): { answer: T; sinceAt: number | undefined } {
  const outer = pasts.get(db)
  const past: Past = { asOf, subjects: new Set(), views: new Map() }
  pasts.set(db, past)
  try {
    const answer = work()
    return { answer, sinceAt: sinceAt(db, past.subjects) }
  } finally {
    if (outer) pasts.set(db, outer)
    else pasts.delete(db)
  }
}

function sinceAt(db: Database, subjects: ReadonlySet<string>): number | undefined {
  const { at } = db
    .query<{ at: number | null }, [string]>(
      'SELECT max(since_at) AS at FROM dataset_coverage WHERE subject IN (SELECT value FROM json_each(?))',
    )
    .get(JSON.stringify([...subjects]))!
  return at ?? undefined
}

/** The versioned tables that a statement names. */
export const versionedIn = (sql: string): readonly string[] =>
  versionedTables.filter(table => new RegExp(`\\b${table}\\b`).test(sql))

/** A statement over tables as they are known in the past that reads are of; undefined without one. */
export function pastSql(
  db: Database,
  sql: string,
  tables: () => readonly string[],
): string | undefined {
  const past = pasts.get(db)
  if (!past || tables().length === 0) return undefined
  for (const table of tables()) past.subjects.add(table)
  // A name of WITH comes before the table of the same name.
  const views = tables().map(table => viewIn(db, past, table))
  const rest = sql.replace(/^\s*WITH\s+/i, '')
  return `WITH ${views.join(', ')}${rest === sql ? ' ' : ', '}${rest}`
}

function viewIn(db: Database, past: Past, table: string): string {
  const { asOf, views } = past
  let view = views.get(table)
  if (view === undefined) {
    const columns = columnsOf(db, table)
    const since = sinceAt(db, new Set([table]))
    const isCovered = since === undefined || since <= asOf
    view = isCovered ? viewOf(table, columns, asOf) : firstView(table, columns, asOf)
    views.set(table, view)
  }
  return view
}

function viewOf(table: string, columns: readonly string[], asOf: number): string {
  const fields = columns.map(column => `json_extract(fields, '$.${column}') AS ${column}`)
  return `${table} AS NOT MATERIALIZED (
    SELECT ${columns.join(', ')} FROM main.${table} WHERE recorded_at <= ${asOf}
    UNION ALL SELECT ${fields.join(', ')} FROM main.dataset_revisions
    WHERE subject = '${table}' AND recorded_at <= ${asOf} AND superseded_at > ${asOf})`
}

/** The rows first recorded of what speaks for a moment or an earlier one. */
function firstView(table: string, columns: readonly string[], asOf: number): string {
  const column = ownTimes[table]!
  const until = column === 'traded_at' ? `${asOf}` : `'${isoDay(asOf)}'`
  const key = `json_array(${versionedKeys[table]!.map(name => `t.${name}`).join(', ')})`
  const ofTable = `subject = '${table}' AND key = ${key}`
  const fields = columns.map(
    name => `iif(r.fields IS NULL, t.${name}, json_extract(r.fields, '$.${name}')) AS ${name}`,
  )
  return `${table} AS NOT MATERIALIZED (
    SELECT ${fields.join(', ')} FROM main.${table} t
    LEFT JOIN main.dataset_revisions r ON r.subject = '${table}' AND r.key = ${key} AND r.recorded_at =
      (SELECT min(recorded_at) FROM main.dataset_revisions WHERE ${ofTable})
    WHERE t.${column} <= ${until})`
}
