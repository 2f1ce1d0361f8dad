import type { Database } from 'bun:sqlite'
import { transact } from '../database/database.ts'
import { rowNotes } from '../database/dataset-log.ts'
import { readsNow } from '../database/dataset-reads.ts'
import { datasetStore } from '../database/dataset-store.ts'
import { declaredDatasets } from '../database/datasets.ts'
import type { WriteCounts } from '../database/write-counts.ts'
import type { Declared, RowContext } from '../datasets/dataset.ts'
import { cftcPositions } from '../topics/analytics/dataset/positions.ts'
import type { AnalyticsServices } from '../topics/analytics/service/open.ts'
import { regionalDatasets } from '../topics/drilling/dataset/counts.ts'
import { fracChemicals, fracDisclosures } from '../topics/drilling/dataset/frac.ts'
import { wellPermits } from '../topics/drilling/dataset/permits.ts'
import { wellProduction, wells } from '../topics/drilling/dataset/wells.ts'
import type { DrillingServices } from '../topics/drilling/service/open.ts'
import { dieselStations } from '../topics/fuels/dataset/diesel-stations.ts'
import { surchargeSchedules } from '../topics/fuels/dataset/surcharge-schedules.ts'
import type { FuelServices } from '../topics/fuels/service/open.ts'
import { oilInventories } from '../topics/fundamentals/dataset/oil-inventories.ts'
import { futuresSettlements } from '../topics/futures/dataset/settlements.ts'
import { futuresTicks } from '../topics/futures/dataset/ticks.ts'
import type { FuturesServices } from '../topics/futures/service/open.ts'
import { checkRow } from '../topics/prices/files/rows.ts'
import type { Ingest } from '../topics/prices/service/writes/ingest.ts'
import type { Dataset } from './files/dataset.ts'

export interface DatasetDeps
  extends Pick<RowContext, 'catalogue' | 'exchangeWords'>,
    Pick<AnalyticsServices, 'positions'>,
    Pick<FuelServices, 'stations' | 'surcharges'>,
    Omit<DrillingServices, 'drillingAt'>,
    Pick<FuturesServices, 'futures'> {
  db: Database
  ingest: Pick<Ingest, 'write' | 'next'>
}

type Write<R> = (records: readonly R[], recordedAt: number) => WriteCounts

/** The datasets that are written by more than a statement for each row. */
function writersOf(deps: DatasetDeps): ReadonlyMap<Declared, Write<unknown>> {
  const writers = new Map<Declared, Write<unknown>>()
  const add = <R>(declared: Declared<R>, write: Write<R>) =>
    void writers.set(declared, write as Write<unknown>)
  for (const declared of regionalDatasets)
    add(declared, (rows, at) => deps.drilling.record(declared, rows, at))
  add(futuresSettlements, deps.futures.recordDays)
  add(futuresTicks, deps.futures.recordTicks)
  add(cftcPositions, deps.positions.write)
  add(oilInventories, (points, at) => deps.ingest.write(points, at))
  add(surchargeSchedules, deps.surcharges.writeSchedules)
  add(dieselStations, deps.stations.write)
  add(wellPermits, deps.permits.record)
  add(fracDisclosures, deps.fracDisclosures.write)
  add(fracChemicals, deps.fracChemicals.write)
  add(wells, deps.wells.put)
  add(wellProduction, deps.wellProduction.record)
  return writers
}

/** Every dataset with what judges and writes its rows. */
export function datasets(deps: DatasetDeps): Dataset<unknown>[] {
  const writers = writersOf(deps)
  const reads = readsNow(deps.db)
  const { catalogue, exchangeWords, fracDisclosures: disclosures } = deps
  const contextAt = (now: number): RowContext => ({
    now,
    catalogue,
    exchangeWords,
    disclosureId: disclosures.idOf,
    point(code, day, value) {
      const verdict = checkRow({ code, observedAt: day, price: value }, catalogue, now)
      return verdict.kind === 'point' ? verdict.point : undefined
    },
  })
  const noteRows = rowNotes(deps.db)
  return declaredDatasets.map(declared => {
    const write = writers.get(declared) ?? datasetStore(reads, declared).write
    return {
      ...declared,
      check: (row, now) => declared.check(row, contextAt(now)),
      write: (records, recordedAt) =>
        transact(deps.db, () => {
          const counts = write(records as object[], recordedAt)
          if (counts.inserted + counts.revised > 0)
            noteRows(deps.ingest.next(), instantsOf(records, recordedAt))
          return counts
        }),
    }
  })
}

/** When records are recorded; those of rows whose publication is known have their own instants. */
const instantsOf = (records: readonly unknown[], recordedAt: number): Set<number> =>
  new Set(records.map(record => (record as { recordedAt?: number }).recordedAt ?? recordedAt))
