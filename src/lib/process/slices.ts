import { type Clock, createSystemClock } from '../time/clock.ts'
import { nextTurn } from './loop-turns.ts'

export interface PauseOptions {
  stopwatch?: Pick<Clock, 'monotonic'> | undefined
  /** Waits for the next turn of the event loop. */
  turn?: (() => Promise<void>) | undefined
}

export interface SliceOptions extends Pick<PauseOptions, 'stopwatch'> {
  /** Runs one slice: reads of a database may be begun together. */
  together?: ((slice: () => void) => void) | undefined
}

/**
 * A pause for loops of long work, awaited between two pieces of it: other work runs in it when a
 * slice of about `sliceMs` is over.
 */
export function createPause(
  sliceMs: number,
  { stopwatch = createSystemClock(), turn = nextTurn }: PauseOptions = {},
): () => Promise<void> {
  let until = stopwatch.monotonic() + sliceMs
  return async () => {
    if (stopwatch.monotonic() < until) return
    await turn()
    until = stopwatch.monotonic() + sliceMs
  }
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
