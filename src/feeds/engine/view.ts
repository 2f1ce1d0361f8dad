import { nextRelease } from '../publishers/calendar.ts'
import { type MapEntry, targetName } from '../publishers/map.ts'
import type { Publisher } from '../publishers/publisher.ts'
import type { Feed } from '../publishers/publishers.ts'
import type { FeedRun, FeedState } from '../store/feeds.ts'
import { missedRelease } from './late.ts'
import { type FeedSetting, type FeedSettings, feedStateOf } from './settings.ts'

export type FeedCondition =
  | 'ok'
  | 'late'
  | 'failing'
  | 'needs_key'
  | 'needs_license'
  | 'paused'
  | 'off'

/** A feed as the operator sees it. */
export interface FeedView {
  feed: Feed
  state: FeedCondition
  settings: FeedSettings
  entries: readonly MapEntry[]
  codes: number
  datasets: string[]
  lastRun: FeedRun | undefined
  lastNewAt: number | undefined
  nextRunAt: number | undefined
  /**
   * When a late feed should have been updated; for other feeds, when the next release should
   * arrive.
   */
  expectedBy: number | undefined
  consecutiveFailures: number
}

export function viewOf(
  feed: Feed,
  settings: FeedSettings,
  state: FeedState | undefined,
  lastRun: FeedRun | undefined,
  now: number,
): FeedView {
  const { calendar } = feed.publisher
  const entries = entriesOf(feed, settings.values)
  const feedState = feedStateOf(feed, settings)
  const isActive = feedState === 'ready'
  return {
    feed,
    state: isActive ? conditionOf(feed, state, lastRun, now) : feedState,
    settings,
    entries,
    codes: new Set(entries.flatMap(entry => ('code' in entry.target ? [entry.target.code] : [])))
      .size,
    datasets: [
      ...new Set(entries.flatMap(entry => ('dataset' in entry.target ? [targetName(entry)] : []))),
    ],
    lastRun,
    lastNewAt: state?.lastNewAt ?? undefined,
    nextRunAt: isActive ? (state?.nextAt ?? nextRelease(calendar, now)?.at) : undefined,
    expectedBy: isActive ? expectedByOf(feed, state, now) : undefined,
    consecutiveFailures: state?.consecutiveFailures ?? 0,
  }
}

/** The entries of a map that are wanted. */
export function entriesOf({ map }: Feed, { codes }: FeedSetting): readonly MapEntry[] {
  if (!codes) return map
  const wanted = new Set(codes)
  return map.filter(entry => wanted.has(targetName(entry)))
}

/** A feed is late if an expected release has not arrived. */
export function conditionOf(
  { publisher }: Feed,
  state: FeedState | undefined,
  lastRun: FeedRun | undefined,
  now: number,
): FeedCondition {
  if (lastRun?.result === 'failed' || lastRun?.result === 'held') return 'failing'
  return missedBy(publisher, state, now) ? 'late' : 'ok'
}

const expectedByOf = ({ publisher }: Feed, state: FeedState | undefined, now: number) =>
  (missedBy(publisher, state, now) ?? nextRelease(publisher.calendar, now))?.expectedBy

/** The overdue release; a feed that has never brought anything misses nothing. */
const missedBy = ({ calendar }: Publisher, state: FeedState | undefined, now: number) =>
  state && state.servedAt !== null ? missedRelease(calendar, state.servedAt, now) : undefined
