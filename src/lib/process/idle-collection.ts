import { after } from '../time/clock.ts'

/**
 * Collects garbage once no work has come for `idleMs`; the returned function is called for each
 * piece of work. The engine leaves garbage until more is allocated, and for what takes seconds to
 * make that is up to five times of what is in use.
 */
export function createIdleCollection(
  idleMs: number,
  collect: () => void = () => Bun.gc(true),
): () => void {
  let cancel = () => {}
  return () => {
    cancel()
    cancel = after(idleMs, collect)
  }
}
