import type { Clock } from '../../../lib/time/clock.ts'
import type { AlertPriceStore, PendingPrice } from '../store/prices.ts'

/** One round over the alerts of a code. */
interface CodePass {
  beganAt: number
  /** The number of the newest price that was noted when it began. */
  upTo: number
  hasFired: boolean
}

/**
 * The present or last pass of each code. A code whose pass fired an alert rests until its interval
 * is over, and prices that arrive in the meantime wait.
 */
export type CodePasses = ReturnType<typeof createCodePasses>

export function createCodePasses(prices: AlertPriceStore, clock: Clock, intervalMs: number) {
  const passes = new Map<number, CodePass>()

  const isResting = (seriesId: number): boolean => {
    const last = passes.get(seriesId)
    return last?.hasFired === true && clock.now() < last.beganAt + intervalMs
  }
  const begin = ({ seriesId, number }: PendingPrice) => {
    const upTo = prices.last(seriesId) ?? number
    passes.set(seriesId, { beganAt: clock.now(), upTo, hasFired: false })
  }
  return {
    isResting,
    /**
     * The price to go on with, of a pass that runs or of one that may begin; undefined when none.
     */
    nextPrice: () =>
      prices.heads().find(price => {
        const { seriesId, number } = price
        if (number <= (passes.get(seriesId)?.upTo ?? 0)) return true
        if (isResting(seriesId)) return false
        begin(price)
        return true
      }),
    noteFired(seriesId: number) {
      passes.get(seriesId)!.hasFired = true
    },
    /** When the next resting code is due, after `after`; undefined when none waits. */
    dueAfter(after: number) {
      const endsAt = prices
        .heads()
        .map(({ seriesId }) => (passes.get(seriesId)?.beganAt ?? after) + intervalMs)
        .filter(at => at > after)
      return endsAt.length > 0 ? Math.min(...endsAt) : undefined
    },
  }
}
