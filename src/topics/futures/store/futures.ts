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
export interface FuturesStore {
  /** Newest first. */
  days(seriesId: number, from: string, to: string, limit: number): FuturesDay[]
  day(seriesId: number, tradedOn: string): FuturesDay | undefined
  countDays(seriesId: number, from: string, to: string): number
  /** Whether any contract of a family has a day. */
  hasDays(family: string): boolean
  /** The settlements, or closes, of the contracts of a family that have both days. */
  movesBetween(family: string, fromDay: string, toDay: string): ContractMove[]
  putDay(day: FuturesDay): void
  /** Oldest first. */
  ticks(seriesId: number, from: number, to: number): FuturesTick[]
  tick(seriesId: number, tradedAt: number): FuturesTick | undefined
  newestTickAt(seriesId: number): number | undefined
  putTick(tick: FuturesTick): void
  /** One transaction over these tables and whatever else the work writes. */
  together<T>(work: () => T): T
}

export function createFuturesStore(reads: DatasetReads): FuturesStore {
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
    days: (...range) => days.all(...range),
    day: (...place) => day.get(...place),
    countDays: dayStore.count<[number, string, string]>(dates),
    hasDays: family => anyDay(family) !== undefined,
    movesBetween: (...moves) => movesBetween.all(...moves),
    putDay: futuresDay => dayStore.set(futuresDay, futuresDay.recordedAt),
    ticks: (...range) => ticks.all(...range),
    tick: (...place) => tick.get(...place),
    newestTickAt: tickStore.value<number>('max(traded_at)', 'WHERE series_id = ?'),
    putTick: futuresTick => tickStore.set(futuresTick, futuresTick.recordedAt),
    together: work => transact(reads.db, work),
  }
}
