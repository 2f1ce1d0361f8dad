import type { WorldFeed } from './prices/feed.ts'
import { leadingCodes } from './prices/history-depth.ts'

/** The fixture data of one family that is more than price series. */
export interface Filler {
  /**
   * Of a long history: writes some of it for about `budgetMs`, at least one transaction; false once
   * there is nothing to write at present.
   */
  step?(budgetMs: number): boolean
  /**
   * Writes what was published up to `now` and is not there yet; nothing before the history is
   * there.
   */
  advance(now: number): unknown
}

/**
 * A feed of prices that brings other families along: their history after the codes that everybody
 * tries first, then whatever is published as the clock moves.
 */
export function withFillers(feed: WorldFeed, fillers: readonly Filler[]): WorldFeed {
  // A feed fills the leading codes first.
  const leadersHere = () => feed.filled().size >= Math.min(leadingCodes.length, feed.total)
  return {
    total: feed.total,
    filled: feed.filled,
    step(budgetMs) {
      const begun = leadersHere()
      if (begun) for (const filler of fillers) if (filler.step?.(budgetMs)) return true
      return feed.step(budgetMs) || !begun
    },
    advance(now) {
      const count = feed.advance(now)
      if (!feed.paused) for (const filler of fillers) filler.advance(now)
      return count
    },
    get paused() {
      return feed.paused
    },
    set paused(on) {
      feed.paused = on
    },
  }
}
