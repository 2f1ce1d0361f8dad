import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sheetTable } from '../../../../src/topics/spreadsheet/operations/table.ts'

describe('sheetTable: the rows of an answer', () => {
  for (const [name, body, columns, rows] of [
    ['a list', [{ a: 1 }, { a: 2 }], ['a'], [[1], [2]]],
    ['a list under data', { status: 'success', data: [{ a: 1 }] }, ['a'], [[1]]],
    ['the list that data begins with, even empty', { data: { prices: [], count: 0 } }, [], []],
    [
      'the list that data begins with',
      { data: { prices: [{ code: 'X', n: 1 }], missing: ['Y'] } },
      ['code', 'n'],
      [['X', 1]],
    ],
    [
      'the first list of objects',
      { commodity: 'X', days: ['mon'], contracts: [{ month: 1 }] },
      ['month'],
      [[1]],
    ],
    [
      'one object',
      { data: { code: 'X', change: { '24h': 1 }, aliases: ['Y'] } },
      ['code', 'change.24h', 'aliases.0'],
      [['X', 1, 'Y']],
    ],
    [
      'a map of objects',
      { data: { cushing: { value: 1 }, spr: { value: 2 } } },
      ['value'],
      [[1], [2]],
    ],
    [
      'a map that data begins with',
      { data: { prices: { X: { n: 1 }, Y: { n: 2 } }, count: 2 } },
      ['n'],
      [[1], [2]],
    ],
    ['scalars', { data: ['X', 'Y'] }, ['value'], [['X'], ['Y']]],
    [
      'rows that differ',
      { data: [{ a: 1, b: { c: 2 } }, { b: 3 }] },
      ['a', 'b.c'],
      [
        [1, 2],
        [null, null],
      ],
    ],
  ] as const) {
    test(`the rows of a sheet are ${name}`, () => {
      expect(sheetTable(body, 100)).toEqual({
        columns: [...columns],
        rows: rows.map(row => [...row]),
        sourceRowCount: rows.length,
      })
    })
  }

  test('fit the sheet, whatever the answer', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 100 }), (body, limit) => {
        const { columns, rows, sourceRowCount } = sheetTable(body, limit)
        expect(columns.length).toBeLessThanOrEqual(12)
        expect(rows.length).toBe(Math.min(limit, sourceRowCount))
        for (const row of rows) {
          expect(row.length).toBe(columns.length)
          for (const cell of row) if (typeof cell === 'string') expect(cell).not.toMatch(/^[=+\-@]/)
        }
      }),
    )
  })
})
