import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { csvRecordsOf } from '../../../src/console/pages/operator/csv-records.ts'
import { importRowsOf } from '../../../src/console/pages/operator/import-rows.ts'

describe('importRowsOf', () => {
  test('reads columns in any order, with what it does not need between quotes', () => {
    const text =
      '\uFEFF"Note, if any",observed_at,price,CODE\r\n"a, ""b""\r\nc",2026-11-20T15:00:00Z,71.5,WTI_USD\r\n\r\n,2026-11-21,-37.63,"WTI_USD"\r\n'
    expect(importRowsOf(text)).toEqual([
      { code: 'WTI_USD', price: 71.5, observed_at: '2026-11-20T15:00:00Z' },
      { code: 'WTI_USD', price: -37.63, observed_at: '2026-11-21' },
    ])
  })

  test('pasted import rows accept other separators and a currency column', () => {
    expect(importRowsOf('code;date;close;currency\nGOLD_USD;2026-11-20;4000.5;USD')).toEqual([
      { code: 'GOLD_USD', price: 4000.5, observed_at: '2026-11-20', currency: 'USD' },
    ])
  })

  test.each([
    ['code,price\nWTI_USD,1', 'got code, price'],
    ['', 'got none'],
    ['code,date,price\nA,2026-11-20,1\n\nB,2026-11-20,"1,234.5"', 'separators; got “1,234.5”'],
    ['code,date,price\nA,2026-11-20,', 'Line 2: the price must be a number'],
    ['code,date,price\nA,2026-11-20,1\n"B,2026-11-20,2', 'Line 3: text follows'],
    ['code,date,price\nA,"2026"-11-20,1', 'Line 2: text follows'],
  ])('%j is refused with the line', (text, words) => {
    expect(() => importRowsOf(text)).toThrow(words)
  })
})

test('every table that is written with quotes is read as it was', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', ' ', '1') })
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1 }),
      rows => {
        const written = [['x', 'y'], ...rows]
          .map(row => row.map(text => `"${text.replaceAll('"', '""')}"`).join(','))
          .join('\n')
        expect(csvRecordsOf(written).map(({ cells }) => cells)).toEqual([['x', 'y'], ...rows])
      },
    ),
  )
})
