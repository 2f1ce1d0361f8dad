import type { Caller } from '../../../http/gate/request-context.ts'
import { markFixtures, type Reply, tagged } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { strongEtag } from '../../../lib/text/etag.ts'
import { oneOf } from '../../../lib/text/wrong-value.ts'
import { minuteMs } from '../../../lib/time/instant.ts'
import type { Catalogue, Resolved } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { LatestPrices, Rendered } from '../service/reads/latest-prices.ts'
import { missingLegs, priceRow } from './row.ts'

/**
 * Bodies of responses as text. The latest-price cache keeps their parts: a price is rendered once
 * after each change, however many requests there are. `isFull`: prices have every stored digit.
 */
export function createPriceTexts(latestPrices: LatestPrices, isFull = false) {
  const prefix = isFull ? 'full ' : ''
  const rowText = ({ code, series, requestedCode }: Resolved): Rendered | undefined =>
    latestPrices.rendered(`${prefix}row ${keyOf(code, requestedCode)}`, series, quote =>
      JSON.stringify(priceRow(quote, code, requestedCode, isFull)),
    )

  return {
    /** One price by itself; undefined without one. */
    row: rowText,
    /** `isBeside`: the price as a list, too, for clients that look for it there. */
    single(
      { code, series, requestedCode }: Resolved,
      catalogue: Catalogue,
      isBeside = false,
    ): Rendered {
      const rendered = latestPrices.rendered(
        isBeside
          ? `listed ${prefix}${keyOf(code, requestedCode)}`
          : `${prefix}${keyOf(code, requestedCode)}`,
        series,
        quote => {
          const row = JSON.stringify(priceRow(quote, code, requestedCode, isFull))
          return isBeside
            ? `{"status":"success","data":${row.slice(0, -1)},"prices":[${row}]}}`
            : `{"status":"success","data":${row}}`
        },
      )
      if (!rendered) throw noPrice({ code, series, requestedCode }, latestPrices, catalogue)
      return rendered
    },
    /**
     * `unknown`: the request named its codes, so the response lists those without a price; unknown
     * codes are among them.
     */
    several(commodities: readonly Resolved[], unknown: readonly string[] | undefined): string {
      const texts = latestPrices.together(() => commodities.map(rowText))
      const rows = texts.filter(text => text !== undefined)
      const priceless = commodities.filter((_, i) => !texts[i]).map(({ code }) => code)
      const missing = unknown
        ? `"missing_codes":${JSON.stringify([...priceless, ...unknown])},`
        : ''
      return `{"status":"success","data":{"prices":[${rows.map(row => row.text).join(',')}],${missing}"count":${rows.length}}}`
    },
  }
}

/** The codes with a price that a requested alias may have meant. */
export const pricedLike = (
  { requestedCode }: Resolved,
  latestPrices: Pick<LatestPrices, 'quote'>,
  catalogue: Pick<Catalogue, 'suggest'>,
): string[] =>
  (requestedCode === undefined ? [] : catalogue.suggest(requestedCode))
    .filter(other => latestPrices.quote(other))
    .map(other => other.code)

/**
 * A code without a price: of a formula with what it lacks, of an alias with the codes of about that
 * name that have a price.
 */
export function noPrice(
  commodity: Resolved,
  latestPrices: Pick<LatestPrices, 'formula' | 'quote'>,
  catalogue: Catalogue,
): Problem {
  const { code, series } = commodity
  const formula = latestPrices.formula(series)
  if (!formula) {
    const priced = pricedLike(commodity, latestPrices, catalogue)
    const meant = priced.length > 0 ? ` Did you mean ${oneOf(priced)}?` : ''
    return new Problem('DATA_NOT_AVAILABLE', `${code} has no current price.${meant}`, {
      commodity_code: code,
      ...(priced.length > 0 && { suggestions: priced }),
    })
  }
  const missing = missingLegs(formula.legs)
  const why =
    missing.length > 0
      ? missing.map(leg => `${leg.code} is ${leg.reason}`).join(', ')
      : 'at no time all of its codes have a value within the limit'
  return new Problem('DATA_NOT_AVAILABLE', `The formula of ${code} has no value: ${why}.`, {
    commodity_code: code,
    status: formula.status === 'ok' ? 'incomplete' : formula.status,
    missing_legs: missing,
  })
}

/** The prices of every code as one body. */
interface EveryPrice {
  commodities: readonly Resolved[]
  seriesIds: readonly number[]
  text: string
  etag: string
  /** Whether it was made for this request. */
  fresh: boolean
}

/** Front contracts change at full minutes at the earliest, without a write. */
const cachedMs = minuteMs

/** A text about prices of many codes, and whether it was made for this request. */
interface Cached<T> {
  value: T
  fresh: boolean
}

/**
 * Something made of the prices of many codes, cached until a write changes one of them or the
 * catalogue, one of them ages, a minute is over, or another one is requested. One at a time.
 */
export function createCached<T>({
  latestPrices,
  catalogue,
  now,
}: {
  latestPrices: LatestPrices
  catalogue: Catalogue
  now(): number
}): (name: string, make: (at: number) => { value: T; series: readonly Series[] }) => Cached<T> {
  let cached: { value: T; of: string; from: number; until: number } | undefined
  const stateOf = (name: string) => `${latestPrices.changes} ${catalogue.version} ${name}`
  return (name, make) => {
    const at = now()
    if (cached && cached.of === stateOf(name) && at >= cached.from && at <= cached.until)
      return { value: cached.value, fresh: false }
    const { value, series } = make(at)
    const until = series.reduce(
      (least, commodity) => Math.min(least, latestPrices.validUntil(commodity)),
      at - (at % cachedMs) + cachedMs - 1,
    )
    cached = { value, of: stateOf(name), from: at, until }
    return { value, fresh: true }
  }
}

/** The prices of every code as one body. */
function createEveryPrice(
  deps: {
    latestPrices: LatestPrices
    catalogue: Catalogue
    firstCodes: readonly string[]
    now(): number
  },
  isFull = false,
): () => EveryPrice {
  const { catalogue, firstCodes } = deps
  const { several } = createPriceTexts(deps.latestPrices, isFull)
  const cached = createCached<Omit<EveryPrice, 'fresh'>>(deps)
  return () => {
    const { value, fresh } = cached('', at => {
      const commodities = everyCode(catalogue, firstCodes, at)
      const text = several(commodities, undefined)
      const series = commodities.map(commodity => commodity.series)
      const seriesIds = series.map(({ id }) => id)
      return { value: { commodities, seriesIds, text, etag: strongEtag(text) }, series }
    })
    return { ...value, fresh }
  }
}

/** Returns the prices of every code, or 304 to a caller who has them. */
export function createEveryAnswer(
  deps: Context,
  isFull = false,
): (requested: { request: Request; caller: Caller }, answering: Reply) => string | undefined {
  const every = createEveryPrice(deps, isFull)
  return ({ request, caller }, answering) => {
    const { commodities, seriesIds, text, fresh, etag } = every()
    markFixtures(answering, deps.marks, commodities)
    deps.meter.noteRequested(caller.key, seriesIds)
    return tagged(request, answering, text, !fresh, etag)
  }
}

/** Mostly the code itself, so that requests need not build a new text. */
const keyOf = (code: string, requestedCode: string | undefined) =>
  requestedCode === undefined ? code : `${code} ${requestedCode}`

/** Every code with data: first those of `firstCodes` in their order, then the others by code. */
function everyCode(catalogue: Catalogue, firstCodes: readonly string[], now: number): Resolved[] {
  const first = firstCodes.flatMap(code => catalogue.named(code) ?? [])
  return [...new Set([...first, ...catalogue.list()])]
    .filter(series => catalogue.hasData(series))
    .map(series => catalogue.resolve(series.code, now)!)
}
