import { type Clock, createSystemClock } from '../time/clock.ts'
import { nextTurn } from './loop-turns.ts'

export interface SliceOptions {
  stopwatch?: Pick<Clock, 'monotonic'> | undefined
  /** Runs one slice: reads of a database may be begun together. */
  together?: ((slice: () => void) => void) | undefined
}

/**
 * Does `work` for each item, in slices of at most about `sliceMs`, between which other work runs.
 */
export async function inSlices<T>(
  items: readonly T[],
  work: (item: T) => void,
  sliceMs: number,
  { stopwatch = createSystemClock(), together = slice => slice() }: SliceOptions = {},
): Promise<void> {
  let place = 0
  const slice = () => {
    const until = stopwatch.monotonic() + sliceMs
    do {
      work(items[place]!)
      place += 1
    } while (place < items.length && stopwatch.monotonic() < until)
  }
  while (place < items.length) {
    together(slice)
    if (place < items.length) await nextTurn()
  }
}
