import type { SeriesTerms } from '../math/terms.ts'
import type { Series, SeriesStore } from '../store/series.ts'
import type { Catalogue } from './catalogue.ts'
import { createSeriesFaults, type NewSeries, type SeriesFaultsDeps } from './series-faults.ts'

export type SeriesChanges = ReturnType<typeof createSeriesChanges>

export interface SeriesChangesDeps extends Pick<SeriesFaultsDeps, 'formulaFault'> {
  series: SeriesStore
  catalogue: Catalogue
  now(): number
  /** Forgets cached results of a series. */
  forgetSeries(id: number): void
  /**
   * Runs work in a transaction; the feed of changes has whom these series are served to before and
   * after it.
   */
  noteAudiences<T>(named: readonly { code: string; owner?: string }[], work: () => T): T
}

export function createSeriesChanges({
  series: store,
  catalogue,
  now,
  formulaFault,
  forgetSeries,
  noteAudiences,
}: SeriesChangesDeps) {
  const taken = (entries: readonly { code: string; own: boolean; terms: SeriesTerms }[]) => {
    noteAudiences(
      entries.map(({ code, terms }) => ({ code, owner: terms.owner })),
      () => {
        store.putTerms(entries, now())
        catalogue.reload()
      },
    )
    catalogue.notifyReloaded()
    return entries.flatMap(({ code, terms }) => {
      const series = catalogue.find(code, terms.owner)
      if (series) forgetSeries(series.id)
      return series ?? []
    })
  }
  return {
    ...createSeriesFaults({ catalogue, formulaFault }),
    /** Adds custom series without faults, all or none; formulas may use those before them. */
    add: (entries: readonly NewSeries[]) =>
      taken(entries.map(({ code, terms }) => ({ code, own: true, terms }))),
    /** Replaces the terms of a series by these, with which no one sees it. */
    remove: (code: string, terms: SeriesTerms) => void taken([{ code, own: true, terms }]),
    /** Takes terms in the place of those that a series had. */
    put: (series: Series, terms: SeriesTerms) =>
      taken([{ code: series.code, own: series.own === true, terms }])[0]!,
  }
}
