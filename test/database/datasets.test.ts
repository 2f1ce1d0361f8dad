import { describe, expect, test } from 'bun:test'
import { generatedParts } from '../../scripts/docs/generated.ts'
import { openDatabase } from '../../src/database/database.ts'
import { columnsOf, datasetTables } from '../../src/database/dataset-tables.ts'
import { declaredDatasets } from '../../src/database/datasets.ts'
import { datasetRows } from '../../src/topics/operator/store/dataset-rows.ts'

const db = openDatabase(':memory:')

/** Columns that are unique together, as sets of names. */
function uniqueKeys(table: string): string[] {
  const indexes = db
    .query<{ name: string; unique: number }, [string]>('SELECT * FROM pragma_index_list(?)')
    .all(table)
    .filter(index => index.unique === 1)
  const primary = db
    .query<{ name: string; pk: number }, [string]>('SELECT name, pk FROM pragma_table_info(?)')
    .all(table)
    .filter(column => column.pk > 0)
    .map(column => column.name)
  return [
    primary,
    ...indexes.map(({ name }) =>
      db
        .query<{ name: string }, [string]>('SELECT name FROM pragma_index_info(?)')
        .all(name)
        .map(column => column.name),
    ),
  ].map(names => names.toSorted().join())
}

describe('the declaration of every dataset', () => {
  test('names tables of the schema and keys that are unique in them', () => {
    const wrong = datasetTables.filter(
      ({ name, key }) => !uniqueKeys(name).includes([...key].sort().join()),
    )
    expect(wrong.map(({ name, key }) => `${name}: ${key.join()}`)).toEqual([])
  })

  test('has exactly the columns of its table, where one row of it is one record', () => {
    const records = declaredDatasets.filter(({ revisions }) => revisions)
    expect(records.length).toBe(10)
    for (const { name, stored, revisions } of records) {
      const inTable = columnsOf(db, revisions!.table).filter(column => column !== 'id')
      expect([name, ...Object.values(stored), 'recorded_at'].toSorted()).toEqual(
        [name, ...inTable].toSorted(),
      )
      expect(inTable.includes(revisions!.time), name).toBe(true)
    }
  })

  test('exports its rows with columns that files may have', () => {
    for (const { name, columns, exported } of declaredDatasets) {
      expect([name, ...datasetRows(db, name)]).toEqual([name])
      const names = [...columns.map(column => column.name), 'recorded_at']
      expect(
        exported.columns.filter(([column]) => !names.includes(column)),
        name,
      ).toEqual([])
    }
  })

  test('has an example with every required column and every column of its key', () => {
    for (const { name, columns, example } of declaredDatasets) {
      const header = example.split('\n')[0]!.split(',')
      const required = columns.filter(column => column.required).map(column => column.name)
      expect(
        required.filter(column => !header.includes(column)),
        name,
      ).toEqual([])
    }
  })

  test('is documented with every column on the page that is made from it', () => {
    const page = generatedParts().datasets
    for (const { name, columns } of declaredDatasets) {
      const section = page.split('### ').find(part => part.startsWith(`${name}\n`)) ?? ''
      const missing = columns.filter(column => !section.includes(`| \`${column.name}\` |`))
      expect({ name, missing }).toEqual({ name, missing: [] })
    }
  })
})
