import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { beatMs, createLagRecord, type LagRecord } from '../../../src/lib/process/loop-lag.ts'
import { createManualClock, type ManualClock } from '../../../src/lib/time/clock.ts'

interface Loop {
  clock: ManualClock
  lag: LagRecord
  changes: boolean[]
  /** Lets the thread have a processor for a time. */
  work(ms: number): void
}

type Stretch = (loop: Loop) => void

function loop(): Loop {
  const clock = createManualClock(0)
  const changes: boolean[] = []
  let workedMs = 0
  return {
    clock,
    changes,
    work(ms) {
      workedMs += ms
    },
    lag: createLagRecord(
      clock,
      () => workedMs,
      isOverloaded => void changes.push(isOverloaded),
    ),
  }
}

/** The schedule comes when it should. */
const free =
  (ms: number): Stretch =>
  ({ clock, lag }) => {
    for (let left = ms; left > 0; left -= beatMs) {
      clock.advance(Math.min(beatMs, left))
      if (left >= beatMs) lag.beat()
    }
  }
/** It comes as soon as the pause is over, as a timer does; `share` of the pause was work. */
const pause =
  (ms: number, share = 1): Stretch =>
  ({ clock, lag, work }) => {
    clock.advance(ms)
    work(ms * share)
    lag.beat()
  }
/** As many pauses, with some time between them, as there is room for. */
const pauses =
  (ms: number, pauseMs: number, freeMs = 0, share = 1): Stretch =>
  of => {
    const end = of.clock.monotonic() + ms
    while (of.clock.monotonic() + pauseMs <= end) {
      pause(pauseMs, share)(of)
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
    [
      'a minute of pauses in which something else had the processor',
      [pauses(60_000, 300, 0, 0.1)],
      false,
    ],
    ['6 s of pauses of which 30% was work', [pauses(6_000, 300, 0, 0.3)], true],
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
          if (of.changes.length > 0) return of.clock.monotonic() - firstAt! >= 5_000
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
    ['after half a second of calm', [free(500)], false],
    ['after a second of calm', [free(1_000)], true],
    [
      'after half a second of calm, a pause and as much again',
      [free(500), pause(300), free(500)],
      false,
    ],
    [
      'after half a second of calm, a pause and a second of calm',
      [free(500), pause(300), free(1_000)],
      true,
    ],
    ['after a pause of a minute, which does not count as calm', [pause(60_000)], false],
    ['after a second of pauses that are short enough', [pauses(1_000, 200)], true],
    ['after a second of pauses that something else made', [pauses(1_200, 300, 0, 0.1)], true],
  ]
  for (const [name, stretches, expected] of cases) {
    test(`${name}: ${expected ? 'yes' : 'no'}`, () => {
      const { lag, changes } = after(stretches, overloaded())
      expect([lag.isOverloaded(), changes]).toEqual(
        expected ? [false, [true, false]] : [true, [true]],
      )
    })
  }

  test('continued load is refused again after one second, and load that returns later after five seconds', () => {
    const of = overloaded()
    after([free(1_000)], of)
    expect(of.lag.isOverloaded()).toBe(false)
    after([pauses(1_800, 300)], of)
    expect(of.lag.isOverloaded()).toBe(true)
    after([free(40_000), pauses(4_500, 300)], of)
    expect(of.lag.isOverloaded()).toBe(false)
    after([pauses(1_500, 300)], of)
    expect(of.changes).toEqual([true, false, true, false, true])
  })
  test('a restarted lag record forgets the overload, all pauses and the pause in progress', () => {
    const of = overloaded()
    of.lag.restart()
    expect(of.lag.isOverloaded()).toBe(false)
    expect(of.changes).toEqual([true, false])
    after([pauses(4_900, 300)], of)
    of.clock.advance(60_000)
    of.lag.restart()
    after([pauses(4_900, 300)], of)
    expect(of.lag.isOverloaded()).toBe(false)
    expect(of.changes).toEqual([true, false])
  })
})
