import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { type DatasetReads, readsNow } from '../../../database/dataset-reads.ts'
import type { Recorded } from '../../../database/dataset-store.ts'
import type { WriteCounts } from '../../../database/write-counts.ts'
import { dataStatus } from '../../calendars/math/freshness.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Ingest } from '../../prices/service/writes/ingest.ts'
import type { Point } from '../../prices/store/observations.ts'
import type { Events, ServiceEvent } from '../../webhooks/service/events.ts'
import {
  drillingProductivity,
  ducWells,
  fracSpreads,
  type RegionalCount,
  type RegionalDataset,
  rigCounts,
} from '../dataset/counts.ts'
import { countedAt } from '../math/period.ts'
import { createDrillingMetricStore } from '../store/metrics.ts'
import { createRegionalStore, type RegionalStore } from '../store/regional.ts'
import { countEvent } from './events.ts'

/** The one import of drilling data. */
export type Drilling = ReturnType<typeof createDrilling>

export interface DrillingDeps {
  db: Database
  catalogue: { named(code: string): Series | undefined }
  ingest: Pick<Ingest, 'write'>
  events: Pick<Events, 'emit'>
}

export function drillingStores(reads: DatasetReads) {
  const stores = new Map<unknown, unknown>()
  const storeOf = <T extends RegionalCount>(declared: RegionalDataset<T>) =>
    stores.getOrInsertComputed(declared, () =>
      createRegionalStore(reads, declared),
    ) as RegionalStore<T>
  return {
    rigs: storeOf(rigCounts),
    frac: storeOf(fracSpreads),
    duc: storeOf(ducWells),
    productivity: storeOf(drillingProductivity),
    metrics: createDrillingMetricStore(reads),
    of: storeOf,
  }
}

export function createDrilling({ db, catalogue, ingest, events }: DrillingDeps) {
  const stores = drillingStores(readsNow(db))

  /** The newest row of each region, where it is newer than every stored one. */
  const news = <T extends RegionalCount>(store: RegionalStore<T>, rows: readonly T[]): T[] => {
    const newest = new Map<string, T>()
    for (const row of rows)
      if (row.countedOn > (newest.get(row.region)?.countedOn ?? '')) newest.set(row.region, row)
    return [...newest.values()].filter(row => row.countedOn > (store.newestOn([row.region]) ?? ''))
  }

  const pointsOf = <T extends RegionalCount>(
    declared: RegionalDataset<T>,
    rows: readonly T[],
  ): Point[] =>
    rows.flatMap(row =>
      declared.codes(row).flatMap(({ code, value }) => {
        const series = code === undefined ? undefined : catalogue.named(code)
        return series && value !== null
          ? { seriesId: series.id, observedAt: countedAt(row.countedOn), value }
          : []
      }),
    )

  /** Rows of a history that is imported late do not trigger events. */
  const isNews = (event: ServiceEvent, countedOn: string, recordedAt: number): boolean => {
    const series = event.commodity === undefined ? undefined : catalogue.named(event.commodity)
    return series !== undefined && dataStatus(series, countedAt(countedOn), recordedAt) !== 'stale'
  }

  return {
    ...stores,
    /**
     * One transaction: the rows, the observations of the catalogue's series that mean the same number
     * (so that a code returns what the family returns), and the events of new rows.
     */
    record: <T extends RegionalCount>(
      declared: RegionalDataset<T>,
      rows: readonly Recorded<T>[],
      recordedAt: number,
    ): WriteCounts =>
      transact(db, () => {
        const store = stores.of(declared)
        const fresh = news(store, rows)
        const counts = store.write(rows, recordedAt)
        for (const row of fresh) {
          const event = countEvent(declared, row, store, recordedAt)
          if (event && isNews(event, row.countedOn, recordedAt)) events.emit(event)
        }
        // Last, because listeners to observations expect the rows to be stored.
        const points = pointsOf(declared, rows)
        if (points.length > 0) ingest.write(points, recordedAt)
        return counts
      }),
  }
}
