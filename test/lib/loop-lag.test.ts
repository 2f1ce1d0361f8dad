import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createManualClock, type ManualClock } from '../../src/lib/clock.ts'
import { beatMs, createLagRecord, type LagRecord } from '../../src/lib/loop-lag.ts'

interface Loop {
  clock: ManualClock
  lag: LagRecord
  changes: boolean[]
}

type Stretch = (loop: Loop) => void

function loop(): Loop {
  const clock = createManualClock(0)
  const changes: boolean[] = []
  return {
    clock,
    changes,
    lag: createLagRecord(clock, isOverloaded => void changes.push(isOverloaded)),
  }
}

/** The rhythm comes when it should. */
const free =
  (ms: number): Stretch =>
  ({ clock, lag }) => {
    for (let left = ms; left > 0; left -= beatMs) {
      clock.advance(Math.min(beatMs, left))
      if (left >= beatMs) lag.beat()
    }
  }
/** It comes as soon as the pause is over, as a timer does. */
const pause =
  (ms: number): Stretch =>
  ({ clock, lag }) => {
    clock.advance(ms)
    lag.beat()
  }
/** As many pauses, with some time between them, as there is room for. */
const pauses =
  (ms: number, pauseMs: number, freeMs = 0): Stretch =>
  of => {
    const end = of.clock.monotonic() + ms
    while (of.clock.monotonic() + pauseMs <= end) {
      pause(pauseMs)(of)
      free(freeMs)(of)
    }
  }

const after = (stretches: readonly Stretch[], of = loop()): Loop => {
  for (const stretch of stretches) stretch(of)
  return of
}

describe('createLagRecord: overloaded', () => {
  const cases: [string, Stretch[], boolean][] = [
    ['nothing to do for a minute', [free(60_000)], false],
    ['pauses of 300 ms, one after the other, for 6 s', [pauses(6_000, 300)], true],
    ['with a few beats between them, for 7 s', [pauses(7_000, 300, 60)], true],
    [
      'with one and a half, so that each begins amid a beat, for 7 s',
      [pauses(7_000, 300, 1.5 * beatMs)],
      true,
    ],
    ['one after the other for 4.9 s', [pauses(4_900, 300)], false],
    ['the same from amid a measurement', [free(475), pauses(4_900, 300)], false],
    ['the same and then nothing', [pauses(4_900, 300), free(5_000)], false],
    [
      '3 s of them, a second of calm, and 3 s again',
      [pauses(3_000, 300), free(1_000), pauses(3_000, 300)],
      false,
    ],
    ['pauses of 200 ms, one after the other, for a minute', [pauses(60_000, 200)], false],
    ['a pause of 300 ms every other second, for a minute', [pauses(60_000, 300, 1_700)], false],
    ['one pause of 3 s', [pause(3_000), free(2_000)], false],
    ['one pause of a minute, as of a machine that slept', [pause(60_000), free(2_000)], false],
    [
      'a pause of a minute among 3.5 s of short ones',
      [pauses(2_000, 300), pause(60_000), pauses(1_500, 300)],
      false,
    ],
    ['two pauses of 5 s', [pauses(10_000, 5_000)], false],
    ['six pauses of 2 s', [pauses(12_000, 2_000)], true],
  ]
  for (const [name, stretches, expected] of cases) {
    test(`${name}: ${expected ? 'yes' : 'no'}`, () => {
      const { lag, changes } = after(stretches)
      expect([lag.isOverloaded(), changes]).toEqual(expected ? [true, [true]] : [false, []])
    })
  }

  test('never before pauses have come for 5 s without a second between two of them', () => {
    const step = fc.record({
      pauseMs: fc.integer({ min: 0, max: 2_000 }),
      freeMs: fc.integer({ min: 0, max: 1_100 }),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), steps => {
        const of = loop()
        let firstAt: number | undefined
        for (const { pauseMs, freeMs } of steps) {
          if (pauseMs > 250) firstAt ??= of.clock.monotonic()
          after([pause(pauseMs), free(freeMs)], of)
          if (of.lag.isOverloaded()) return of.clock.monotonic() - firstAt! >= 5_000
          if (freeMs >= 1_000 + beatMs) firstAt = undefined
        }
        return true
      }),
    )
  })
})

describe('createLagRecord: no longer overloaded', () => {
  const overloaded = () => after([pauses(6_000, 300)])
  const cases: [string, Stretch[], boolean][] = [
    ['after 9 s of calm', [free(9_000)], false],
    ['after 11 s of calm', [free(11_000)], true],
    ['after 9 s of calm, a pause and 9 s of calm', [free(9_000), pause(300), free(9_000)], false],
    ['after 9 s of calm, a pause and 11 s of calm', [free(9_000), pause(300), free(11_000)], true],
    ['after a pause of a minute, which is no calm', [pause(60_000)], false],
    ['after 11 s of pauses that are short enough', [pauses(11_000, 200)], true],
  ]
  for (const [name, stretches, expected] of cases) {
    test(`${name}: ${expected ? 'yes' : 'no'}`, () => {
      const { lag, changes } = after(stretches, overloaded())
      expect([lag.isOverloaded(), changes]).toEqual(
        expected ? [false, [true, false]] : [true, [true]],
      )
    })
  }

  test('a load that comes back with every end of it makes no more than one overload in 15 s, each told once', () => {
    const of = loop()
    for (let i = 0; i < 10; i++) {
      while (!of.lag.isOverloaded()) pause(300)(of)
      while (of.lag.isOverloaded()) free(100)(of)
    }
    expect(of.changes).toEqual(Array.from({ length: 20 }, (_, i) => i % 2 === 0))
    expect(of.clock.monotonic()).toBeGreaterThan(10 * 15_000)
  })
  test('begun anew, nothing of what was counts: no overload, no pauses, not the one under way', () => {
    const of = overloaded()
    of.lag.restart()
    expect([of.lag.isOverloaded(), of.changes]).toEqual([false, [true, false]])
    after([pauses(4_900, 300)], of)
    of.clock.advance(60_000)
    of.lag.restart()
    after([pauses(4_900, 300)], of)
    expect([of.lag.isOverloaded(), of.changes]).toEqual([false, [true, false]])
  })
})
