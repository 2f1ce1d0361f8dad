import { dayMs } from '../../../lib/time/instant.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Formulas } from '../../formulas/service/formulas.ts'
import { bucketEnd, type Observation } from '../math/bars.ts'
import type { ValueSource, ValueSourceStore } from '../store/value-sources.ts'
import type { QuarantineList } from './quarantine.ts'
import type { HistoryRange, HistoryRow } from './reads/history.ts'

/** The sources of the rows of a page. */
export interface RowSources {
  /** Name of the source of a row's value; for a bar, of its last value. */
  nameOf(row: HistoryRow): string
  /** Code of the delivery periods that a row is the mean of; none for a bar of several days. */
  derivedFrom(row: HistoryRow): string | undefined
  /**
   * Replaces each series by one for every source of the values in the rows. A series without a row
   * is left out, unless its numbers are generated; without any row each has its own source.
   */
  seriesOf(all: readonly Series[]): Series[]
}

interface RowSourcesDeps {
  sources: ValueSourceStore
  catalogue: Catalogue
  quarantine: QuarantineList
  averagedFor: Formulas['averagedFor']
  isSourced(seriesId: number): boolean
  published(series: Series, source: ValueSource | undefined): Series
  attributed(series: Series, value: Observation): Series
}

/** Finds the sources of rows; `isPast`: their values may have been replaced since. */
export const createRowSources =
  (deps: RowSourcesDeps) =>
  (
    rows: readonly HistoryRow[],
    range: Pick<HistoryRange, 'interval' | 'from' | 'to' | 'cutOf'>,
    isPast: boolean,
  ): RowSources => {
    const { sources, catalogue, quarantine, averagedFor, isSourced, published, attributed } = deps
    const publishedBySource = new Map<string, Series>()
    const publishedAs = (seriesId: number, source: ValueSource | undefined): Series => {
      const key = `${seriesId} ${source?.id ?? 0}`
      return publishedBySource.getOrInsertComputed(key, () =>
        published(catalogue.byId(seriesId), source),
      )
    }
    /**
     * The sources of all values in the rows of a series, where none of them can have been replaced.
     */
    const current = (seriesId: number, seriesRows: readonly HistoryRow[]): Series[] => {
      const span = spanOf(seriesRows, range)
      const ids = quarantine
        .clear(seriesId, span.from, span.to)
        .flatMap(stretch => sources.between(seriesId, stretch.from, stretch.to))
      return [...new Set(ids)].map(id => publishedAs(seriesId, sources.byId(id)))
    }
    const publishedIn = (seriesId: number, row: HistoryRow): Series => {
      const leg = averagedFor({ id: seriesId }, row)
      if (!leg)
        return publishedAs(seriesId, sources.ofValue(seriesId, row.observedAt, row.recordedAt))
      const key = `${seriesId} of ${leg.id}`
      return publishedBySource.getOrInsertComputed(key, () =>
        attributed(catalogue.byId(seriesId), row),
      )
    }
    const past = (seriesId: number, seriesRows: readonly HistoryRow[]): Series[] => [
      ...new Set(seriesRows.map(row => publishedIn(seriesId, row))),
    ]
    const sourcesOfSeries = (id: number): Series[] => {
      if (!isSourced(id)) return [catalogue.byId(id)]
      const seriesRows = rows.filter(row => row.seriesId === id)
      const isMixed = catalogue.byId(id).averageOf !== undefined
      const all = isPast || isMixed ? past(id, seriesRows) : current(id, seriesRows)
      return all.sort((a, b) => (sourceOf(a).description < sourceOf(b).description ? -1 : 1))
    }
    const bySeries = new Map<number, Series[]>()
    for (const { seriesId } of rows)
      if (!bySeries.has(seriesId)) bySeries.set(seriesId, sourcesOfSeries(seriesId))
    const names = new Map(
      [...bySeries].flatMap(([id, all]) =>
        all.length === 1 ? [[id, sourceOf(all[0]!).name]] : [],
      ),
    )
    return {
      nameOf(row) {
        const { seriesId, observedAt } = row
        const only = names.get(seriesId)
        if (only !== undefined) return only
        // A bar was recorded with the newest of its values, which need not be the last of them.
        const isOfBar = row.bar && catalogue.byId(seriesId).averageOf === undefined
        const series = isOfBar
          ? publishedAs(seriesId, sources.ofCurrent(seriesId, observedAt))
          : publishedIn(seriesId, row)
        return sourceOf(series).name
      },
      derivedFrom: row =>
        (row.bar?.count ?? 1) === 1 ? averagedFor({ id: row.seriesId }, row)?.code : undefined,
      seriesOf: all =>
        all.flatMap(series => {
          if (rows.length === 0 && isSourced(series.id)) return [publishedAs(series.id, undefined)]
          return bySeries.get(series.id) ?? (rows.length === 0 || series.fixture ? [series] : [])
        }),
    }
  }

/** The range of time of the values that rows of a series are made of. */
function spanOf(
  rows: readonly HistoryRow[],
  { interval, from, to, cutOf }: Pick<HistoryRange, 'interval' | 'from' | 'to' | 'cutOf'>,
) {
  const starts = rows.map(row => row.bar?.startsAt ?? row.observedAt)
  const last = starts.reduce((a, b) => Math.max(a, b))
  // Local days may be longer than those of UTC.
  const more = cutOf ? dayMs : 0
  return {
    from: Math.max(
      from,
      starts.reduce((a, b) => Math.min(a, b)),
    ),
    to: interval === 'raw' ? last + 1 : Math.min(to, bucketEnd(interval, last) + more),
  }
}
