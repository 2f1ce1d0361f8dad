import { expect, test } from 'bun:test'
import { nextTurn } from '../../../src/lib/process/loop-turns.ts'
import { createYoungCollector } from '../../../src/lib/process/young-garbage.ts'

test('what is young is collected once for so many calls, after what runs has come to its end', async () => {
  let collections = 0
  const count = createYoungCollector(3, () => {
    collections += 1
  })
  for (let i = 0; i < 7; i += 1) count()
  expect(collections).toBe(0)
  await nextTurn()
  expect(collections).toBe(2)
})
