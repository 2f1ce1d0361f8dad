import type { Database } from 'bun:sqlite'
import { writtenSource } from '../math/source-names.ts'
import { createDatedPages, type DatedRow } from '../store/export.ts'
import { createValueSourceStore, type ValueSource } from '../store/value-sources.ts'
import type { IsValueWithheld } from '../store/withheld.ts'

type ListedSeries = { id: number; code: string; currency: string | null }

/** A value with the name of its source. */
export interface SourcedRow extends DatedRow {
  source: string
}

/** `isWanted` selects values by source; a source is undefined where it is unknown. */
export function createDatedRows(
  db: Database,
  isWithheld: IsValueWithheld,
  isWanted: (source: ValueSource | undefined, isViewOnly: boolean) => boolean = () => true,
) {
  const sources = createValueSourceStore(db)
  let viewCount = 0
  const pages = createDatedPages(db, (sourceId, seriesId) => {
    const source = sources.byId(sourceId)
    const isViewOnly = isWithheld(seriesId, sourceId)
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
