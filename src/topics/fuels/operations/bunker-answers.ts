import { markFixtures, type Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { requestIdOf } from '../../../http/request-id.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { sourcesOf } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { PortPrices } from '../math/bunker.ts'
import type { Grade, Port } from '../math/marine.ts'
import type { BunkerQuote } from './bunker-row.ts'
import { marineQuotes } from './marine-reads.ts'

/** Prices come in a few times a day. */
const cacheTtlSeconds = 300

export const bunkerAccess = { meter: true, rate: 'marine' } as const

export const firstMinusSecond =
  'Every spread is the first price minus the second one, its percentage of the second.'

/** Reads the marine series, and creates the fields that all responses about them share. */
export function createBunkerAnswers(deps: Context) {
  const { ids, marks, now } = deps
  const quotesAt = (places: readonly Port[], grade?: Grade): BunkerQuote[] =>
    marineQuotes(deps, places, grade)
  return {
    quotesAt,
    /** Throws DATA_NOT_AVAILABLE where no grade has a price. */
    requireQuotesAt(places: readonly Port[], grade?: Grade): BunkerQuote[] {
      const quotes = quotesAt(places, grade)
      if (quotes.length === 0)
        throw new Problem('DATA_NOT_AVAILABLE', 'There is no bunker fuel price to answer with.')
      return quotes
    },
    meta(request: Request, set: Reply, used: readonly { series: Series }[], portCount?: number) {
      const requestId = requestIdOf(request, ids)
      set.headers['x-request-id'] = requestId
      set.headers['x-cache'] = 'MISS'
      markFixtures(set, marks, used)
      const sources = sourcesOf(used.map(({ series }) => series))
      return {
        request_id: requestId,
        timestamp: isoInstant(now()),
        cache_ttl: cacheTtlSeconds,
        data_source: sources.name,
        source_description: sources.description,
        currency: 'USD' as const,
        unit: 'metric_ton' as const,
        ...(portCount !== undefined && { port_count: portCount }),
      }
    },
  }
}

export const quotedSeries = (quotes: readonly BunkerQuote[]): { series: Series }[] =>
  quotes.map(({ quote }) => quote)

/** Rounded as they are answered, so that a spread is the difference of the two prices shown. */
export const pricesOf = (quotes: readonly BunkerQuote[]): PortPrices =>
  new Map(
    quotes.map(({ grade, quote }) => [
      grade,
      roundTo(quote.observation.value, quote.series.decimals),
    ]),
  )

export const byPort = (quotes: readonly BunkerQuote[]): Map<Port, BunkerQuote[]> =>
  Map.groupBy(quotes, bunkerQuote => bunkerQuote.port)
