import { isoDay } from '../../../lib/time/instant.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { changePercent } from '../../prices/math/change.ts'
import { decimalDifference, roundTo } from '../../prices/math/format.ts'
import type { Closes } from '../../prices/service/days/closes.ts'
import type { LatestPrices } from '../../prices/service/reads/latest-prices.ts'
import {
  levelBefore,
  levelDecimals,
  type StorageSpan,
  utilizationPercent,
} from '../math/storage.ts'
import type { StorageCapacityStore } from '../store/storage-capacities.ts'

/**
 * The stock of a place, its change and its fill level. Levels and changes are in the unit of the
 * series.
 */
export interface StorageLevel {
  series: Series
  value: number
  /** Day of the level. */
  on: string
  observedAt: number
  recordedAt: number
  change: Record<StorageSpan, number | undefined>
  weekPercent: number | undefined
  capacity: number | undefined
  utilizationPercent: number | undefined
}

export interface StorageDeps {
  latestPrices: LatestPrices
  closes: Closes
  capacities: StorageCapacityStore
}

export function createStorageLevels(deps: StorageDeps) {
  const { latestPrices, closes, capacities } = deps
  return {
    /** The same over other prices, as those of a moment. */
    at: (prices: Pick<StorageDeps, 'latestPrices' | 'closes'>) =>
      createStorageLevels({ latestPrices: prices.latestPrices, closes: prices.closes, capacities }),
    /** Undefined when the series has no observation outside quarantine. */
    of(series: Series) {
      const quote = latestPrices.quote(series)
      if (!quote) return undefined
      const newest = quote.observation
      const levels = closes.of(series.id)
      const decimals = levelDecimals(series)
      const change = (span: StorageSpan) => {
        const before = levelBefore(levels, span)
        return before && roundTo(decimalDifference(newest.value, before.value), decimals)
      }
      const weekBefore = levelBefore(levels, 'week')
      const weekPercent = weekBefore && changePercent(weekBefore.value, newest.value)
      const on = isoDay(newest.observedAt)
      const capacity = capacities.on(series.id, on)?.capacity
      return {
        series: quote.series,
        value: roundTo(newest.value, decimals),
        on,
        observedAt: newest.observedAt,
        recordedAt: newest.recordedAt,
        change: { week: change('week'), month: change('month'), year: change('year') },
        weekPercent: weekPercent === undefined ? undefined : roundTo(weekPercent, 2),
        capacity: capacity === undefined ? undefined : roundTo(capacity, decimals),
        utilizationPercent: utilizationPercent(newest.value, capacity),
      }
    },
  }
}
