import type { Database } from 'bun:sqlite'
import { columnsOf, type DatasetTable, datasetTables, keySql, rowSql } from './dataset-tables.ts'
import { setTriggers, type Trigger } from './triggers.ts'

const prefix = 'undo_'

/**
 * Records which rows of dataset tables a batch changes, by triggers generated from the schema, so
 * that every write path is covered. Without a batch under way they cost next to nothing.
 */
export function noteBatchRows(db: Database): void {
  const wanted = datasetTables.flatMap(table => triggersOf(table, columnsOf(db, table.name)))
  setTriggers(db, prefix, wanted)
}

/**
 * Each change appends a note, whether or not its row has one already: searching for it would cost
 * more than writing. So the first note of a row holds the version before the batch. REPLACE fires
 * no trigger for the row that it deletes, so dataset tables must not be written with REPLACE.
 */
function triggersOf(table: DatasetTable, columns: readonly string[]): Trigger[] {
  const { name } = table
  const note = (row: 'NEW' | 'OLD', before: string) => `
      INSERT INTO batch_rows (batch_id, subject, key, before)
      SELECT batch_id, '${name}', ${keySql(table, row)}, ${before} FROM batch_under_way;`
  const bodies = {
    insert: `AFTER INSERT ON ${name} BEGIN ${note('NEW', 'NULL')} END`,
    update: `AFTER UPDATE ON ${name} BEGIN ${note('OLD', rowSql(columns, 'OLD'))} END`,
    delete: `AFTER DELETE ON ${name} BEGIN ${note('OLD', rowSql(columns, 'OLD'))} END`,
  }
  return Object.entries(bodies).map(([operation, body]) => ({
    name: `${prefix}${name}_${operation}`,
    sql: `CREATE TRIGGER ${prefix}${name}_${operation} ${body}`,
  }))
}
