import { isoInstant } from '../../../lib/time/instant.ts'
import { startOfLocalDay } from '../../../lib/time/zone.ts'
import type { Catalogue, Resolved } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { type PriceChange, priceChange } from '../../prices/math/change.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { LatestPrices } from '../../prices/service/reads/latest-prices.ts'
import { createSeriesRows } from '../../prices/service/reads/series-rows.ts'
import type { ObservationStore } from '../../prices/store/observations.ts'

/** A line of a delivery. */
export interface DeliveredPrice {
  /** The code that answers: of a futures family its front contract's. */
  code: string
  series: Series
  /** As it is answered. */
  price: number
  observedAt: number
  /** Against the last observation of an earlier local day; undefined without one. */
  change: PriceChange | undefined
}

export interface PriceList {
  /** In the order of the codes. */
  prices: DeliveredPrice[]
  /** Codes that have no current price. */
  missing: string[]
}

export interface DeliveryPricesDeps {
  latestPrices: Pick<LatestPrices, 'quote'>
  catalogue: Pick<Catalogue, 'resolve' | 'isVisible'>
  observations: ObservationStore
  quarantine: QuarantineList
  now(): number
}

/**
 * Reads what `GET /v1/prices/latest` would answer for some codes, with the change since an earlier
 * day of a zone.
 */
export function createDeliveryPrices({
  latestPrices,
  catalogue,
  observations,
  quarantine,
  now,
}: DeliveryPricesDeps) {
  const rows = createSeriesRows(observations, quarantine)

  const line = ({ series: listed, code }: Resolved, zone: string): DeliveredPrice | undefined => {
    const quote = latestPrices.quote(listed)
    if (!quote) return undefined
    const { series, observation } = quote
    const { observedAt, value } = observation
    const dayBegan = startOfLocalDay(observedAt, zone)
    const [before] = rows.raw(
      series.id,
      Number.MIN_SAFE_INTEGER,
      dayBegan,
      1,
      Number.MAX_SAFE_INTEGER,
    )
    const price = roundTo(value, series.decimals)
    return {
      code,
      series,
      price,
      observedAt,
      change: before && priceChange(before.value, value, series.decimals),
    }
  }

  return (codes: readonly string[], zone: string, accountId: string): PriceList => {
    const at = now()
    const list: PriceList = { prices: [], missing: [] }
    const codesListed = new Set<string>()
    for (const code of codes) {
      const resolved = catalogue.resolve(code, at, accountId)
      // A family of futures and its front contract are one line.
      if (resolved && codesListed.has(resolved.code)) continue
      if (resolved) codesListed.add(resolved.code)
      const maySee = resolved && catalogue.isVisible(resolved.series, accountId)
      const price = maySee && line(resolved, zone)
      if (price) list.prices.push(price)
      else list.missing.push(code)
    }
    return list
  }
}

const csvColumns = [
  'code',
  'name',
  'price',
  'currency',
  'unit',
  'observed_at',
  'previous_price',
  'change',
  'change_percent',
] as const

/** The lines of the attachment under the names of its columns. */
export const csvRows = (prices: readonly DeliveredPrice[]) => [
  csvColumns,
  ...prices.map(({ code, series, price, observedAt, change }) => [
    code,
    series.name,
    price,
    series.currency,
    series.unit,
    isoInstant(observedAt),
    change?.previous ?? null,
    change?.amount ?? null,
    change?.percent ?? null,
  ]),
]
