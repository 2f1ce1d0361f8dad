import type { Page } from '../../../http/input/page.ts'
import { markFixtures, type Reply, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { sourcesOf } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { intervalOf, rangeOf, windowDays } from '../../prices/operations/window-query.ts'
import { createPagingSnapshots } from '../../prices/service/paging-snapshots.ts'
import { grades, marineCode } from '../math/marine.ts'
import { filterRow, type MarineFilter, marineFilter, portFilter, within } from './marine-query.ts'
import { type MarineSeries, marineHistoryRow, marineRow, portPrice, portRow } from './marine-row.ts'

/** The series of ports and grades, with the newest price of each. */
function createMarineReads({ latestPrices, catalogue, marks, ports, now }: Context) {
  /**
   * By port, the largest first, then by grade. With `averages` the averages of all ports come last;
   * they belong to no region.
   */
  const seriesOf = ({ port, grade, region }: MarineFilter, averages: boolean): MarineSeries[] => {
    const places = ports.filter(
      candidate =>
        (!port || candidate === port) && (!region || region.regions.includes(candidate.region)),
    )
    const all = averages && !port && !region ? [...places, undefined] : places
    return all.flatMap(place =>
      (grade ? [grade] : grades).flatMap(candidate => {
        if (place && !place.fuels.includes(candidate)) return []
        const series = catalogue.resolve(marineCode(candidate, place), now())?.series
        return series ? { series, grade: candidate, port: place } : []
      }),
    )
  }
  const quotesOf = (filter: MarineFilter, averages: boolean) =>
    seriesOf(filter, averages).flatMap(marineSeries => {
      const quote = latestPrices.quote(marineSeries.series)
      return quote ? { ...marineSeries, quote } : []
    })
  const metadata = (set: Reply, marineSeries: readonly { series: Series }[]) => {
    set.headers['x-cache'] = 'MISS'
    markFixtures(set, marks, marineSeries)
    return { source_description: sourcesOf(marineSeries.map(row => row.series)).description }
  }
  return { seriesOf, quotesOf, metadata }
}

/** Responses with the newest prices: as a list, or port by port. */
export function createMarinePrices(deps: Context) {
  const { ports } = deps
  const { quotesOf, metadata } = createMarineReads(deps)
  const pricesOf = (query: Parameters<typeof marineFilter>[0], averages: boolean, set: Reply) => {
    const filter = marineFilter(query, ports)
    const priced = quotesOf(filter, averages)
    if (priced.length === 0)
      throw new Problem(
        'DATA_NOT_AVAILABLE',
        'There is no marine fuel price for these filters.',
        filterRow(filter),
      )
    return success({
      prices: priced.map(row => marineRow(row, row.quote)),
      count: priced.length,
      filters: filterRow(filter),
      updated_at: isoInstant(Math.max(...priced.map(row => row.quote.observation.recordedAt))),
      metadata: metadata(
        set,
        priced.map(row => row.quote),
      ),
    })
  }
  const portsOf = (query: Parameters<typeof portFilter>[0]) => {
    const filter = portFilter(query)
    return { filter, ports: ports.filter(port => within(filter, port)) }
  }
  const portPrices = (query: Parameters<typeof portFilter>[0], set: Reply) => {
    const { ports: chosenPorts } = portsOf(query)
    const quoted = chosenPorts.map(port => ({
      port,
      quotes: quotesOf({ port, grade: undefined, region: undefined }, false),
    }))
    const everything = quoted.flatMap(row => row.quotes)
    metadata(set, everything)
    return success({
      ports: quoted.map(({ port, quotes }) => ({
        ...portRow(port),
        latest: Object.fromEntries(
          quotes.map(({ grade, series, quote }) => [grade, portPrice(series, quote)]),
        ),
      })),
      count: chosenPorts.length,
    })
  }
  return { pricesOf, portsOf, portPrices }
}

/** The past of the prices, page by page. */
export function createMarineHistory(deps: Context) {
  const { ports, now } = deps
  const { seriesOf, metadata } = createMarineReads(deps)
  const walking = createPagingSnapshots(deps.history, deps.ingest)
  return (query: Record<string, string | undefined>, page: Page, set: Reply, keyId: string) => {
    const interval = intervalOf(query.interval) ?? 'day'
    const range = rangeOf(
      { start_date: query.start_date, end_date: query.end_date },
      windowDays.past_month,
      now(),
    )
    const filter = marineFilter(query, ports)
    const marineSeries = seriesOf(filter, false)
    const seriesIds = marineSeries.map(row => row.series.id)
    const key = [keyId, page.perPage, seriesIds.join(' '), interval, range.fixed].join('|')
    const question = {
      key,
      range: {
        seriesIds,
        interval: interval === 'minute' ? ('raw' as const) : interval,
        from: range.from,
        to: range.to,
      },
    }
    const { rows, total, from, to } = walking.page(question, page.page, page.perPage, now())
    const meta = page.meta(total)
    const byId = new Map(marineSeries.map(row => [row.series.id, row]))
    const sources = deps.sourcesOfRows(rows, { ...question.range, from, to }, false)
    return {
      ...success({
        prices: rows.map(row =>
          marineHistoryRow(byId.get(row.seriesId)!, row, sources.nameOf(row)),
        ),
        period: { from: isoInstant(from), to: isoInstant(to - 1), interval },
        filters: filterRow(filter),
        metadata: metadata(
          set,
          sources.seriesOf(marineSeries.map(row => row.series)).map(series => ({ series })),
        ),
      }),
      meta,
    }
  }
}
