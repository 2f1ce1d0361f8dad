/** One kind of demo data: its history, and its publications as time passes. */
export interface DemoData {
  /** Its part of the time that generating a whole history takes, in percent. */
  percent: number
  /**
   * Writes what was published before `now`. Yields how much of it is written, 0 to 1, some tens of
   * milliseconds apart.
   */
  generate(now: number): Iterable<number>
  /** Writes what is published in `[from, to)`; returns how many rows. The same again changes nothing. */
  publish(from: number, to: number): number
}

/** History that is written at once. */
export function* writtenAtOnce(write: () => unknown): Generator<number> {
  write()
  yield 1
}
