import { t } from '../../../http/answer/schema.ts'
import type { KeyAccess, KnownSegment } from '../../../http/gate/access-kind.ts'
import { momentOf } from '../../../http/input/query.ts'
import { momentParameter, type ParameterOptions, textParameter } from '../../../http/input/typed.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { invalidParameter, Problem } from '../../../http/problem/problem.ts'
import { oneOf } from '../../../lib/text/wrong-value.ts'
import { hourMs, isoDay, isoInstant, minuteMs } from '../../../lib/time/instant.ts'
import { generatedSource, sourceDescription } from '../../catalogue/math/catalogue.ts'
import { roundTo } from '../../prices/math/format.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { ContractDay } from '../math/contract-days.ts'
import {
  type Family,
  families,
  familyBySlug,
  type Named,
  namesOf,
  parseContract,
  slugsOf,
} from '../math/families.ts'
import type { Freshness, Futures } from '../service/futures.ts'

/** The family in a path, with the data that its responses need. */
export interface RequestedFamily extends Named {
  decimals: number
  /** The first fields of every response. */
  head: { commodity: string; slug: string; currency: string; unit: string }
}

/** The helpers that the routes of all families share. */
export interface FuturesRoutes {
  futures: Futures
  /** The same over the futures of a context, which may be those of the past. */
  at(context: Context): FuturesRoutes
  /** Every family, under all its names. */
  every: KeyAccess
  /** The families that answer more than base, history and curve. */
  full: KeyAccess
  familyOf(slug: string): RequestedFamily
  /**
   * Sets the headers about the sources of a response; returns the first of them, or the family's
   * own without any.
   */
  mark(set: Reply, family: Family, sources: Iterable<string>): string
}

export function createFuturesRoutes({
  futures,
  catalogue,
  marks,
  exchangeWords,
}: Context): FuturesRoutes {
  const familyNamed = (slug: string | undefined) => familyBySlug(slug ?? '', exchangeWords)
  const knownFamilies = (some: readonly Family[]): KnownSegment => ({
    isKnown: ({ slug }) => some.some(family => family === familyNamed(slug)?.family),
    right: oneOf(some.map(family => slugsOf(family, exchangeWords)[0]!)),
    accepted: some.flatMap(family => namesOf(family, exchangeWords)),
  })
  const routes: FuturesRoutes = {
    futures,
    at: context => ({ ...routes, futures: context.futures }),
    every: {
      feature: 'futures',
      meter: true,
      known: knownFamilies(families),
    },
    full: {
      feature: 'futures',
      meter: true,
      known: knownFamilies(families.filter(({ limited }) => !limited)),
    },
    familyOf(slug) {
      const named = familyNamed(slug)!
      const { code, currency, unit } = named.family
      return {
        ...named,
        decimals: catalogue.named(code)?.decimals ?? 2,
        head: { commodity: code, slug: named.slug, currency, unit },
      }
    },
    mark(set, family, sources) {
      const { headers } = set
      const all = [...sources]
      headers['x-cache'] = 'MISS'
      if (all.includes(generatedSource)) headers[marks.fixtureHeader] = 'fixture'
      return all[0] ?? catalogue.named(family.code)?.source ?? 'import'
    },
  }
  return routes
}

/** The rule by which curve, spreads and their history choose the first contract. */
export const rollRule =
  'A contract leaves the curve after its last trading day: the curve of a past date no longer has the contracts that ended on it. `/curve`, `/spreads` and `/spread-history` follow this rule.'

/** The rule by which they choose the price of a date. */
export const priceRule =
  'The price of a date is the settlement of the exchange; until one is published, the last trade. `/historical` and `/continuous` return closes.'

export const slugParams = t.Object({
  slug: t.string(
    'Slug or alias of the family in any letter case (`exch-wti`, `CL`); `.N` behind it makes the Nth listed month the default contract.',
    'exch-wti',
  ),
})

const contractText = '`YYYY-MM`, a contract code, or N for the Nth listed month'

export const contractQuery = (fallback: string) => ({
  contract: textParameter(`${contractText}; default: ${fallback}.`, '2027-01'),
})

export const rangeQuery = (options?: ParameterOptions) => ({
  from: momentParameter(
    'First trading date, inclusive. `start_date` is accepted too.',
    '2026-10-01',
    options,
  ),
  to: momentParameter(
    'Last trading date, inclusive. `end_date` is accepted too.',
    '2026-11-20',
    options,
  ),
  start_date: momentParameter('Another name of `from`.', '2026-10-01'),
  end_date: momentParameter('Another name of `to`.', '2026-11-20'),
})

/**
 * The contract month that a parameter names, or the default of the path; undefined when neither
 * names one.
 */
export function monthOf(
  futures: Futures,
  { family, nth }: RequestedFamily,
  text: string | undefined,
): string | undefined {
  const contract = readContract('contract', text, family)
  if (contract && 'month' in contract) return contract.month
  const place = contract?.nth ?? nth
  return place === undefined ? undefined : futures.listedMonth(family.code, place)
}

/** The contract that a parameter names; undefined when it is absent. */
export function readContract(
  parameter: string,
  text: string | undefined,
  family: Family,
): { month: string } | { nth: number } | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const contract = parseContract(text.trim(), family.code)
  if (contract) return contract
  throw invalidParameter(
    parameter,
    text.slice(0, 100),
    `a contract of ${family.code}: ${contractText} (1 to 12)`,
  )
}

export interface RangeParameters {
  from?: string | undefined
  to?: string | undefined
  start_date?: string | undefined
  end_date?: string | undefined
}

/**
 * The dates that a query gives, each undefined when absent. Instants count as the day they are in.
 */
export function readDays(query: RangeParameters): {
  from: string | undefined
  to: string | undefined
} {
  const fromName = query.from === undefined ? 'start_date' : 'from'
  const toName = query.to === undefined ? 'end_date' : 'to'
  const from = momentOf(fromName, query[fromName], 'start')
  const to = momentOf(toName, query[toName], 'end')
  return {
    from: from === undefined ? undefined : isoDay(from),
    to: to === undefined ? undefined : isoDay(to - 1),
  }
}

/**
 * The requested range of dates, or the last 30 days up to today; refused when it ends before it
 * begins.
 */
export function readRange(query: RangeParameters, today: string): { from: string; to: string } {
  const days = readDays(query)
  const to = days.to ?? today
  const from = days.from ?? dayAfter(to, -30)
  checkOrder(from, to)
  return { from, to }
}

export function checkOrder(from: string, to: string): void {
  if (from > to)
    throw new Problem('INVALID_DATE_RANGE', `from (${from}) is after to (${to}).`, {
      start_date: from,
      end_date: to,
    })
}

/** A trading date of a query. */
export function readDate(text: string | undefined): string | undefined {
  const at = momentOf('date', text, 'start')
  return at === undefined ? undefined : isoDay(at)
}

export const describeSource = (source: string): string =>
  sourceDescription(source, source === generatedSource)

export const sourcesOf = (days: readonly ContractDay[]): Set<string> =>
  new Set(days.map(day => day.source))

/** 404: nothing has been recorded under this name. */
export const noQuotes = (name: string): Problem =>
  new Problem('DATA_NOT_AVAILABLE', `There are no futures quotes of ${name}.`, {
    commodity_code: name,
  })

/**
 * The refusal of quotes that may not be served as current; the bound on age comes before that of
 * the running session.
 */
export function refuseStale(family: Family, freshness: Freshness, maxAgeHours: number): void {
  if (freshness.state === 'too_stale') {
    const hours = roundTo(freshness.ageMs / hourMs, 1)
    throw new Problem(
      'DATA_TOO_STALE',
      `The newest quote of ${family.code} is ${hours} hours old; at most ${maxAgeHours} are served.`,
      {
        data_age_hours: hours,
        max_age_hours: maxAgeHours,
        last_updated: isoInstant(freshness.quotedAt),
      },
    )
  }
  if (freshness.state === 'live_stale') {
    const minutes = Math.floor(freshness.behindMs / minuteMs)
    throw new Problem(
      'LIVE_DATA_STALE',
      `${family.name}: the market is open and the newest quote is ${minutes} minutes behind.`,
      {
        freshness_status: 'stale',
        market_status: 'open',
        stale_by_minutes: minutes,
        market_timezone: family.hours.timezone,
      },
    )
  }
}
