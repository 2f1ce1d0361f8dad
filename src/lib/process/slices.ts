import { type Clock, createSystemClock } from '../time/clock.ts'
import { nextTurn } from './loop-turns.ts'

/** Does `work` for each item, for at most about `sliceMs` before everybody else has a turn. */
export async function inSlices<T>(
  items: readonly T[],
  work: (item: T) => void,
  sliceMs: number,
  stopwatch: Pick<Clock, 'monotonic'> = createSystemClock(),
): Promise<void> {
  let until = stopwatch.monotonic() + sliceMs
  for (const item of items) {
    work(item)
    if (stopwatch.monotonic() < until) continue
    await nextTurn()
    until = stopwatch.monotonic() + sliceMs
  }
}
