import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { lazy } from '../../../database/statement.ts'

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

/** From the price of a contract on one day to that on a later one. */
export interface ContractMove {
  code: string
  before: number
  value: number
}

/** A row of the table: SQLite has no booleans. */
type DayRow = Omit<FuturesDay, 'fromTicks'> & { fromTicks: 0 | 1 }

const dayColumns =
  'series_id AS seriesId, traded_on AS tradedOn, open, high, low, close, settlement, volume, open_interest AS openInterest, from_ticks AS fromTicks, quoted_at AS quotedAt, recorded_at AS recordedAt, source'
const tickColumns =
  'series_id AS seriesId, traded_at AS tradedAt, price, volume, recorded_at AS recordedAt, source'
const dates = 'series_id = ? AND traded_on >= ? AND traded_on < ?'

const dayOf = (row: DayRow): FuturesDay => ({ ...row, fromTicks: row.fromTicks === 1 })

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

export function createFuturesStore(db: Database): FuturesStore {
  const days = lazy<DayRow, [number, string, string, number]>(
    db,
    `SELECT ${dayColumns} FROM futures_days WHERE ${dates} ORDER BY traded_on DESC LIMIT ?`,
  )
  const day = lazy<DayRow, [number, string]>(
    db,
    `SELECT ${dayColumns} FROM futures_days WHERE series_id = ? AND traded_on = ?`,
  )
  const count = lazy<{ n: number }, [number, string, string]>(
    db,
    `SELECT count(*) AS n FROM futures_days WHERE ${dates}`,
  )
  const anyDay = lazy<unknown, [string]>(
    db,
    'SELECT 1 FROM futures_days WHERE series_id IN (SELECT id FROM series WHERE family_code = ?) LIMIT 1',
  )
  const movesBetween = lazy<ContractMove, string[]>(
    db,
    `SELECT code, coalesce(earlier.settlement, earlier.close) AS before, coalesce(later.settlement, later.close) AS value
     FROM series JOIN futures_days earlier ON earlier.series_id = series.id AND earlier.traded_on = ?2
       JOIN futures_days later ON later.series_id = series.id AND later.traded_on = ?3
     WHERE family_code = ?1 ORDER BY code`,
  )
  const putDay = lazy(
    db,
    `INSERT INTO futures_days (series_id, traded_on, open, high, low, close, settlement, volume, open_interest, from_ticks, quoted_at, recorded_at, source)
     VALUES ($seriesId, $tradedOn, $open, $high, $low, $close, $settlement, $volume, $openInterest, $fromTicks, $quotedAt, $recordedAt, $source)
     ON CONFLICT (series_id, traded_on) DO UPDATE SET open = excluded.open, high = excluded.high, low = excluded.low,
       close = excluded.close, settlement = excluded.settlement, volume = excluded.volume, open_interest = excluded.open_interest,
       from_ticks = excluded.from_ticks, quoted_at = excluded.quoted_at, recorded_at = excluded.recorded_at, source = excluded.source`,
  )
  const ticks = lazy<FuturesTick, [number, number, number]>(
    db,
    `SELECT ${tickColumns} FROM futures_ticks WHERE series_id = ? AND traded_at >= ? AND traded_at < ? ORDER BY traded_at`,
  )
  const tick = lazy<FuturesTick, [number, number]>(
    db,
    `SELECT ${tickColumns} FROM futures_ticks WHERE series_id = ? AND traded_at = ?`,
  )
  const newestTick = lazy<{ at: number | null }, [number]>(
    db,
    'SELECT max(traded_at) AS at FROM futures_ticks WHERE series_id = ?',
  )
  const putTick = lazy(
    db,
    `INSERT INTO futures_ticks (series_id, traded_at, price, volume, recorded_at, source)
     VALUES ($seriesId, $tradedAt, $price, $volume, $recordedAt, $source)
     ON CONFLICT (series_id, traded_at) DO UPDATE SET price = excluded.price, volume = excluded.volume,
       recorded_at = excluded.recorded_at, source = excluded.source`,
  )
  return {
    days: (seriesId, from, to, limit) => days.all(seriesId, from, to, limit).map(dayOf),
    day(seriesId, tradedOn) {
      const row = day.get(seriesId, tradedOn)
      return row ? dayOf(row) : undefined
    },
    countDays: (seriesId, from, to) => count.get(seriesId, from, to)!.n,
    hasDays: family => anyDay.get(family) !== null,
    movesBetween: (...moves) => movesBetween.all(...moves),
    putDay: futuresDay => void putDay.run({ ...futuresDay }),
    ticks: (seriesId, from, to) => ticks.all(seriesId, from, to),
    tick: (seriesId, tradedAt) => tick.get(seriesId, tradedAt) ?? undefined,
    newestTickAt: seriesId => newestTick.get(seriesId)?.at ?? undefined,
    putTick: ({ seriesId, tradedAt, price, volume, recordedAt, source }) =>
      void putTick.run({ seriesId, tradedAt, price, volume, recordedAt, source }),
    together: work => transact(db, work),
  }
}
