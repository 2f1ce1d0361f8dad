import { dayMs } from '../../../lib/time/instant.ts'
import { freshUntil } from './freshness.ts'
import type { Listing } from './schedule.ts'

/** An observation up to this age is news, whatever its cadence. */
const newsMs = 7 * dayMs

/**
 * Whether an observation that is recorded now is news: a week old at most, or not stale. An older
 * one is imported history. A period that lies ahead is not news yet.
 */
export const isNews = (listing: Listing, observedAt: number, now: number): boolean =>
  (listing.delivery === undefined || observedAt <= now) &&
  (now <= observedAt + newsMs || now <= freshUntil(listing, observedAt).delayedUntil)
