import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { recordTable } from '../../src/database/record-table.ts'

interface Item {
  id: string
  accountId: string
  active: boolean
  codes: string[]
  settings: { limit: number } | null
  number: number
}

function itemsIn(db: Database) {
  db.run(`CREATE TABLE items (id TEXT PRIMARY KEY, account_id TEXT NOT NULL, active INTEGER NOT NULL,
    codes TEXT NOT NULL, settings TEXT, seq INTEGER DEFAULT 7) STRICT`)
  return recordTable<Item>(db, 'items', {
    columns: 'id, account_id, active, codes, settings, seq AS number',
    flags: ['active'],
    json: ['codes', 'settings'],
  })
}

const item: Item = {
  id: 'a',
  accountId: 'first',
  active: true,
  codes: ['WTI_USD'],
  settings: null,
  number: 1,
}

test('a record is read back as it was added, with flags, JSON and null', () => {
  const items = itemsIn(new Database(':memory:', { strict: true }))
  items.insert()(item)
  expect(items.where<[string]>('WHERE id = ?').get('a')).toEqual(item)
  expect(items.where<[string]>('WHERE id = ?').get('b')).toBeUndefined()
})

test('a record of a known key replaces all fields but those that are fixed', () => {
  const items = itemsIn(new Database(':memory:', { strict: true }))
  const put = items.upsert('accountId')
  put(item)
  put({ ...item, accountId: 'second', active: false, settings: { limit: 3 } })
  expect(items.where<[]>('').all()).toEqual([{ ...item, active: false, settings: { limit: 3 } }])
})

test('the database gives fields that are left out, and columns can be added to a read', () => {
  const items = itemsIn(new Database(':memory:', { strict: true }))
  items.insert('number')(item)
  const read = items.where<[], { doubled: number }>('', '2 * seq AS doubled')
  expect(read.get()).toEqual({ ...item, number: 7, doubled: 14 })
})

test('an update changes a record only where its condition is met', () => {
  const items = itemsIn(new Database(':memory:', { strict: true }))
  items.insert()(item)
  const update = items.update('active = 1', 'accountId')
  expect(update({ ...item, accountId: 'second', active: false }).changes).toBe(1)
  expect(update({ ...item, number: 9 }).changes).toBe(0)
  expect(items.where<[]>('').all()).toEqual([{ ...item, active: false }])
})
