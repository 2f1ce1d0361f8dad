import { expect, test } from 'bun:test'
import { nextTurn } from '../../../src/lib/process/loop-turns.ts'
import { inSlices } from '../../../src/lib/process/slices.ts'

test('others have a turn after each slice, and every item its own in order', async () => {
  let at = 0
  const seen: (number | string)[] = []
  const work = inSlices(
    [1, 2, 3, 4, 5],
    item => {
      at += 4
      seen.push(item)
    },
    8,
    {
      stopwatch: { monotonic: () => at },
      together(slice) {
        seen.push('begun')
        slice()
      },
    },
  )
  while (!seen.includes(5)) {
    seen.push('other')
    await nextTurn()
  }
  await work
  expect(seen).toEqual(['begun', 1, 2, 'other', 'begun', 3, 4, 'other', 'begun', 5])
})
