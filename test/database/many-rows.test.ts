import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { manyRows } from '../../src/database/many-rows.ts'

const table = () => {
  const db = new Database(':memory:', { strict: true })
  db.run(
    'CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, n INTEGER NOT NULL, kind TEXT NOT NULL)',
  )
  return db
}

test('any number of rows is written in its order, with ids in a row', () => {
  for (const count of [0, 1, 3, 4, 19, 99, 100, 101, 243, 500]) {
    const db = table()
    db.run("INSERT INTO t VALUES (41, 'before', 0, 'old')")
    const written = manyRows(
      db,
      'INSERT INTO t (name, n, kind)',
      "(?, ?, 'new')",
    )(Array.from({ length: count }, (_, n) => [`name ${n}`, n]))
    expect(written).toEqual({ changes: count, lastId: count === 0 ? 0 : 41 + count })
    expect(db.query("SELECT id, name, n FROM t WHERE kind = 'new' ORDER BY id").values()).toEqual(
      Array.from({ length: count }, (_, n) => [42 + n, `name ${n}`, n]),
    )
  }
})

test('rows that meet each other or older ones are worked in as one by one', () => {
  const tail = 'ON CONFLICT (name) DO UPDATE SET n = n + excluded.n'
  const rows = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat(9)), {
    maxLength: 150,
  })
  fc.assert(
    fc.property(rows, given => {
      const [many, single] = [table(), table()]
      const one = single.query(`INSERT INTO t (name, n, kind) VALUES (?, ?, 'x') ${tail}`)
      for (const [name, n] of given) one.run(name, n)
      manyRows(many, 'INSERT INTO t (name, n, kind)', "(?, ?, 'x')", tail)(given)
      const all = (db: Database) => db.query('SELECT name, n FROM t ORDER BY name').values()
      expect(all(many)).toEqual(all(single))
    }),
  )
})
