import { sleep } from '../../lib/time/clock.ts'
import type { DataSource, DataSources } from '../../topics/sources/service/sources.ts'
import type { SourceSync } from '../../topics/sources/service/sync.ts'
import type { Job } from './job.ts'

export interface DataSourcesJobDeps {
  dataSources: Pick<DataSources, 'due' | 'nextDue' | 'sweep'>
  sourceSync: Pick<SourceSync, 'sync' | 'isInProgress'>
}

const concurrency = 4
/** Slices of one pass of tidying; the rest follows in the next pass. */
const slicesMax = 50

/**
 * Syncs the data sources that are due, some at a time and without waiting for them, and drops what
 * removed ones have left.
 */
export function createDataSourcesJob({
  dataSources,
  sourceSync,
}: DataSourcesJobDeps): Required<Omit<Job, 'isAlone'>> {
  const inProgress = new Map<number, Promise<void>>()

  const begin = (source: DataSource) => {
    const ended = sourceSync.sync(source).then(() => {
      inProgress.delete(source.number)
    })
    inProgress.set(source.number, ended)
    return ended
  }
  /** Begins due syncs as far as there is room; returns how many. */
  const fill = (): number => {
    const room = concurrency - inProgress.size
    if (room <= 0) return 0
    const due = dataSources.due(concurrency + inProgress.size)
    const free = due
      .filter(source => !inProgress.has(source.number) && !sourceSync.isInProgress(source))
      .slice(0, room)
    for (const source of free) void begin(source)
    return free.length
  }
  return {
    name: 'data sources',
    async pass() {
      fill()
      for (let slices = 0; slices < slicesMax && dataSources.sweep(); slices += 1) await sleep(0)
    },
    nextStop: after => dataSources.nextDue(after) ?? Number.POSITIVE_INFINITY,
    async settled() {
      // More rounds than due sources would mean that one of them makes no progress: it waits for
      // the next pass.
      const attempted = new Set<number>()
      while (inProgress.size > 0) {
        for (const number of inProgress.keys()) attempted.add(number)
        await Promise.all(inProgress.values())
        if (dataSources.due(concurrency).every(source => attempted.has(source.number))) return
        fill()
      }
    },
  }
}
