import type { Caller } from '../../../http/gate/request-context.ts'
import { instantOf } from '../../../http/input/query.ts'
import { markFixtures, type Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { vintageHeaders } from '../../../http/operations/point-in-time.ts'
import { invalidParameter, missingParameter } from '../../../http/problem/problem.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import type { PricesView } from '../../prices/service/reads/vintage.ts'
import { type Resolution, resolutionOf, resolutions } from '../math/resolution.ts'

/** The prices of now, or those that were known at a moment, as a request reads them. */
export type Prices = Pick<PricesView, 'history' | 'latestPrices' | 'closes' | 'now'>

export interface Moment {
  prices: Prices
  asOf: number | undefined
}

/** A request that reads prices. */
export interface Reading {
  at: Context
  /** Undefined where the path has no parameters. */
  params?: { as_of?: string } | undefined
  caller: Caller
  request: Request
  reply: Reply
}

/** A request of any part of the protocol. */
export interface Incoming extends Reading {
  query: Record<string, string | undefined>
}

/** A half-open range, Unix ms. */
export interface Range {
  from: number
  to: number
}

/** A code that is read, and the moment whose prices are. */
export interface Read {
  commodity: Resolved
  moment: Moment
}

/** The moment that the path names. */
export function momentOf({ at, params }: Reading): Moment {
  const asOf = instantOf('as_of', params?.as_of)
  return { prices: asOf === undefined ? at : at.pricesAt({ asOf }), asOf }
}

export function seconds(name: string, text: string | undefined): number {
  if (text === undefined || text === '') throw missingParameter(name, 'a time in Unix seconds.')
  const value = Number(text)
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER / secondMs)
    throw invalidParameter(name, text, 'a time in Unix seconds')
  return Math.floor(value) * secondMs
}

export function resolutionIn(text: string | undefined): Resolution {
  const resolution = resolutionOf(text ?? 'D')
  if (!resolution) throw invalidParameter('resolution', text ?? '', resolutions)
  return resolution
}

/** `from` and `to` of a request, in milliseconds. */
export const rangeOf = (query: Incoming['query']): Range => ({
  from: seconds('from', query.from),
  to: seconds('to', query.to),
})

/** Resolves a code, and notes that its prices are read. */
export function readSymbol(reading: Reading, symbol: string | undefined): Read {
  const { at, request } = reading
  if (!symbol) throw missingParameter('symbol', 'a code or alias.')
  const commodity = at.codes.read([symbol], request, 1)[0]!
  const moment = momentOf(reading)
  noteRead(reading, moment, [commodity])
  return { commodity, moment }
}

export function noteRead(
  { at, reply, caller }: Reading,
  { asOf }: Moment,
  commodities: readonly Resolved[],
): void {
  const ids = commodities.map(({ series }) => series.id)
  markFixtures(reply, at.marks, commodities)
  at.meter.noteRequested(caller.key, ids)
  if (asOf === undefined || ids.length === 0) return
  const since = Math.max(...ids.map(id => at.coverage.since(id, asOf)))
  Object.assign(reply.headers, vintageHeaders(asOf, since))
}
