import { describe, expect, test } from 'bun:test'
import { createLoopTurns } from '../../../src/lib/process/loop-turns.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'

const nextTurn = () => new Promise<void>(done => setImmediate(() => setImmediate(done)))

describe('createLoopTurns', () => {
  test('what fits into a turn waits for nothing', () => {
    const clock = createManualClock(0)
    const turns = createLoopTurns(clock, 5)
    expect(turns.wait()).toBeUndefined()
    clock.advance(4)
    expect(turns.wait()).toBeUndefined()
  })

  test('what comes after the budget of a turn waits for the next one', async () => {
    const clock = createManualClock(0)
    const turns = createLoopTurns(clock, 5)
    turns.wait()
    clock.advance(5)
    const waiting = turns.wait()
    expect(waiting).toBeInstanceOf(Promise)
    await waiting
    await nextTurn()
    expect(turns.wait()).toBeUndefined()
  })

  test('of those that wait, a turn takes as many as fit, and all come to their turn', async () => {
    const clock = createManualClock(0)
    const turns = createLoopTurns(clock, 5)
    turns.wait()
    clock.advance(5)
    let answered = 0
    let turn = 0
    const turnsOfAnswers: number[] = []
    const counting = (async () => {
      while (answered < 4) {
        await new Promise<void>(done => setImmediate(done))
        turn += 1
      }
    })()
    await Promise.all(
      [1, 2, 3, 4].map(async () => {
        await turns.wait()
        clock.advance(5)
        turnsOfAnswers.push(turn)
        answered += 1
      }),
    )
    await counting
    expect(new Set(turnsOfAnswers).size).toBe(4)
  })
})
