import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fieldsOf } from '../../../src/feeds/files/csv.ts'
import { csvText, fromSheetText, sheetText } from '../../../src/lib/text/csv.ts'
import { runs } from '../../support/full.ts'

/** Cells of a CSV text, read by the rules of RFC 4180 and nothing else. */
function read(text: string): string[][] {
  const rows: string[][] = []
  let [row, cell, quoted]: [string[], string, boolean] = [[], '', false]
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i]!
    if (quoted) {
      if (c !== '"') cell += c
      else if (text[i + 1] === '"') {
        cell += '"'
        i += 1
      } else quoted = false
    } else if (c === '"' && cell === '') quoted = true
    else if (c === ',' || c === '\n') {
      row.push(cell)
      cell = ''
      if (c === '\n') {
        rows.push(row)
        row = []
      }
    } else cell += c
  }
  return rows
}

describe('csvText: a cell', () => {
  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', `"'\t=1"`],
    ['\r=1', `"'\r=1"`],
    ['\n=1', `"'\n=1"`],
    ['＝1+1', "'＝1+1"],
    ['=HYPERLINK("http://evil.example","x")', `"'=HYPERLINK(""http://evil.example"",""x"")"`],
    ['="a",=2', `"'=""a"",=2"`],
    ['a;=1+1', '"a;=1+1"'],
    ['a,b', '"a,b"'],
    ['a "b"', '"a ""b"""'],
    ['a\r\nb', '"a\r\nb"'],
    [' =1', '" =1"'],
    ['Brent Crude Oil', 'Brent Crude Oil'],
    ['1-2', '1-2'],
    ['', ''],
    [null, ''],
    [-37.63, '-37.63'],
    [0, '0'],
    [1e6, '1000000'],
    [0.0001, '0.0001'],
    [Number.NaN, ''],
  ])('%j is %j', (cell, text) => {
    expect(csvText([[cell]])).toBe(`${text}\n`)
  })
})

test('written CSV is read back unchanged, and no text cell begins as a formula', () => {
  const text = fc.string({
    unit: fc.constantFrom(
      '=',
      '+',
      '-',
      '@',
      '\t',
      '\r',
      '\n',
      '"',
      ',',
      ';',
      ' ',
      "'",
      'a',
      '\u202e',
      'é',
    ),
  })
  const cell = fc.oneof(
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(null),
  )
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1 }),
      rows => {
        const records = read(csvText(rows))
        expect(records.map(row => row.length)).toEqual(rows.map(row => row.length))
        for (const [i, row] of rows.entries()) {
          for (const [j, value] of row.entries()) {
            const cell = records[i]![j]!
            if (typeof value !== 'string') expect(cell).toBe(value === null ? '' : String(value))
            else {
              expect(cell === value || cell === `'${value}`).toBe(true)
              expect(cell).not.toMatch(/^[=+\-@\t\r]/)
            }
          }
        }
      },
    ),
    { numRuns: runs(300) },
  )
})

describe('sheetText', () => {
  const hostile = fc
    .tuple(
      fc.constantFrom("'", "''", '', ' '),
      fc.constantFrom(...'=+-@\t\r\n＝＋－＠a1'.split('')),
      fc.string(),
    )
    .map(parts => parts.join(''))

  test('is undone exactly, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), text => {
        expect(fromSheetText(sheetText(text))).toBe(text)
        expect(sheetText(text)).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
      }),
      { numRuns: runs(2000) },
    )
  })

  test('is undone where a file is read, in cells of one line', () => {
    const cell = hostile.map(text => text.replaceAll(/[\r\n]/g, ' ').trim())
    fc.assert(
      fc.property(fc.array(cell, { minLength: 2, maxLength: 5 }), cells => {
        expect(fieldsOf(csvText([cells]).slice(0, -1), ',')).toEqual(cells)
      }),
      { numRuns: runs(2000) },
    )
  })
})
