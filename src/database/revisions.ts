import type { Database } from 'bun:sqlite'
import { columnsOf, type DatasetTable, recordTables, versionedTables } from './dataset-tables.ts'
import { setTriggers, type Trigger } from './triggers.ts'

const prefix = 'keep_'

/**
 * Keeps the earlier versions of rows, by triggers generated from the schema, so that every write
 * path is covered. A version that was known before the current one is filed among the earlier ones.
 */
export function keepRevisions(db: Database): void {
  setTriggers(
    db,
    prefix,
    [...recordTables.values()].flatMap(table => triggersOf(table, columnsOf(db, table.name))),
  )
}

function triggersOf({ name: table, key }: DatasetTable, columns: readonly string[]): Trigger[] {
  const keyOf = (row: 'NEW' | 'OLD') =>
    `json_array(${key.map(column => `${row}.${column}`).join(', ')})`
  const rowOf = (row: 'NEW' | 'OLD') =>
    `json_object(${columns.map(column => `'${column}', ${row}.${column}`).join(', ')})`
  const isSameRow = `subject = '${table}' AND key = ${keyOf('NEW')}`
  const lateRow = (isRewrite: string) =>
    lateRowSql(table, 'NEW.recorded_at', keyOf('NEW'), isRewrite)
  const values = (fields: string) => `json_remove(${fields}, '$.recorded_at')`
  // The row that was known at the time may have been the same.
  const isNewVersion = `NOT EXISTS (SELECT 1 FROM dataset_revisions WHERE ${isSameRow}
    AND recorded_at <= NEW.recorded_at AND superseded_at > NEW.recorded_at
    AND ${values('fields')} = ${values(rowOf('NEW'))})`
  // The next version was no change of the one before it, and now it is one.
  const following = `SELECT p.superseded_at AS at, p.key, 1 FROM dataset_revisions p
    LEFT JOIN dataset_revisions n ON n.subject = p.subject AND n.key = p.key AND n.recorded_at = p.superseded_at
      AND n.superseded_at > n.recorded_at
    WHERE p.${isSameRow.replace(' AND key', ' AND p.key')} AND p.superseded_at > NEW.recorded_at AND p.recorded_at <= NEW.recorded_at
      AND ${values('p.fields')} = ${values(`coalesce(n.fields, ${rowOf('OLD')})`)}`
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
        ${lateRow(`EXISTS (SELECT 1 FROM dataset_revisions WHERE ${isSameRow} AND NEW.recorded_at IN (recorded_at, superseded_at))`)}
          AND ${isNewVersion};
        ${lateFrom(table, following)};
        INSERT OR REPLACE INTO dataset_revisions (subject, key, recorded_at, superseded_at, fields)
        SELECT '${table}', ${keyOf('NEW')}, NEW.recorded_at, coalesce((SELECT superseded_at
          FROM dataset_revisions WHERE ${isSameRow} AND recorded_at <= NEW.recorded_at AND superseded_at > NEW.recorded_at),
          (SELECT min(recorded_at) FROM dataset_revisions WHERE ${isSameRow} AND recorded_at > NEW.recorded_at
            AND superseded_at > recorded_at), OLD.recorded_at), ${rowOf('NEW')}
          WHERE ${isNewVersion};
        UPDATE dataset_revisions SET superseded_at = NEW.recorded_at
          WHERE ${isSameRow} AND recorded_at < NEW.recorded_at AND superseded_at > NEW.recorded_at
          AND EXISTS (SELECT 1 FROM dataset_revisions WHERE ${isSameRow} AND recorded_at = NEW.recorded_at);
        INSERT OR REPLACE INTO dataset_coverage (subject, since_at)
          SELECT '${table}', NEW.recorded_at FROM dataset_coverage
          WHERE subject = '${table}' AND since_at > NEW.recorded_at;
        SELECT raise(IGNORE);
      END`,
    added: `AFTER INSERT ON ${table}
      BEGIN
        ${lateRow(`EXISTS (SELECT 1 FROM dataset_revisions WHERE ${isSameRow} AND superseded_at = NEW.recorded_at)`)};
      END`,
    rewritten: `AFTER UPDATE ON ${table}
      BEGIN
        ${lateRow('NEW.recorded_at = OLD.recorded_at')} AND ${rowOf('NEW')} IS NOT ${rowOf('OLD')};
      END`,
  }
  // Tables that are not read as of a moment keep earlier versions for the feed of changes alone.
  const { since, late, ...unversioned } = bodies
  const wanted = versionedTables.has(table) ? bodies : unversioned
  return Object.entries(wanted).map(([name, body]) => ({
    name: `${prefix}${table}_${name}`,
    sql: `CREATE TRIGGER ${prefix}${table}_${name} ${body}`,
  }))
}

/**
 * SQL that notes a row among the late ones, if other rows of its instant were noted before;
 * conditions may follow.
 */
export const lateRowSql = (table: string, at: string, key: string, isRewrite: string): string =>
  lateFrom(table, `SELECT ${at} AS at, ${key}, ${isRewrite}`)

const lateFrom = (table: string, rows: string): string =>
  `INSERT OR IGNORE INTO late_rows (recorded_at, key, is_rewrite, subject)
   SELECT *, '${table}' FROM (${rows})
   WHERE EXISTS (SELECT 1 FROM dataset_changes WHERE subject = '${table}' AND recorded_at = at)`

/**
 * Stores the last version of a row as a revision before the row is deleted, so that reads as of an
 * earlier time still find it. Only the time of the deletion is recorded about it. `matches` is SQL
 * that finds a row by `?1`.
 */
export function keepRemoved(
  db: Database,
  table: string,
  matches: string,
): (key: string, at: number) => void {
  const columns = columnsOf(db, table)
  const fields = columns.map(column => `'${column}', t.${column}`).join(', ')
  const key = recordTables
    .get(table)!
    .key.map(column => `t.${column}`)
    .join(', ')
  const keep = db.query<unknown, [string, number]>(
    `INSERT OR REPLACE INTO dataset_revisions (subject, key, recorded_at, superseded_at, fields)
     SELECT '${table}', json_array(${key}), t.recorded_at, ?2, json_object(${fields})
     FROM ${table} t WHERE (${matches}) AND t.recorded_at < ?2`,
  )
  return (key, at) => void keep.run(key, at)
}
