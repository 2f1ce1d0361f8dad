import type { Page } from '../../../http/input/page.ts'
import { markFixtures, type Reply, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { sourcesOf } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { filterRow, marineFilter, placesOf, portFilter, within } from './marine-query.ts'
import { createMarinePast, marineQuotes, marineSeries, requestedPast } from './marine-reads.ts'
import { marineHistoryRow, marineRow, portPrice, portRow } from './marine-row.ts'

/** Marks the answer and says where its prices come from. */
function metadataOf({ marks }: Context, set: Reply, priced: readonly { series: Series }[]) {
  set.headers['x-cache'] = 'MISS'
  markFixtures(set, marks, priced)
  return { source_description: sourcesOf(priced.map(row => row.series)).description }
}

/** Responses with the newest prices: as a list, or port by port. */
export function createMarinePrices(deps: Context) {
  const { ports } = deps
  const pricesOf = (query: Parameters<typeof marineFilter>[0], averages: boolean, set: Reply) => {
    const filter = marineFilter(query, ports)
    const places = placesOf(ports, filter)
    // The averages of all ports come last; they belong to no region.
    const withAverages = averages && !filter.port && !filter.region
    const priced = marineQuotes(deps, withAverages ? [...places, undefined] : places, filter.grade)
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
      metadata: metadataOf(
        deps,
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
      quotes: marineQuotes(deps, [port], undefined),
    }))
    const everything = quoted.flatMap(row => row.quotes)
    metadataOf(deps, set, everything)
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

export function createMarineHistory(deps: Context) {
  const { ports, now } = deps
  const pastOf = createMarinePast(deps)
  return (query: Record<string, string | undefined>, page: Page, set: Reply, keyId: string) => {
    const requested = requestedPast(query, now())
    const filter = marineFilter(query, ports)
    const priced = marineSeries(deps, placesOf(ports, filter), filter.grade)
    const { rows, period, meta, sourceOf, usedSeries } = pastOf(requested, priced, page, keyId)
    return {
      ...success({
        prices: rows.map(({ row, of }) => marineHistoryRow(of, row, sourceOf(row))),
        period,
        filters: filterRow(filter),
        metadata: metadataOf(deps, set, usedSeries),
      }),
      meta,
    }
  }
}
