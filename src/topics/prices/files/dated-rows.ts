import type { Database } from 'bun:sqlite'
import { viewFeeds } from '../../../feeds/publishers/publishers.ts'
import { writtenSource } from '../math/source-names.ts'
import { createDatedPages, type DatedRow } from '../store/export.ts'
import { createValueSourceStore, type ValueSource } from '../store/value-sources.ts'
import { createViewOnly } from '../store/withheld.ts'

type ListedSeries = { id: number; code: string; currency: string | null }

/** A value with the name of its source. */
export interface SourcedRow extends DatedRow {
  source: string
}

/** `isWanted` selects values by source; a source is undefined where it is unknown. */
export function createDatedRows(
  db: Database,
  isWanted: (source: ValueSource | undefined, isViewOnly: boolean) => boolean = () => true,
) {
  const sources = createValueSourceStore(db)
  const view = new Set<string>(viewFeeds)
  const isDisplayed = createViewOnly(db)
  let viewCount = 0
  const pages = createDatedPages(db, (sourceId, seriesId) => {
    const source = sources.byId(sourceId)
    const isViewOnly = (source?.kind === 'feed' && view.has(source.name)) || isDisplayed(seriesId)
    if (!isWanted(source, isViewOnly)) return false
    if (isViewOnly) viewCount += 1
    return true
  })
  return {
    /** How many of those that were given may be checked, and not be passed on. */
    viewOnly: () => viewCount,
    /**
     * The values of series with whose they are and since when they are known, page by page;
     * `withPast` also those that were replaced or deleted.
     */
    *pages(
      series: readonly ListedSeries[],
      withPast: boolean,
      range?: { from: number; to: number },
    ): Generator<SourcedRow[]> {
      for (const page of pages(series, withPast, range))
        yield page.map(row => {
          const source = sources.byId(row.sourceId)
          return { ...row, source: source ? writtenSource(source) : '' }
        })
    },
  }
}
