import { secondMs } from '../../lib/time/instant.ts'
import { lastRelease } from '../publishers/calendar.ts'
import type { Feed } from '../publishers/publishers.ts'
import { FeedFault } from '../reading/fault.ts'
import type { FeedsDeps } from './deps.ts'
import { createLateReleaseLog } from './late.ts'
import { createFeedRuns, type RunOptions } from './runs.ts'
import { type FeedSample, sampleOf } from './sample.ts'
import { type FeedSetting, feedStateOf, refusalOf } from './settings.ts'
import { createFeedSettings } from './stored-settings.ts'
import { type FeedView, viewOf } from './view.ts'

/** The feeds of this instance, in the order in which they are preferred. */
export type Feeds = ReturnType<typeof createFeeds>

const firstRunSlots = 28
const firstRunSlotMs = 2 * secondMs
/** The slack within a slot; smaller than a slot by more than a second. */
const slotSlackMs = 250
const firstRunAfterMs = 2 * secondMs

/**
 * The slot in which an instance catches up after a start, so that instances started together do not
 * poll together. It follows from where the instance is, so each start has the same.
 */
export const firstRunSlot = (host: string, directory: string): number =>
  Number(Bun.hash.crc32(`${host} ${directory}`)) % firstRunSlots

export function createFeeds(deps: FeedsDeps) {
  const { store, clock, chance } = deps
  const settings = createFeedSettings(deps)
  const runs = createFeedRuns(deps, settings)
  const notifyLate = createLateReleaseLog(deps, settings)
  /** Feeds whose next run a start or new settings have scheduled. */
  const catchingUp = new Set<string>()

  const feedOf = (name: string) => deps.feeds().find(feed => feed.publisher.name === name)
  /** Feeds that are turned on and have the key and licence that they need. */
  const ready = () =>
    deps.feeds().filter(feed => feedStateOf(feed, settings.of(feed.publisher.name)) === 'ready')
  const shown = (feed: Feed): FeedView => {
    const { name } = feed.publisher
    const state = store.states().find(state => state.name === name)
    const lastRun = runs.current(name) ?? store.lastRun(name)
    return viewOf(feed, settings.of(name), state, lastRun, clock.now())
  }
  const catchUp = (name: string, at: number) => {
    catchingUp.add(name)
    store.schedule(name, at)
  }
  const runNow = (name: string, options: RunOptions) => {
    const feed = feedOf(name)
    return feed && runs.begin(feed, 'operator', options)
  }

  return {
    names: (): readonly string[] => deps.feeds().map(feed => feed.publisher.name),
    list: () => deps.feeds().map(shown),
    /** Feeds that are turned on, whether they can run or not. */
    active: () =>
      deps
        .feeds()
        .filter(({ publisher }) => settings.of(publisher.name).isOn)
        .map(shown),
    view(name: string) {
      const feed = feedOf(name)
      return feed && shown(feed)
    },
    /** Reads a feed now, after any current run of it; undefined once all are halted. */
    async run(name: string, options: RunOptions = {}) {
      while (!runs.isHalted()) {
        const begun = runNow(name, options)
        if (begun) return await begun.ended
        await runs.ended(name)
      }
      return undefined
    },
    /**
     * Without waiting: the run as it begins; undefined while another run of the feed is under way.
     */
    begin: (name: string, options: RunOptions = {}) => runNow(name, options)?.run,
    async test(name: string): Promise<{ sample: FeedSample } | { fault: FeedFault }> {
      const feed = feedOf(name)!
      const inForce = settings.of(name)
      const { enabled } = deps.configured
      const feedState = feedStateOf(feed, { ...inForce, isOn: enabled, pausedAt: undefined })
      if (feedState !== 'ready') {
        const sentence = refusalOf(feedState, feed, deps.configured)
        return { fault: new FeedFault('unauthorized', sentence) }
      }
      try {
        return { sample: await sampleOf(feed, inForce.values, deps) }
      } catch (error) {
        if (error instanceof FeedFault) return { fault: error }
        throw error
      }
    },
    /** Stores settings; those undefined in `values` are kept. */
    configure(name: string, values: FeedSetting) {
      settings.change(name, values)
      store.state(name)
      catchUp(name, clock.now() + firstRunAfterMs)
    },
    pause: settings.pause,
    resume: settings.resume,
    runs: (name: string | undefined, limit: number, offset: number) =>
      store.runs(name, limit, offset),
    countRuns: (name: string | undefined) => store.countRuns(name),
    /** Runs of the last time that noted what a publisher changed. */
    notedSince: store.notedSince,
    /** Publishers of what this instance serves. */
    sources: () =>
      store.served().flatMap(({ feed: name, codes }) => {
        const feed = feedOf(name)
        return feed && codes > 0 ? [{ feed, codes }] : []
      }),
    /**
     * Closes runs that an earlier process left open; this process has the lock of the directory and
     * has not started a run yet.
     */
    closeOpenRuns: () => void store.closeOpenRuns(clock.now()),
    /** Schedules the runs that were missed. */
    start() {
      const slot = firstRunSlotMs * deps.firstRunSlot
      for (const { publisher } of ready()) {
        const { servedAt } = store.state(publisher.name)
        const release = lastRelease(publisher.calendar, clock.now())
        const isMissed = servedAt === null || (release && release.at > servedAt)
        if (!isMissed) continue
        const slack = Math.floor(slotSlackMs * chance())
        catchUp(publisher.name, clock.now() + firstRunAfterMs + slot + slack)
      }
    },
    /** Starts the runs that are due without awaiting them. */
    pass() {
      if (!deps.configured.enabled || runs.isHalted()) return
      const now = clock.now()
      notifyLate(now)
      for (const feed of ready()) {
        const { name } = feed.publisher
        if (runs.isInProgress(name) || (store.state(name).nextAt ?? now) > now) continue
        runs.begin(feed, catchingUp.delete(name) ? 'start' : 'schedule', {})
      }
    },
    nextDue(after: number) {
      const times = ready().map(({ publisher }) =>
        Math.max(after + 1, store.state(publisher.name).nextAt ?? after + 1),
      )
      return times.length > 0 ? Math.min(...times) : Number.POSITIVE_INFINITY
    },
    settled: runs.settled,
    halt: runs.halt,
  }
}
