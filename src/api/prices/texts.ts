import { Problem } from '../../http/problem/problem.ts'
import { strongEtag } from '../../lib/text/etag.ts'
import { minuteMs } from '../../lib/time/instant.ts'
import type { Catalogue, Resolved } from '../../service/catalogue/catalogue.ts'
import type { Board, Rendered } from '../../service/prices/board.ts'
import { priceRow } from './row.ts'

/**
 * Bodies of answers as text. The board keeps their parts: a price is rendered once after each
 * change, however many requests ask for it. `isFull`: prices have every stored digit.
 */
export function createPriceTexts(board: Board, isFull = false) {
  const prefix = isFull ? 'full ' : ''
  const rowText = ({ code, series, requestedCode }: Resolved): Rendered | undefined =>
    board.rendered(`${prefix}row ${keyOf(code, requestedCode)}`, series, quote =>
      JSON.stringify(priceRow(quote, code, requestedCode, isFull)),
    )

  return {
    /** One price by itself; undefined without one. */
    row: rowText,
    single({ code, series, requestedCode }: Resolved): Rendered {
      const rendered = board.rendered(
        `${prefix}${keyOf(code, requestedCode)}`,
        series,
        quote =>
          `{"status":"success","data":${JSON.stringify(priceRow(quote, code, requestedCode, isFull))}}`,
      )
      if (!rendered)
        throw new Problem('DATA_NOT_AVAILABLE', `${code} has no current price.`, {
          commodity_code: code,
        })
      return rendered
    },
    /**
     * `unknown`: the request named its codes, so the answer says which of them have no price; codes
     * that nobody knows are among those.
     */
    several(commodities: readonly Resolved[], unknown: readonly string[] | undefined): string {
      const texts = board.together(() => commodities.map(rowText))
      const rows = texts.filter(text => text !== undefined)
      const priceless = commodities.filter((_, i) => !texts[i]).map(({ code }) => code)
      const missing = unknown
        ? `"missing_codes":${JSON.stringify([...priceless, ...unknown])},`
        : ''
      return `{"status":"success","data":{"prices":[${rows.map(row => row.text).join(',')}],${missing}"count":${rows.length}}}`
    },
  }
}

/** The prices of every code as one body. */
export interface EveryPrice {
  commodities: readonly Resolved[]
  seriesIds: readonly number[]
  text: string
  etag: string
  /** Made for this request. */
  fresh: boolean
}

/** Front contracts change at full minutes at the earliest, without a write. */
const keptMs = minuteMs

/**
 * The prices of every code, kept as one text until a write changes one of them or the catalogue,
 * one of them ages, or a minute is over. One text at a time.
 */
export function createEveryPrice(
  {
    board,
    catalogue,
    firstCodes,
    now,
  }: {
    board: Board
    catalogue: Catalogue
    firstCodes: readonly string[]
    now(): number
  },
  isFull = false,
): () => EveryPrice {
  const { several } = createPriceTexts(board, isFull)
  let cached: { prices: EveryPrice; state: string; from: number; until: number } | undefined
  const stateOf = () => `${board.changes} ${catalogue.version}`
  return () => {
    const at = now()
    if (cached && cached.state === stateOf() && at >= cached.from && at <= cached.until)
      return cached.prices
    const commodities = everyCode(catalogue, firstCodes, at)
    const text = several(commodities, undefined)
    const prices = {
      commodities,
      seriesIds: commodities.map(({ series }) => series.id),
      text,
      etag: strongEtag(text),
    }
    const until = commodities.reduce(
      (least, { series }) => Math.min(least, board.validUntil(series)),
      at - (at % keptMs) + keptMs - 1,
    )
    // As it is afterwards: in a fresh evaluation copy reading writes.
    cached = { prices: { ...prices, fresh: false }, state: stateOf(), from: at, until }
    return { ...prices, fresh: true }
  }
}

/** Mostly the code itself, so that requests need not build a new text. */
const keyOf = (code: string, requestedCode: string | undefined) =>
  requestedCode === undefined ? code : `${code} ${requestedCode}`

/** Every code with data: first those of `firstCodes` in their order, then the others by code. */
export function everyCode(
  catalogue: Catalogue,
  firstCodes: readonly string[],
  now: number,
): Resolved[] {
  const first = firstCodes.flatMap(code => catalogue.named(code) ?? [])
  return [...new Set([...first, ...catalogue.list()])]
    .filter(series => catalogue.hasData(series))
    .map(series => catalogue.resolve(series.code, now)!)
}
