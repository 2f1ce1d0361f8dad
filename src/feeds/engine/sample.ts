import { dayMs, isoDay } from '../../lib/time/instant.ts'
import type { Feed } from '../publishers/publishers.ts'
import { FeedFault } from '../reading/fault.ts'
import type { FeedsDeps } from './deps.ts'
import { createPublisherClient } from './publisher-client.ts'
import type { FeedSetting } from './settings.ts'
import { entriesOf } from './view.ts'

/** One value of a publisher, read and not written. */
export interface FeedSample {
  sourceId: string
  period: string
  value: string
  unit: string
}

const sampleDays = 90
/** A user waits for the answer: errors are reported after a second, not after fifteen. */
const sampleAttempts = 2

/**
 * The newest value of the first entry that has one, fetched with the smallest request that the
 * publisher supports.
 */
export async function sampleOf(
  feed: Feed,
  values: FeedSetting,
  deps: Pick<FeedsDeps, 'clock' | 'wait' | 'fetch' | 'userAgent' | 'chance'>,
): Promise<FeedSample> {
  const { publisher } = feed
  const now = deps.clock.now()
  const client = createPublisherClient({
    publisher,
    fetch: deps.fetch,
    clock: deps.clock,
    baseUrl: values.baseUrl ?? '',
    userAgent: deps.userAgent,
    known: undefined,
    chance: deps.chance,
    wait: deps.wait,
    attemptsMax: sampleAttempts,
  })
  const all = entriesOf(feed, values)
  // Whole files are read for one entry as for all.
  const entries = publisher.rereadDays > 0 ? all.slice(0, 1) : all
  const tried = async (since: string | undefined): Promise<FeedSample | undefined> => {
    const reading = { entries, now, key: values.key, since: () => since }
    for await (const sent of publisher.read(client, reading)) {
      const newest = sent.rows.toSorted((a, b) => a.period.localeCompare(b.period)).at(-1)
      if (!newest) continue
      const { sourceId, unit } = sent.entry
      return { sourceId, period: newest.period, value: newest.text, unit: sent.unit ?? unit }
    }
    return undefined
  }
  const recent = isoDay(now - sampleDays * dayMs)
  // A mirror may end earlier; then any value shows that it works.
  const sample = (await tried(recent)) ?? (await tried(undefined))
  if (sample) return sample
  throw new FeedFault('series_empty', 'the publisher answered, and sent no value')
}
