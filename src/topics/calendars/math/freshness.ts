import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import { freshnessOf } from '../../delivery/math/freshness.ts'
import { addTradingDays, calendarOf } from './calendar.ts'
import { releasesOf } from './releases.ts'
import { currentUntil, delayedUntil, type Listing } from './schedule.ts'

export type DataStatus = 'current' | 'delayed' | 'stale'

/** Until when an observation is current and until when delayed, Unix ms. */
export interface FreshUntil {
  currentUntil: number
  delayedUntil: number
}

/**
 * Until when an observation of a code is current and until when delayed, Unix ms: days on which its
 * market is closed do not age it. By a release calendar it is current for a business day after the
 * publication that follows its own, and delayed until two more have come.
 */
export function freshUntil(listing: Listing, observedAt: number): FreshUntil {
  const { cadence, releaseLagDays = 0, delivery } = listing
  if (delivery) return freshnessOf(delivery, observedAt)
  const market = calendarOf(listing)
  const releases = releasesOf(listing, observedAt, 4)
  if (releases) {
    const current = addTradingDays(market, releases[1]!.at, 1)
    return { currentUntil: current, delayedUntil: Math.max(current, releases[3]!.at) }
  }
  const lagMs = releaseLagDays * dayMs
  return {
    currentUntil: currentUntil(cadence, market, observedAt) + lagMs,
    delayedUntil: delayedUntil(cadence, market, observedAt) + lagMs,
  }
}

export function statusAt({ currentUntil, delayedUntil }: FreshUntil, now: number): DataStatus {
  if (now <= currentUntil) return 'current'
  return now <= delayedUntil ? 'delayed' : 'stale'
}

export function dataStatus(listing: Listing, observedAt: number, now: number): DataStatus {
  // Without a calendar of releases a value is current for a business day at least, so for more than
  // a day: mostly no day need be looked up.
  if (!listing.releases && !listing.delivery && now - observedAt <= dayMs) return 'current'
  return statusAt(freshUntil(listing, observedAt), now)
}

/** The age in hours past which this observation of a code is stale. */
export const maxAgeHours = (listing: Listing, observedAt: number): number =>
  Math.ceil((freshUntil(listing, observedAt).delayedUntil - observedAt) / hourMs)
