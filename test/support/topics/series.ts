import type { Database } from 'bun:sqlite'
import { createSeriesStore } from '../../../src/topics/catalogue/store/series.ts'

/** Puts daily crude oil series into an empty database; `CODE_1` gets the id 1, and so on. */
export function putSeries(db: Database, ids: readonly number[]): void {
  createSeriesStore(db).put(
    ids.map(id => ({
      code: `CODE_${id}`,
      name: `Code ${id}`,
      category: 'crude_oil',
      currency: 'USD',
      unit: 'barrel',
      decimals: 2,
      cadence: 'daily' as const,
      source: 'market_reporting',
      description: '',
      unavailableReason: null,
      level: 70,
      volatility: 0.3,
    })),
    [],
  )
}
