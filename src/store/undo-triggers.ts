import type { Database } from 'bun:sqlite'
import { columnsOf, type DatasetTable, datasetTables, keySql, rowSql } from './dataset-tables.ts'
import { setTriggers, type Trigger } from './triggers.ts'

const prefix = 'undo_'

/**
 * Lets the tables of datasets tell what a batch under way changes in them, by triggers made from the
 * schema: one place for every way in, and next to nothing where no batch is under way.
 */
export function noteBatchRows(db: Database): void {
  const wanted = datasetTables.flatMap(table => triggersOf(table, columnsOf(db, table.name)))
  setTriggers(db, prefix, wanted)
}

/**
 * The first row that a batch finds is what stood before it. Not by OR IGNORE: within a statement that
 * says OR REPLACE, SQLite would replace here as well. ON CONFLICT keeps to what it says there.
 */
function triggersOf(table: DatasetTable, columns: readonly string[]): Trigger[] {
  const { name, isNumbered } = table
  const note = (row: 'NEW' | 'OLD', before: string) => `
      INSERT INTO batch_rows (batch_id, subject, key, before)
      SELECT batch_id, '${name}', ${keySql(table, row)}, ${before} FROM batch_under_way WHERE true
      ON CONFLICT DO NOTHING;`
  const present = `(SELECT ${rowSql(columns, 'p')} FROM ${name} p
        WHERE ${table.key.map(column => `p.${column} = NEW.${column}`).join(' AND ')})`
  const bodies = {
    // Before: a row that REPLACE takes away is told by no other trigger. A number is known after.
    insert: isNumbered
      ? `AFTER INSERT ON ${name} BEGIN ${note('NEW', 'NULL')} END`
      : `BEFORE INSERT ON ${name} BEGIN ${note('NEW', present)} END`,
    update: `BEFORE UPDATE ON ${name} BEGIN ${note('OLD', rowSql(columns, 'OLD'))} END`,
    delete: `BEFORE DELETE ON ${name} BEGIN ${note('OLD', rowSql(columns, 'OLD'))} END`,
  }
  return Object.entries(bodies).map(([operation, body]) => ({
    name: `${prefix}${name}_${operation}`,
    sql: `CREATE TRIGGER ${prefix}${name}_${operation} ${body}`,
  }))
}
