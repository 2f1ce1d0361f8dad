import { expect, test } from 'bun:test'
import { createRepeats } from '../../../src/feeds/files/repeats.ts'

test('the last of the rows that have one key is found among many others', () => {
  const repeats = createRepeats()
  for (let ordinal = 0; ordinal < 20_000; ordinal += 1)
    repeats.see(ordinal % 5000 === 7 ? 7 : 2 ** 51 + ordinal, ordinal * 3)
  expect([...repeats.lastRows()]).toEqual([[7, { ordinal: 15_007, content: 45_021 }]])
})

test('a file without repeated keys has no last rows', () => {
  const repeats = createRepeats()
  for (const key of [3, 1, 2]) repeats.see(key, 0)
  expect(repeats.lastRows().size).toBe(0)
})
