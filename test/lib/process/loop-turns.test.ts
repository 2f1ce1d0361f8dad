import { describe, expect, test } from 'bun:test'
import { createTurnQueue, isAtOnce, nextTurn } from '../../../src/lib/process/loop-turns.ts'
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

/** A queue whose sources are the names of their connections, with some that compete already. */
async function busyQueue(clock = createManualClock(0)) {
  const turns = createTurnQueue<string>(clock, 5, connection => connection)
  await Promise.all([turns.run('x', () => 0), turns.run('y', () => 0), turns.run('z', () => 0)])
  return turns
}

describe('createTurnQueue', () => {
  test('does what competes in a later turn', async () => {
    const turns = await busyQueue()
    const done: number[] = []
    const first = turns.run('a', () => done.push(1))
    const second = turns.run('b', () => done.push(2))
    await Promise.resolve()
    expect(done).toEqual([])
    expect(await Promise.all([first, second])).toEqual([1, 2])
    expect(done).toEqual([1, 2])
  })

  test('does at once whatever comes from one connection while nothing competes', async () => {
    const turns = createTurnQueue<string>(createManualClock(0), 5, connection => connection)
    for (const connection of ['a', 'b', 'a'])
      for (const look of [1, 2]) {
        await nextTurn()
        const done = [1, 2, 3].map(n => turns.run(connection, () => `${look} ${n}`))
        expect(done).toEqual([`${look} 1`, `${look} 2`, `${look} 3`])
      }
  })

  test('work is done at once until the loop has polled all sockets, and never if it competes', async () => {
    const turns = createTurnQueue<{ connection: string }>(
      createManualClock(0),
      5,
      ({ connection }) => connection,
    )
    const [only, other] = [{ connection: 'a' }, { connection: 'b' }]
    const look = async () => {
      const before = isAtOnce(only)
      await Promise.resolve()
      const after = isAtOnce(only)
      await nextTurn()
      return [before, after, isAtOnce(only)]
    }
    expect(await turns.run(only, look)).toEqual([true, true, false])
    turns.run(other, () => undefined)
    expect(await turns.run(only, look)).toEqual([false, false, false])
  })

  test('a turn queue runs at most 100 pieces of one connection before it serves others', async () => {
    const turns = createTurnQueue<string>(createManualClock(0), 5, connection => connection)
    const done = Array.from({ length: 150 }, (_, n) => turns.run('a', () => n))
    expect(done.findIndex(piece => piece instanceof Promise)).toBe(100)
    expect(await Promise.all(done)).toEqual(Array.from({ length: 150 }, (_, n) => n))
  })

  test('does at once again what comes after connections have stopped competing', async () => {
    const turns = await busyQueue()
    let done: unknown
    for (let n = 0; n < 20; n += 1) {
      done = turns.run('a', () => n)
      await done
      await nextTurn()
    }
    expect(done).toBe(19)
  })

  test('answers the pipelined requests of one connection at once when nothing came for a tenth of a second', async () => {
    const clock = createManualClock(0)
    const turns = await busyQueue(clock)
    await nextTurn()
    clock.advance(99)
    expect(turns.run('a', () => 0)).toBeInstanceOf(Promise)
    await nextTurn()
    await nextTurn()
    clock.advance(100)
    expect([1, 2, 3].map(n => turns.run('a', () => n))).toEqual([1, 2, 3])
  })

  test('does in one turn what fits into it, and all comes to its turn', async () => {
    const clock = createManualClock(0)
    const turns = await busyQueue(clock)
    const turnsOfWork: number[] = []
    await countingTurns(turnNow =>
      Promise.all(
        [2, 2, 2, 9, 1].map(ms =>
          turns.run('a', () => {
            clock.advance(ms)
            turnsOfWork.push(turnNow())
          }),
        ),
      ),
    )
    const [first] = turnsOfWork
    expect(turnsOfWork.map(turn => turn - first!)).toEqual([0, 0, 0, 1, 2])
  })

  test('does what comes while it works in a later turn', async () => {
    const turns = await busyQueue()
    let later: string | Promise<string> | undefined
    const first = await turns.run('a', () => {
      later = turns.run('b', () => 'later')
      return 'first'
    })
    expect({ first, later: await later }).toEqual({ first: 'first', later: 'later' })
  })

  test('reports that work failed to its caller, and does the rest', async () => {
    const turns = await busyQueue()
    const failing = turns.run('a', () => {
      throw new Error('no')
    })
    const failingLater = turns.run('b', async () => {
      await nextTurn()
      throw new Error('no, later')
    })
    const after = turns.run('c', () => 'after')
    const outcomes = await Promise.allSettled([failing, failingLater, after])
    expect(
      outcomes.map(outcome => ('value' in outcome ? outcome.value : outcome.reason.message)),
    ).toEqual(['no', 'no, later', 'after'])
  })
})
