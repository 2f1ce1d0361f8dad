/** What a test waited for did not come. */
export class NotCapturedError extends Error {
  override name = 'NotCapturedError'
}

export interface WaitOptions {
  /** Real time to wait; 5,000. */
  timeoutMs?: number
}

/** Things that come by themselves, in the order in which they came. */
export interface Captured<T> {
  /** What has come by now. */
  all(): Promise<readonly T[]>
  /** The first that fits and has not been taken by an earlier call; waits for it where it has not come yet. */
  next(fits?: (item: T) => boolean, options?: WaitOptions): Promise<T>
  /** Waits until so many have come, and answers all of them. */
  count(atLeast: number, options?: WaitOptions): Promise<readonly T[]>
}

const pollMs = 20
const timeoutDefaultMs = 5_000

/** Asks `read` again and again until there is what is waited for. */
export function createCaptured<T>(name: string, read: () => Promise<readonly T[]>): Captured<T> {
  const taken = new Set<string>()
  const waitFor = async <R>(
    pick: (items: readonly T[]) => R | undefined,
    { timeoutMs = timeoutDefaultMs }: WaitOptions = {},
  ) => {
    const endsAt = Date.now() + timeoutMs
    for (;;) {
      const items = await read()
      const result = pick(items)
      if (result !== undefined) return result
      if (Date.now() >= endsAt) {
        throw new NotCapturedError(
          `no such ${name} within ${timeoutMs} ms; there are ${items.length} ${name}s: ${JSON.stringify(items)}`,
        )
      }
      await new Promise(resolve => setTimeout(resolve, pollMs))
    }
  }
  return {
    all: read,
    next: (fits = () => true, options = {}) =>
      waitFor(items => {
        // A state that was restored has fewer items, and what stands at a place there is another thing.
        const keys = items.map((item, index) => `${index} ${JSON.stringify(item)}`)
        const at = items.findIndex((item, index) => !taken.has(keys[index]!) && fits(item))
        if (at === -1) return undefined
        taken.add(keys[at]!)
        return items[at]
      }, options),
    count: (atLeast, options = {}) =>
      waitFor(items => (items.length >= atLeast ? items : undefined), options),
  }
}
