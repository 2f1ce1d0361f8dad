import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isQuiet } from '../../../src/plans/messages/quiet.ts'
import { clockText } from '../../support/clock-text.ts'
import { runs } from '../../support/full.ts'

/** Walks the clock from the start to the end, minute by minute. */
function walked(from: number, to: number): Set<number> {
  const quiet = new Set<number>()
  for (let minute = from; minute !== to; minute = (minute + 1) % 1440) quiet.add(minute)
  return quiet
}

test('a minute is quiet exactly when the clock passes it on its way from the start to the end', () => {
  const minute = fc.integer({ min: 0, max: 1439 })
  fc.assert(
    fc.property(minute, minute, (from, to) => {
      const quiet = walked(from, to)
      const hours = { from: clockText(from), to: clockText(to) }
      for (let at = 0; at < 1440; at += 1) expect(isQuiet(hours, at)).toBe(quiet.has(at))
    }),
    { numRuns: runs(50) },
  )
})
