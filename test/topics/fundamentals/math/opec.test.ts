import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  opecCountry,
  rankedProducers,
  shareOut,
  totalProduced,
} from '../../../../src/topics/fundamentals/math/opec.ts'

describe('producers', () => {
  test('are ranked by what they produced, equals by name, with their part of the whole', () => {
    const month = [
      { country: 'Libya', bpd: 1_000_000 },
      { country: 'Iraq', bpd: 4_000_000 },
      { country: 'Algeria', bpd: 1_000_000 },
      { country: 'Gabon', bpd: 2_000_000 },
    ]
    expect(totalProduced(month)).toBe(8_000_000)
    expect(rankedProducers(month)).toEqual([
      { country: 'Iraq', bpd: 4_000_000, rank: 1, percentage: 50 },
      { country: 'Gabon', bpd: 2_000_000, rank: 2, percentage: 25 },
      { country: 'Algeria', bpd: 1_000_000, rank: 3, percentage: 12.5 },
      { country: 'Libya', bpd: 1_000_000, rank: 4, percentage: 12.5 },
    ])
  })

  test('of a month without production have no part of it', () => {
    expect(rankedProducers([{ country: 'Libya', bpd: 0 }])).toEqual([
      { country: 'Libya', bpd: 0, rank: 1, percentage: undefined },
    ])
  })

  for (const [text, name] of [
    ['saudi arabia', 'Saudi Arabia'],
    ['UAE', 'United Arab Emirates'],
    ['united_arab_emirates', 'United Arab Emirates'],
    ['IR Iran', 'Iran'],
    [' Equatorial  Guinea ', 'Equatorial Guinea'],
    ['Ecuador', 'Ecuador'],
  ] as const) {
    test(`${JSON.stringify(text)} names the producer ${name}`, () =>
      expect(opecCountry(text)).toBe(name))
  }
})

test('a total that is shared out is there in whole barrels, to the last one', () => {
  const weights = fc
    .array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 15 })
    .filter(list => list.some(item => item > 0))
  fc.assert(
    fc.property(fc.integer({ min: 10_000_000, max: 60_000_000 }), weights, (total, list) => {
      const parts = shareOut(total, list, 1000)
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(total)
      const sum = list.reduce((all, item) => all + item, 0)
      for (const [i, part] of parts.entries())
        expect(Math.abs(part - (total * list[i]!) / sum)).toBeLessThanOrEqual(1000 * list.length)
    }),
  )
})
