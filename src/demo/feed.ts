import type { Settings } from '../topics/operator/store/settings.ts'
import type { DemoData } from './demo-data.ts'

/** The data of a demo instance: generated once, then published as time passes. */
export type DemoFeed = ReturnType<typeof createDemoFeed>

const pausedName = 'fixture.paused'

/** Up to where the history is complete, Unix ms: stored in the database that has it. */
const publishedToName = 'fixture.published_to'

export interface DemoFeedDeps {
  /** In the order in which they need each other. */
  data: readonly DemoData[]
  codes: number
  settings: Pick<Settings, 'get' | 'set'>
  /** Notes rows of datasets for the feed of changes: of the whole history, or of the last part. */
  noteRows(part: 'history' | 'newest'): void
}

export function createDemoFeed({ data, codes, settings, noteRows }: DemoFeedDeps) {
  const wholePercent = data.reduce((sum, { percent }) => sum + percent, 0)
  let publishedTo = Number(settings.get(publishedToName) ?? Number.NaN)
  let isPaused = settings.get(pausedName) === 'true'
  return {
    /** How many codes have data. */
    codes,
    /** Writes the whole history up to `now`. Yields how much of it is written, 0 to 1. */
    *generate(now: number): Generator<number> {
      let donePercent = 0
      for (const { percent, generate } of data) {
        for (const share of generate(now)) yield (donePercent + percent * share) / wholePercent
        donePercent += percent
      }
      noteRows('history')
      publishedTo = now
      settings.set(publishedToName, String(now))
    },
    /** Writes what was published since the last time and before `now`. Does nothing while paused. */
    advance(now: number): void {
      if (isPaused || !(publishedTo < now)) return
      let count = 0
      for (const { publish } of data) count += publish(publishedTo, now)
      publishedTo = now
      // After the data: a crash between the two writes it again, which changes nothing. Not without
      // data: a second in which nothing is published should not cost a transaction.
      if (count === 0) return
      noteRows('newest')
      settings.set(publishedToName, String(now))
    },
    /** Paused, data ages as time passes; afterwards the next call catches up. */
    get paused() {
      return isPaused
    },
    set paused(on: boolean) {
      isPaused = on
      settings.set(pausedName, String(on))
    },
  }
}
