import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import type { WriteCounts } from '../../../database/write-counts.ts'
import { dataStatus } from '../../calendars/math/freshness.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Ingest } from '../../prices/service/ingest.ts'
import type { Point } from '../../prices/store/observations.ts'
import type { Events, ServiceEvent } from '../../webhooks/service/events.ts'
import {
  country,
  ducWellCode,
  fracSpreadCode,
  rigCountCode,
  rigTypeCodes,
} from '../math/drilling.ts'
import { countedAt } from '../math/period.ts'
import { createDucWellStore, type DucWellStore, type DucWells } from '../store/duc-wells.ts'
import {
  createFracSpreadStore,
  type FracSpreadStore,
  type FracSpreads,
} from '../store/frac-spreads.ts'
import { createDrillingMetricStore, type DrillingMetricStore } from '../store/metrics.ts'
import {
  createProductivityStore,
  type Productivity,
  type ProductivityStore,
} from '../store/productivities.ts'
import type { Regional, RegionalStore } from '../store/regional.ts'
import { createRigCountStore, type RigCount, type RigCountStore } from '../store/rig-counts.ts'
import { ducWellEvent, fracSpreadEvent, rigCountEvent } from './events.ts'

/** The counts of drilling, a store for each dataset. */
export interface DrillingStores {
  rigs: RigCountStore
  frac: FracSpreadStore
  duc: DucWellStore
  productivity: ProductivityStore
  metrics: DrillingMetricStore
}

/**
 * The one way in for what is counted of drilling. A call is one transaction: the rows, the
 * observations of the catalogue's series that mean the same number (so that a code answers what the
 * family answers), and the events of what is new.
 */
export interface Drilling extends DrillingStores {
  recordRigCounts(rows: readonly RigCount[], recordedAt: number): WriteCounts
  recordFracSpreads(rows: readonly FracSpreads[], recordedAt: number): WriteCounts
  recordDucWells(rows: readonly DucWells[], recordedAt: number): WriteCounts
  /** No series of the catalogue is about these. */
  recordProductivities(rows: readonly Productivity[], recordedAt: number): WriteCounts
}

export interface DrillingDeps {
  db: Database
  catalogue: { named(code: string): Series | undefined }
  ingest: Pick<Ingest, 'write'>
  events: Pick<Events, 'emit'>
}

export const drillingStores = (db: Database): DrillingStores => ({
  rigs: createRigCountStore(db),
  frac: createFracSpreadStore(db),
  duc: createDucWellStore(db),
  productivity: createProductivityStore(db),
  metrics: createDrillingMetricStore(db),
})

/** A number of a row and the code that it is also the value of. */
interface Mirrored {
  code: string | undefined
  value: number | null
}

interface Family<T extends Regional> {
  store: RegionalStore<T>
  mirrored(row: T): Mirrored[]
  /** Undefined: the region has no code, and without one there is nothing to filter an event by. */
  event(row: T, store: RegionalStore<T>, recordedAt: number): ServiceEvent | undefined
}

export function createDrilling({ db, catalogue, ingest, events }: DrillingDeps): Drilling {
  const stores = drillingStores(db)
  const { rigs, frac, duc, productivity } = stores

  /** The newest row of each region, where it is newer than every stored one. */
  const news = <T extends Regional>({ store }: Family<T>, rows: readonly T[]): T[] => {
    const newest = new Map<string, T>()
    for (const row of rows)
      if (row.countedOn > (newest.get(row.region)?.countedOn ?? '')) newest.set(row.region, row)
    return [...newest.values()].filter(row => row.countedOn > (store.newestOn([row.region]) ?? ''))
  }

  const pointsOf = <T extends Regional>({ mirrored }: Family<T>, rows: readonly T[]): Point[] =>
    rows.flatMap(row =>
      mirrored(row).flatMap(({ code, value }) => {
        const series = code === undefined ? undefined : catalogue.named(code)
        return series && value !== null
          ? { seriesId: series.id, observedAt: countedAt(row.countedOn), value }
          : []
      }),
    )

  /** Rows of a history that is imported late are no news. */
  const isNews = (event: ServiceEvent, countedOn: string, recordedAt: number): boolean => {
    const series = event.commodity === undefined ? undefined : catalogue.named(event.commodity)
    return series !== undefined && dataStatus(series, countedAt(countedOn), recordedAt) !== 'stale'
  }

  const record = <T extends Regional>(
    family: Family<T>,
    rows: readonly T[],
    recordedAt: number,
  ): WriteCounts =>
    transact(db, () => {
      const fresh = news(family, rows)
      const counts = family.store.write(rows, recordedAt)
      for (const row of fresh) {
        const event = family.event(row, family.store, recordedAt)
        if (event && isNews(event, row.countedOn, recordedAt)) events.emit(event)
      }
      // Last, because listeners to observations expect the rows to be stored.
      const points = pointsOf(family, rows)
      if (points.length > 0) ingest.write(points, recordedAt)
      return counts
    })

  const rigFamily: Family<RigCount> = {
    store: rigs,
    // The mean of a month is not a count of a week, and the series are of weeks.
    mirrored: row => (row.span === 'week' ? rigCodes(row) : []),
    event: rigCountEvent,
  }
  const fracFamily: Family<FracSpreads> = {
    store: frac,
    mirrored: row => [{ code: fracSpreadCode(row.region), value: row.active }],
    event: fracSpreadEvent,
  }
  const ducFamily: Family<DucWells> = {
    store: duc,
    mirrored: row => [{ code: ducWellCode(row.region), value: row.duc }],
    event: ducWellEvent,
  }
  return {
    ...stores,
    recordRigCounts: (rows, recordedAt) => record(rigFamily, rows, recordedAt),
    recordFracSpreads: (rows, recordedAt) => record(fracFamily, rows, recordedAt),
    recordDucWells: (rows, recordedAt) => record(ducFamily, rows, recordedAt),
    recordProductivities: (rows, recordedAt) => productivity.write(rows, recordedAt),
  }
}

function rigCodes(row: RigCount): Mirrored[] {
  const total = { code: rigCountCode(row.region), value: row.total }
  if (row.region !== country) return [total]
  return [
    total,
    ...(['oil', 'gas', 'misc'] as const).map(type => ({
      code: rigTypeCodes[type],
      value: row[type],
    })),
  ]
}
