import { transact } from '../../../database/database.ts'
import type { DatasetReads } from '../../../database/dataset-reads.ts'
import { datasetStore } from '../../../database/dataset-store.ts'
import { type FuturesDay, futuresSettlements } from '../dataset/settlements.ts'
import { type FuturesTick, futuresTicks } from '../dataset/ticks.ts'

/** From the price of a contract on one day to that on a later one. */
export interface ContractMove {
  code: string
  before: number
  value: number
}

const dates = 'series_id = ? AND traded_on >= ? AND traded_on < ?'

/** Daily bars, settlements and ticks of futures contracts. Ranges are half-open. */
export type FuturesStore = ReturnType<typeof createFuturesStore>

export function createFuturesStore(reads: DatasetReads) {
  const dayStore = datasetStore<FuturesDay>(reads, futuresSettlements)
  const tickStore = datasetStore<FuturesTick>(reads, futuresTicks)
  const days = dayStore.stored<[number, string, string, number]>(
    `WHERE ${dates} ORDER BY traded_on DESC LIMIT ?`,
  )
  const day = dayStore.stored<[number, string]>('WHERE series_id = ? AND traded_on = ?')
  const anyDay = dayStore.value<number>(
    '1',
    'WHERE series_id IN (SELECT id FROM series WHERE family_code = ?) LIMIT 1',
  )
  const movesBetween = reads.statement<ContractMove, string[]>(
    `SELECT code, coalesce(earlier.settlement, earlier.close) AS before, coalesce(later.settlement, later.close) AS value
     FROM series JOIN futures_days earlier ON earlier.series_id = series.id AND earlier.traded_on = ?2
       JOIN futures_days later ON later.series_id = series.id AND later.traded_on = ?3
     WHERE family_code = ?1 ORDER BY code`,
    futuresSettlements,
  )
  const ticks = tickStore.stored<[number, number, number]>(
    'WHERE series_id = ? AND traded_at >= ? AND traded_at < ? ORDER BY traded_at',
  )
  const tick = tickStore.stored<[number, number]>('WHERE series_id = ? AND traded_at = ?')
  return {
    /** Newest first. */
    days: (...range: [seriesId: number, from: string, to: string, limit: number]): FuturesDay[] =>
      days.all(...range),
    day: (...place: [seriesId: number, tradedOn: string]): FuturesDay | undefined =>
      day.get(...place),
    countDays: dayStore.count<[number, string, string]>(dates),
    hasDays: (family: string) => anyDay(family) !== undefined,
    /** The settlements, or closes, of the contracts of a family that have both days. */
    movesBetween: (...moves: [family: string, fromDay: string, toDay: string]): ContractMove[] =>
      movesBetween.all(...moves),
    putDay: (futuresDay: FuturesDay) => dayStore.set(futuresDay, futuresDay.recordedAt),
    /** Oldest first. */
    ticks: (...range: [seriesId: number, from: number, to: number]): FuturesTick[] =>
      ticks.all(...range),
    tick: (...place: [seriesId: number, tradedAt: number]): FuturesTick | undefined =>
      tick.get(...place),
    newestTickAt: tickStore.value<number>('max(traded_at)', 'WHERE series_id = ?'),
    putTick: (futuresTick: FuturesTick) => tickStore.set(futuresTick, futuresTick.recordedAt),
    /** One transaction over these tables and whatever else the work writes. */
    together: <T>(work: () => T): T => transact(reads.db, work),
  }
}
