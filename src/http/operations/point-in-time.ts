import { isoDay, isoInstant } from '../../lib/time/instant.ts'
import type { PricesView } from '../../topics/prices/service/reads/vintage.ts'
import { dayOf, instantOf } from '../input/query.ts'
import { typed } from '../input/typed.ts'
import type { Reply } from './answer.ts'
import type { Context } from './context.ts'

export const asOfQuery = typed({
  type: 'string',
  format: 'date-time',
  description:
    'Returns data as known at this time: values recorded at or before it, for times up to it. Before the start of complete revision history (header `X-Vintage-Revision-Coverage-Since`), the first recorded values are used. Default: the data known now.',
  examples: ['2026-11-20T12:00:00Z'],
})

export const endDateQuery = typed({
  type: 'string',
  format: 'date',
  description: 'Last day of the closes used (UTC); absent: the newest.',
  examples: ['2026-11-15'],
})

/** For operations over closes: the moment of knowledge, and the last day. */
export const pointQuery = { as_of: asOfQuery, end_date: endDateQuery }

export const vintageHeaders = (asOf: number, coverageSinceAt: number): Record<string, string> => ({
  'x-vintage-as-of': isoInstant(asOf),
  'x-vintage-revision-coverage-since': isoInstant(coverageSinceAt),
})

/** For operations over datasets: the moment of knowledge. */
export const knownQuery = { as_of: asOfQuery }

interface Point {
  as_of?: string | undefined
  end_date?: string | undefined
}

/**
 * Runs `work` with a context as of the moment that the request names, which the headers then
 * report, and with closes up to a day where it names one.
 */
export function atPoint<T>(
  context: Context,
  query: Point,
  reply: Reply,
  work: (context: Context) => T,
): T {
  const asOf = instantOf('as_of', query.as_of)
  const endDay = query.end_date ? isoDay(dayOf('end_date', query.end_date)) : undefined
  if (asOf === undefined && endDay === undefined) return work(context)
  const view = context.pricesAt({
    ...(asOf !== undefined && { asOf }),
    ...(endDay !== undefined && { endDay }),
  })
  const answer = work(contextAt(context, view))
  if (asOf !== undefined) {
    const since = view.coverageSince()
    Object.assign(reply.headers, vintageHeaders(asOf, since ?? asOf))
  }
  return answer
}

/** The services as a view of the past has them. */
function contextAt(context: Context, view: PricesView): Context {
  const { closes, latestPrices, history, exchange, now, periodValues } = view
  return {
    ...context,
    closes,
    latestPrices,
    history: { ...context.history, ...history },
    exchange,
    periodValues,
    now,
    codes: context.codes.at(now),
    ...context.futuresAt(view),
    ...context.fundamentalsAt(view),
    ...context.analyticsAt(view),
    ...context.drillingAt(view),
  }
}
