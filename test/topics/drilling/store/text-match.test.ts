import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { phraseOf } from '../../../../src/topics/drilling/store/text-match.ts'

test('every text is a phrase that a full-text search takes, and finds itself in what has it', () => {
  const db = new Database(':memory:')
  db.run("CREATE VIRTUAL TABLE texts USING fts5 (name, tokenize = 'trigram')")
  const find = db.query<{ name: string }, [string]>('SELECT name FROM texts WHERE texts MATCH ?')
  const add = db.query('INSERT INTO texts (name) VALUES (?)')
  for (const text of ['BRADFORD 14', 'BRADFORD "14"', "O'BRIEN * 14", 'AND OR NOT']) {
    add.run(`1 ${text} 3H`)
    expect(find.all(phraseOf(text)).map(row => row.name)).toEqual([`1 ${text} 3H`])
    db.run('DELETE FROM texts')
  }
  add.run('BRADFORD 14')
  expect(find.all(phraseOf('BRADFORD\0'))).toEqual([])
  expect(find.all(phraseOf('\0BRADFORD" OR 14'))).toEqual([])
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 3 }), text => {
      find.all(phraseOf(text))
    }),
  )
})
