import { isoInstant } from '../../../lib/time/instant.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { rigRegionOf } from '../../drilling/math/rig-region.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { Fx } from '../../prices/service/fx.ts'
import type { LatestPrices } from '../../prices/service/reads/latest-prices.ts'
import { type HeatPrice, heatPrices } from '../../units/math/heat-price.ts'

/** One of the five prices in the terms of the stream. */
interface Leaf {
  normalized_price: number | null
  original_price: number
  original_unit: HeatPrice['unit']
  original_currency: string | null
  timestamp: string
  change_24h: number | null
  change_24h_percent: number | null
}

/** The fields of every frame with prices, in wire form. */
export interface Priced {
  timestamp: string
  base_currency: 'USD'
  base_unit: 'MMBtu'
  prices: Record<HeatPrice['group'], Record<string, Leaf | null>>
}

export interface PriceRow {
  code: string
  price: number
  currency: string | null
  unit: string
  created_at: string
}

export interface RigCountRow {
  code: string
  region: string
  count: number
  source: string
  updated_at: string
}

/** A value for clients, and a version that changes with it. */
export interface Marked<T> {
  version: string
  row: T
}

/** The newest prices and counts in the terms of the stream. */
export type CablePrices = ReturnType<typeof createCablePrices>

const baseCurrency = 'USD'
const decimals = 4

export function createCablePrices(
  catalogue: Catalogue,
  latestPrices: LatestPrices,
  exchange: Fx,
  now: () => number,
) {
  const seriesOf = (code: string, accountId?: string) =>
    catalogue.resolve(code, now(), accountId)?.series
  const quoteOf = (code: string, accountId?: string) => {
    const series = seriesOf(code, accountId)
    return series && latestPrices.quote(series)
  }

  const leafOf = ({ code, unit, scale, heat }: HeatPrice): Leaf | null => {
    const quote = quoteOf(code)
    if (!quote) return null
    const { series, observation, changes } = quote
    const scaled = (value: number) =>
      scale === 1 ? roundTo(value, series.decimals) : roundTo(value * scale, decimals)
    const rate =
      series.currency === null
        ? undefined
        : exchange.rate(series.currency, baseCurrency, now(), observation.observedAt)?.rate
    const day = changes['24h']
    return {
      normalized_price:
        rate === undefined ? null : roundTo((observation.value * scale * rate) / heat, decimals),
      original_price: scaled(observation.value),
      original_unit: unit,
      original_currency: series.currency,
      timestamp: isoInstant(observation.observedAt),
      change_24h: day ? scaled(day.amount) : null,
      change_24h_percent: day?.percent ?? null,
    }
  }

  return {
    /** The series that answers to a code at present. */
    seriesOf,
    /** When the first of the prices of codes changes without a write, such as when its time comes. */
    validUntil: (codes: readonly string[], accountId?: string): number =>
      Math.min(
        ...codes.map(code => {
          const series = seriesOf(code, accountId)
          return series ? latestPrices.validUntil(series) : Number.POSITIVE_INFINITY
        }),
      ),
    priced(): Priced {
      const prices: Priced['prices'] = { oil: {}, natural_gas: {} }
      for (const heatPrice of heatPrices)
        prices[heatPrice.group][heatPrice.name] = leafOf(heatPrice)
      return {
        timestamp: isoInstant(now()),
        base_currency: baseCurrency,
        base_unit: 'MMBtu',
        prices,
      }
    },
    price(code: string, accountId?: string): Marked<PriceRow> | undefined {
      const quote = quoteOf(code, accountId)
      if (!quote) return undefined
      const { series, observation } = quote
      const price = roundTo(observation.value, series.decimals)
      const created_at = isoInstant(observation.observedAt)
      return {
        version: `${series.id} ${observation.observedAt} ${price}`,
        row: { code, price, currency: series.currency, unit: series.unit, created_at },
      }
    },
    /** Codes of rig counts. */
    rigCodes: (): readonly string[] =>
      catalogue.list().flatMap(({ code }) => (rigRegionOf(code) === undefined ? [] : [code])),
    /** Undefined for a stale count: importing history notifies no one. */
    rigCount(code: string): Marked<RigCountRow> | undefined {
      const quote = quoteOf(code)
      const region = rigRegionOf(code)
      if (!quote || region === undefined || quote.status === 'stale') return undefined
      const { series, observation } = quote
      const row = {
        code,
        region,
        count: Math.round(observation.value),
        source: sourceOf(series).name,
        updated_at: isoInstant(observation.observedAt),
      }
      return { version: `${observation.observedAt} ${row.count}`, row }
    },
  }
}
