import type { FeedRun, FeedState } from '../../store/feeds/feeds.ts'
import { nextRelease } from '../publishers/calendar.ts'
import { type MapLine, targetName } from '../publishers/map.ts'
import type { Feed } from '../publishers/publishers.ts'
import { missedRelease } from './late.ts'
import { type FeedSetting, type FeedSettings, standingOf } from './settings.ts'

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
  lines: readonly MapLine[]
  codes: number
  datasets: string[]
  lastRun: FeedRun | undefined
  lastNewAt: number | undefined
  nextRunAt: number | undefined
  expectedBy: number | undefined
  consecutiveFailures: number
}

/** A feed with what is known of it. */
export function viewOf(
  feed: Feed,
  settings: FeedSettings,
  state: FeedState | undefined,
  lastRun: FeedRun | undefined,
  now: number,
): FeedView {
  const { calendar } = feed.publisher
  const lines = linesOf(feed, settings.values)
  const standing = standingOf(feed, settings)
  const isActive = standing === 'ready'
  return {
    feed,
    state: isActive ? conditionOf(feed, state, lastRun, now) : standing,
    settings,
    lines,
    codes: new Set(lines.flatMap(line => ('code' in line.target ? [line.target.code] : []))).size,
    datasets: [
      ...new Set(lines.flatMap(line => ('dataset' in line.target ? [targetName(line)] : []))),
    ],
    lastRun,
    lastNewAt: state?.lastNewAt ?? undefined,
    nextRunAt: isActive ? (state?.nextAt ?? nextRelease(calendar, now)?.at) : undefined,
    expectedBy: isActive ? nextRelease(calendar, now)?.expectedBy : undefined,
    consecutiveFailures: state?.consecutiveFailures ?? 0,
  }
}

/** The lines of a map that are wanted. */
export function linesOf({ map }: Feed, { codes }: FeedSetting): readonly MapLine[] {
  if (!codes) return map
  const wanted = new Set(codes)
  return map.filter(line => wanted.has(targetName(line)))
}

/** Late is what should have come by now, and has not. */
export function conditionOf(
  { publisher }: Feed,
  state: FeedState | undefined,
  lastRun: FeedRun | undefined,
  now: number,
): FeedCondition {
  if (lastRun?.result === 'failed' || lastRun?.result === 'held') return 'failing'
  if (!state || state.servedAt === null) return 'ok'
  return missedRelease(publisher.calendar, state.servedAt, now) ? 'late' : 'ok'
}
