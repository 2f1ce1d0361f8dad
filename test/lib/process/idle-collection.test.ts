import { expect, test } from 'bun:test'
import { createIdleCollection } from '../../../src/lib/process/idle-collection.ts'
import { sleep } from '../../../src/lib/time/clock.ts'

test('garbage is collected once after the last of several pieces of work', async () => {
  let collections = 0
  let collected = () => {}
  const done = new Promise<void>(resolve => {
    collected = resolve
  })
  const noteWork = createIdleCollection(20, () => {
    collections += 1
    collected()
  })
  noteWork()
  noteWork()
  await done
  // The timer of the earlier piece, if it were still there, ends now.
  await sleep(20)
  expect(collections).toBe(1)
})
