import { isoInstant, minuteMs } from '../../lib/time/instant.ts'
import { type Calendar, nextRelease, type Release } from '../publishers/calendar.ts'
import type { FeedsDeps } from './deps.ts'
import { feedStateOf } from './settings.ts'
import type { FeedSettingsBook } from './stored-settings.ts'

/** How often late releases are looked for; each is logged once. */
const checkEachMs = minuteMs

/**
 * The first overdue release, because the next one does not make up for it; undefined: none is
 * overdue.
 */
export function missedRelease(
  calendar: Calendar,
  servedAt: number,
  now: number,
): Release | undefined {
  for (const rule of calendar) {
    const release = nextRelease([rule], servedAt)
    if (release && release.expectedBy <= now) return release
  }
  return undefined
}

/** Logs each overdue release once. */
export function createLateReleaseLog(
  { feeds, store, log }: Pick<FeedsDeps, 'feeds' | 'store' | 'log'>,
  settings: Pick<FeedSettingsBook, 'of'>,
): (now: number) => void {
  const notifiedReleases = new Map<string, number>()
  let checkedAt = Number.NEGATIVE_INFINITY
  return now => {
    if (Math.abs(now - checkedAt) < checkEachMs) return
    checkedAt = now
    const states = new Map(store.states().map(state => [state.name, state]))
    for (const feed of feeds()) {
      const { name, calendar } = feed.publisher
      const state = states.get(name)
      if (!state?.servedAt || feedStateOf(feed, settings.of(name)) !== 'ready') continue
      const missed = missedRelease(calendar, state.servedAt, now)
      if (!missed || notifiedReleases.get(name) === missed.at) continue
      notifiedReleases.set(name, missed.at)
      log.warn('feed_late', {
        feed: name,
        release: isoInstant(missed.at),
        expected_by: isoInstant(missed.expectedBy),
        consecutive_failures: state.consecutiveFailures,
      })
    }
  }
}
