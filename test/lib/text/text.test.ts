import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { thousands } from '../../../src/lib/text/text.ts'

test('whole numbers are grouped as en-US groups them', () => {
  const whole = fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
  fc.assert(fc.property(whole, n => thousands(String(n)) === n.toLocaleString('en-US')))
  for (const n of [0, 7, 999, 1000, 999_999, 1_000_000, -1000])
    expect(thousands(String(n))).toBe(n.toLocaleString('en-US'))
})
