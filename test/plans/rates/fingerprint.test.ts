import { describe, expect, test } from 'bun:test'
import { Fingerprint } from '../../../src/plans/rates/fingerprint.ts'

const of = (seed: number, text: string): [number, number] => {
  const print = new Fingerprint(seed)
  print.of(text)
  return [print.high, print.low]
}

describe('Fingerprint', () => {
  test('of 300,000 neighbouring addresses differ, and fill 64 shards evenly', () => {
    const print = new Fingerprint(987_654_321_987)
    const fingerprints = new Set<number>()
    const shards = new Uint32Array(64)
    for (let n = 0; n < 300_000; n += 1) {
      print.of(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)
      fingerprints.add(print.high * 2 ** 21 + (print.low >>> 11))
      shards[print.high >>> 26]! += 1
    }
    expect(fingerprints.size).toBe(300_000)
    // Five standard deviations around 4687.5.
    expect(Math.min(...shards)).toBeGreaterThan(4340)
    expect(Math.max(...shards)).toBeLessThan(5035)
  })

  test('depend on every part of the seed and on every character', () => {
    const texts = ['', 'a', 'b', 'ab', 'ba', 'abc', 'abcd', 'abcde', 'abcdf', 'abcd\0']
    const seeds = [0, 1, 2 ** 32, 2 ** 53 - 1]
    const all = seeds.flatMap(seed => texts.map(text => of(seed, text).join(':')))
    expect(new Set(all).size).toBe(all.length)
  })

  test('are the same for the same seed and text', () => {
    expect(of(123, '203.0.113.7')).toEqual(of(123, '203.0.113.7'))
  })
})
