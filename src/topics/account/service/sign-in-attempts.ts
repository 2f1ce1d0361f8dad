/**
 * Beyond so many names the oldest is dropped, which bounds the memory that anonymous clients can
 * fill.
 */
const namesMax = 50_000

/** Counts failed sign-ins by client address and account. */
export function createSignInAttempts(triesMax: number, windowMs: number, monotonic: () => number) {
  const tries = new Map<string, number[]>()
  return {
    /**
     * Notes a try before its outcome is known, so that many at once do not slip through; `forgive`
     * takes all tries back once one was right. `waitMs`: there were too many, so long until the
     * next.
     */
    take(name: string): { forgive(): void; waitMs?: undefined } | { waitMs: number } {
      const now = monotonic()
      const recent = (tries.get(name) ?? []).filter(at => now - at < windowMs)
      if (recent.length >= triesMax) return { waitMs: recent[0]! + windowMs - now }
      // To the end of the order in which names are forgotten.
      tries.delete(name)
      tries.set(name, [...recent, now])
      if (tries.size > namesMax) tries.delete(tries.keys().next().value!)
      return { forgive: () => void tries.delete(name) }
    },
  }
}
