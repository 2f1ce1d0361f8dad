import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { pieceOf, TextBuffer } from '../../../src/lib/text/text-buffer.ts'
import { isoDay, isoInstant } from '../../../src/lib/time/instant.ts'
import { formatPrice } from '../../../src/topics/prices/math/format.ts'

const written = (write: (buffer: TextBuffer) => void): string => {
  const buffer = new TextBuffer()
  write(buffer)
  return new TextDecoder().decode(buffer.take())
}

test('a buffer writes instants and days as isoInstant and isoDay do', () => {
  const at = fc.integer({ min: Date.UTC(100, 0, 1), max: Date.UTC(9999, 11, 31) })
  fc.assert(
    fc.property(at, moment => {
      expect(written(buffer => buffer.instant(moment))).toBe(isoInstant(moment))
      expect(written(buffer => buffer.isoDay(moment))).toBe(isoDay(moment))
    }),
    { numRuns: 2000 },
  )
  for (const day of ['1999-12-31', '2000-02-29', '1900-03-01', '2024-02-29', '1969-12-31'])
    expect(written(buffer => buffer.isoDay(Date.parse(day)))).toBe(day)
})

test('a buffer writes numbers of a few decimals as JavaScript does, and prices as people read them', () => {
  const units = fc.integer({ min: -999_999_999, max: 999_999_999 })
  fc.assert(
    fc.property(units, fc.integer({ min: 0, max: 6 }), (count, decimals) => {
      const value = count / 10 ** decimals
      expect(written(buffer => buffer.decimal(count, decimals))).toBe(String(value))
      expect(written(buffer => buffer.integer(count))).toBe(String(count))
      expect(written(buffer => buffer.grouped(count, decimals))).toBe(
        formatPrice(Math.abs(value), decimals, null, '', true),
      )
    }),
    { numRuns: 2000 },
  )
})

test('a text buffer grows with its text, keeps characters of any alphabet and is empty after use', () => {
  const long = 'price €, цена '.repeat(20_000)
  const buffer = new TextBuffer()
  buffer.text('£')
  buffer.piece(pieceOf('"a":'))
  buffer.text(long)
  expect(new TextDecoder().decode(buffer.take())).toBe(`£"a":${long}`)
  buffer.text('unfinished')
  buffer.clear()
  buffer.text('b')
  expect(new TextDecoder().decode(buffer.take())).toBe('b')
})
