import type { Database } from 'bun:sqlite'
import { transact } from '../database.ts'

/** One trading date of a contract as it is kept; what its source does not have is null. */
export interface FuturesDay {
  seriesId: number
  tradedOn: string
  open: number | null
  high: number | null
  low: number | null
  close: number | null
  settlement: number | null
  volume: number | null
  openInterest: number | null
  /** Open to volume follow the ticks of the date. */
  fromTicks: boolean
  quotedAt: number
  recordedAt: number
  source: string
}

export interface FuturesTick {
  seriesId: number
  tradedAt: number
  price: number
  volume: number
  recordedAt: number
  source: string
}

interface DayRow {
  traded_on: string
  open: number | null
  high: number | null
  low: number | null
  close: number | null
  settlement: number | null
  volume: number | null
  open_interest: number | null
  from_ticks: number
  quoted_at: number
  recorded_at: number
  source: string
}

interface TickRow {
  traded_at: number
  price: number
  volume: number
  recorded_at: number
  source: string
}

const dayColumns =
  'traded_on, open, high, low, close, settlement, volume, open_interest, from_ticks, quoted_at, recorded_at, source'
const tickColumns = 'traded_at, price, volume, recorded_at, source'
const dates = 'series_id = ? AND traded_on >= ? AND traded_on < ?'

const dayOf = (seriesId: number, row: DayRow): FuturesDay => ({
  seriesId,
  tradedOn: row.traded_on,
  open: row.open,
  high: row.high,
  low: row.low,
  close: row.close,
  settlement: row.settlement,
  volume: row.volume,
  openInterest: row.open_interest,
  fromTicks: row.from_ticks === 1,
  quotedAt: row.quoted_at,
  recordedAt: row.recorded_at,
  source: row.source,
})

const tickOf = (seriesId: number, row: TickRow): FuturesTick => ({
  seriesId,
  tradedAt: row.traded_at,
  price: row.price,
  volume: row.volume,
  recordedAt: row.recorded_at,
  source: row.source,
})

/** Daily bars, settlements and ticks of futures contracts. Ranges are half-open. */
export interface FuturesStore {
  /** Newest first. */
  days(seriesId: number, from: string, to: string, limit: number): FuturesDay[]
  day(seriesId: number, tradedOn: string): FuturesDay | undefined
  countDays(seriesId: number, from: string, to: string): number
  putDay(day: FuturesDay): void
  /** Oldest first. */
  ticks(seriesId: number, from: number, to: number): FuturesTick[]
  tick(seriesId: number, tradedAt: number): FuturesTick | undefined
  newestTickAt(seriesId: number): number | undefined
  putTick(tick: FuturesTick): void
  /** One transaction over these tables and whatever else the work writes. */
  together<T>(work: () => T): T
}

export function createFuturesStore(db: Database): FuturesStore {
  const days = db.query<DayRow, [number, string, string, number]>(
    `SELECT ${dayColumns} FROM futures_days WHERE ${dates} ORDER BY traded_on DESC LIMIT ?`,
  )
  const day = db.query<DayRow, [number, string]>(
    `SELECT ${dayColumns} FROM futures_days WHERE series_id = ? AND traded_on = ?`,
  )
  const count = db.query<{ n: number }, [number, string, string]>(
    `SELECT count(*) AS n FROM futures_days WHERE ${dates}`,
  )
  const putDay = db.query(
    `INSERT OR REPLACE INTO futures_days (series_id, ${dayColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const ticks = db.query<TickRow, [number, number, number]>(
    `SELECT ${tickColumns} FROM futures_ticks WHERE series_id = ? AND traded_at >= ? AND traded_at < ? ORDER BY traded_at`,
  )
  const tick = db.query<TickRow, [number, number]>(
    `SELECT ${tickColumns} FROM futures_ticks WHERE series_id = ? AND traded_at = ?`,
  )
  const newestTick = db.query<{ at: number | null }, [number]>(
    'SELECT max(traded_at) AS at FROM futures_ticks WHERE series_id = ?',
  )
  const putTick = db.query(
    `INSERT OR REPLACE INTO futures_ticks (series_id, ${tickColumns}) VALUES (?, ?, ?, ?, ?, ?)`,
  )
  return {
    days: (seriesId, from, to, limit) =>
      days.all(seriesId, from, to, limit).map(row => dayOf(seriesId, row)),
    day(seriesId, tradedOn) {
      const row = day.get(seriesId, tradedOn)
      return row ? dayOf(seriesId, row) : undefined
    },
    countDays: (seriesId, from, to) => count.get(seriesId, from, to)!.n,
    putDay(futuresDay) {
      const prices = [
        futuresDay.open,
        futuresDay.high,
        futuresDay.low,
        futuresDay.close,
        futuresDay.settlement,
        futuresDay.volume,
        futuresDay.openInterest,
      ]
      putDay.run(
        futuresDay.seriesId,
        futuresDay.tradedOn,
        ...prices,
        futuresDay.fromTicks ? 1 : 0,
        futuresDay.quotedAt,
        futuresDay.recordedAt,
        futuresDay.source,
      )
    },
    ticks: (seriesId, from, to) => ticks.all(seriesId, from, to).map(row => tickOf(seriesId, row)),
    tick(seriesId, tradedAt) {
      const row = tick.get(seriesId, tradedAt)
      return row ? tickOf(seriesId, row) : undefined
    },
    newestTickAt: seriesId => newestTick.get(seriesId)?.at ?? undefined,
    putTick: futuresTick =>
      void putTick.run(
        futuresTick.seriesId,
        futuresTick.tradedAt,
        futuresTick.price,
        futuresTick.volume,
        futuresTick.recordedAt,
        futuresTick.source,
      ),
    together: work => transact(db, work),
  }
}
