import { describe, expect, test } from 'bun:test'
import { createTurnQueue, nextTurn } from '../../../src/lib/process/loop-turns.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'

/** Counts turns for as long as `work` is under way. */
async function countingTurns(work: (turnNow: () => number) => Promise<unknown>): Promise<void> {
  let turn = 0
  let isOver = false
  const counting = (async () => {
    while (!isOver) {
      await nextTurn()
      turn += 1
    }
  })()
  await work(() => turn)
  isOver = true
  await counting
}

describe('createTurnQueue', () => {
  test('does nothing in the turn in which it is asked', async () => {
    const turns = createTurnQueue(createManualClock(0), 5)
    const done: number[] = []
    const first = turns.run(() => done.push(1))
    const second = turns.run(() => done.push(2))
    await Promise.resolve()
    expect(done).toEqual([])
    expect(await Promise.all([first, second])).toEqual([1, 2])
    expect(done).toEqual([1, 2])
  })

  test('does in one turn what fits into it, and all comes to its turn', async () => {
    const clock = createManualClock(0)
    const turns = createTurnQueue(clock, 5)
    const turnsOfWork: number[] = []
    await countingTurns(turnNow =>
      Promise.all(
        [2, 2, 2, 9, 1].map(ms =>
          turns.run(() => {
            clock.advance(ms)
            turnsOfWork.push(turnNow())
          }),
        ),
      ),
    )
    const [first] = turnsOfWork
    expect(turnsOfWork.map(turn => turn - first!)).toEqual([0, 0, 0, 1, 2])
  })

  test('goes on with what comes while it works, in a later turn', async () => {
    const turns = createTurnQueue(createManualClock(0), 5)
    let later: Promise<string> | undefined
    const first = await turns.run(() => {
      later = turns.run(() => 'later')
      return 'first'
    })
    expect([first, await later]).toEqual(['first', 'later'])
  })

  test('tells whoever asked that the work failed, and goes on', async () => {
    const turns = createTurnQueue(createManualClock(0), 5)
    const failing = turns.run(() => {
      throw new Error('no')
    })
    const failingLater = turns.run(async () => {
      await nextTurn()
      throw new Error('no, later')
    })
    const after = turns.run(() => 'after')
    const outcomes = await Promise.allSettled([failing, failingLater, after])
    expect(
      outcomes.map(outcome => ('value' in outcome ? outcome.value : outcome.reason.message)),
    ).toEqual(['no', 'no, later', 'after'])
  })
})
