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
 * Each change is noted behind the others, whether or not its row is noted already: to look for it
 * would cost more than to write. So the first note of a row is what stood before the batch. A row
 * that REPLACE takes away is told by no trigger: nothing may be written like that here.
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
