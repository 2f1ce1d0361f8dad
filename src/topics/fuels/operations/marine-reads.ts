import type { Page } from '../../../http/input/page.ts'
import type { Context } from '../../../http/operations/context.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { storedInterval } from '../../prices/math/interval.ts'
import { intervalOf, rangeOf, windowDays } from '../../prices/operations/window-query.ts'
import { createPagingSnapshots } from '../../prices/service/reads/paging-snapshots.ts'
import { type Grade, grades, marineCode, type Port } from '../math/marine.ts'

/** A series of one grade, at a port or averaged over all of them. */
export interface MarineSeries<Place extends Port | undefined = Port | undefined> {
  series: Series
  grade: Grade
  port: Place
}

/** The series of one grade or all, place by place in the order of the grades. */
export const marineSeries = <Place extends Port | undefined>(
  { catalogue, now }: Context,
  places: readonly Place[],
  grade: Grade | undefined,
): MarineSeries<Place>[] =>
  places.flatMap(port =>
    (grade ? [grade] : grades).flatMap(candidate => {
      if (port && !port.fuels.includes(candidate)) return []
      const series = catalogue.resolve(marineCode(candidate, port), now())?.series
      return series ? { series, grade: candidate, port } : []
    }),
  )

/** Those that have a price, with the newest one. */
export const marineQuotes = <Place extends Port | undefined>(
  deps: Context,
  places: readonly Place[],
  grade: Grade | undefined,
) =>
  marineSeries(deps, places, grade).flatMap(priced => {
    const quote = deps.latestPrices.quote(priced.series)
    return quote ? { ...priced, quote } : []
  })

/** The interval and the range of a request for past prices; 30 days unless it names others. */
export const requestedPast = (
  query: { interval?: string; start_date?: string; end_date?: string },
  now: number,
) => ({
  interval: intervalOf(query.interval) ?? 'day',
  range: rangeOf(
    { start_date: query.start_date, end_date: query.end_date },
    windowDays.past_month,
    now,
  ),
})

/** The past prices of some series, page by page. */
export function createMarinePast(deps: Context) {
  const { now } = deps
  const snapshots = createPagingSnapshots(deps.history, deps.ingest)
  return <Place extends Port | undefined>(
    { interval, range }: ReturnType<typeof requestedPast>,
    priced: readonly MarineSeries<Place>[],
    page: Page,
    keyId: string,
  ) => {
    const seriesIds = priced.map(row => row.series.id)
    const question = {
      key: [keyId, page.perPage, seriesIds.join(' '), interval, range.fixed].join('|'),
      range: {
        seriesIds,
        interval: storedInterval(interval),
        from: range.from,
        to: range.to,
      },
    }
    const { rows, total, from, to } = snapshots.page(question, page.page, page.perPage, now())
    const byId = new Map(priced.map(row => [row.series.id, row]))
    const sources = deps.sourcesOfRows(rows, { ...question.range, from, to }, false)
    return {
      rows: rows.map(row => ({ row, of: byId.get(row.seriesId)! })),
      meta: page.meta(total),
      sourceOf: sources.nameOf,
      usedSeries: sources.seriesOf(priced.map(row => row.series)).map(series => ({ series })),
      period: { from: isoInstant(from), to: isoInstant(to - 1), interval },
    }
  }
}
