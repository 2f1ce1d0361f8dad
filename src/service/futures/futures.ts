import type { Clock } from '../../lib/clock.ts'
import { hourMs, minuteMs } from '../../lib/instant.ts'
import {
  type ContractDay,
  curvePrice,
  earlierDay,
  laterDay,
  mergeDays,
  onGrid,
  stretchesOf,
  type Tick,
} from '../../market/futures/contract-days.ts'
import {
  type ContractStatus,
  contractStatus,
  daysToExpiry,
  lastTradingDay,
  listedMonths,
  monthAfter,
  sessionAt,
  tradingDate,
  tradingSpan,
} from '../../market/futures/contracts.ts'
import { contractCode, type FamilyCode, familyOf } from '../../market/futures/families.ts'
import { type Close, dayAfter } from '../../market/prices/window.ts'
import type { FuturesStore } from '../../store/futures/futures.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Ingest } from '../prices/ingest.ts'
import type { QuarantineList } from '../prices/quarantine.ts'
import { createContractReads, earliestDay } from './reads.ts'
import { createFuturesRecorder, type FuturesRecorder } from './record.ts'

/** A listed contract with its newest quote. */
export interface ContractQuote {
  day: ContractDay
  /** The trading date before, that the change is measured from. */
  previous: ContractDay | undefined
  daysToExpiry: number
  expiryDay: string
  status: ContractStatus
  isFront: boolean
}

export interface CurvePoint {
  contractMonth: string
  contractCode: string
  /** The settlement where there is one, otherwise the last trade. */
  price: number
  lastPrice: number
  settlement: number | null
  basis: 'exchange_settlement' | 'last_trade'
  tradingDay: string
  expiryDay: string
  quotedAt: number
  source: string
}

/**
 * Listed contracts that have a quote, nearest first; `day` is the trading date of the newest of
 * them.
 */
export interface Curve {
  day: string
  points: CurvePoint[]
}

/**
 * Which contracts a history is of: one, or on each date those at places of the curve (1 = front
 * month).
 */
export type ContractSelection = { month: string } | { places: readonly number[] }

export interface Freshness {
  /** `too_stale` comes before `live_stale`. */
  state: 'fresh' | 'too_stale' | 'live_stale'
  quotedAt: number
  ageMs: number
  /**
   * How far the quote is behind in the running session, counted from its opening; 0 while the
   * market is closed.
   */
  behindMs: number
}

/**
 * What is known of the futures markets. Families are given by code, days as `YYYY-MM-DD`, both ends
 * of a range inclusive.
 */
export interface Futures extends FuturesRecorder {
  /** The trading date that this moment counts to. */
  today(code: FamilyCode): string
  /** The Nth month listed now. */
  listedMonth(code: FamilyCode, nth: number): string
  /** Every listed contract that has a quote, nearest first. */
  quotes(code: FamilyCode): ContractQuote[]
  /**
   * The curve of now, or as it was at the end of a day; undefined without quotes, on a past day
   * also when the newest is a week older.
   */
  curve(code: FamilyCode, day?: string): Curve | undefined
  /** The front month's quote; undefined while it has none. */
  front(code: FamilyCode): CurvePoint | undefined
  /**
   * Closes of the Nth listed month of each date, oldest first, unadjusted; 1 is the front month
   * until its last trading day.
   */
  closes(code: FamilyCode, nth: number, from: string, to: string): Close[]
  /** The same of one contract or place. */
  closesOf(code: FamilyCode, selection: ContractSelection, from: string, to: string): Close[]
  /** Whether the wanted contracts have any day at all. */
  hasDays(code: FamilyCode, selection: ContractSelection): boolean
  /** Newest first, within a date nearest contract first. */
  page(
    code: FamilyCode,
    selection: ContractSelection,
    from: string,
    to: string,
    offset: number,
    limit: number,
  ): { days: ContractDay[]; total: number }
  /** The same as weeks or calendar months, all of them: places are merged by place. */
  merged(
    code: FamilyCode,
    selection: ContractSelection,
    interval: 'week' | 'month',
    from: string,
    to: string,
  ): ContractDay[]
  /** Five-minute prices of a trading date, or of the newest that has any, oldest first. */
  intraday(
    code: FamilyCode,
    month: string,
    day?: string,
  ): { day: string; ticks: Tick[]; source: string } | undefined
  /** Of the front month, or the nearest that has a quote. */
  freshness(code: FamilyCode): Freshness | undefined
}

export interface FuturesDeps {
  store: FuturesStore
  catalogue: Catalogue
  quarantine: QuarantineList
  ingest: Ingest
  clock: Clock
  /** Quotes that are older are not served as current. */
  maxAgeHours: number
  /** In a running session quotes of live families are not served when they are further behind. */
  liveStaleMinutes: number
}

/** Families whose quotes must follow the running session. */
const liveFamilies: ReadonlySet<FamilyCode> = new Set(['GASOIL_FUTURES', 'NATURAL_GAS_FUTURES'])

/**
 * A curve of a past day is not put together from quotes that lie further back than a week of
 * holidays.
 */
const lookBackDays = 7

export const tickMs = 5 * minuteMs

export function createFutures(deps: FuturesDeps): Futures {
  const { store, catalogue, quarantine, ingest, clock } = deps
  const reads = createContractReads(store, catalogue, quarantine)
  const today = (code: FamilyCode) => tradingDate(familyOf(code), clock.now())

  /**
   * Days that have or may soon have data: the calendars of contracts go no further than sense does.
   */
  const isMarketDay = (code: FamilyCode, day: string) =>
    day >= earliestDay && day <= dayAfter(today(code), lookBackDays)

  const quotes = (code: FamilyCode): ContractQuote[] => {
    const now = today(code)
    return listedMonths(code, now).flatMap((month, i) => {
      const [day, previous] = reads.days(code, month, earliestDay, now, 2)
      if (!day) return []
      const status = contractStatus(code, month, now)
      return {
        day,
        previous,
        status,
        isFront: i === 0,
        daysToExpiry: daysToExpiry(code, month, now),
        expiryDay: lastTradingDay(code, month),
      }
    })
  }

  /** The newest day of the front month, or of the nearest that has any. */
  const nearest = (code: FamilyCode): ContractDay | undefined => {
    const now = today(code)
    for (const month of listedMonths(code, now)) {
      const [day] = reads.days(code, month, earliestDay, now, 1)
      if (day) return day
    }
    return undefined
  }

  const curve = (code: FamilyCode, requestedDay?: string): Curve | undefined => {
    const day = requestedDay ?? today(code)
    if (!isMarketDay(code, day)) return undefined
    const from = requestedDay === undefined ? earliestDay : dayAfter(day, -lookBackDays)
    const days = listedMonths(code, day).flatMap(month => reads.days(code, month, from, day, 1))
    const newest = days.reduce((best, contractDay) => laterDay(best, contractDay.tradedOn), '')
    return newest === ''
      ? undefined
      : { day: newest, points: days.map(contractDay => pointOf(code, contractDay)) }
  }

  /** The dates of a range by the contracts that are wanted on them, newest first. */
  const parts = (
    code: FamilyCode,
    selection: ContractSelection,
    from: string,
    to: string,
  ): { months: string[]; from: string; to: string }[] => {
    const [first, last] = [laterDay(from, earliestDay), earlierDay(to, today(code))]
    if (first > last) return []
    if ('month' in selection) return [{ months: [selection.month], from: first, to: last }]
    return stretchesOf(code, first, last).map(stretch => ({
      months: selection.places.map(place => monthAfter(stretch.front, place - 1)),
      from: stretch.from,
      to: stretch.to,
    }))
  }

  /** Every day of one contract, or of one place of the curve, newest first. */
  const allDays = (
    code: FamilyCode,
    selection: ContractSelection,
    from: string,
    to: string,
  ): ContractDay[] =>
    parts(code, selection, from, to).flatMap(part =>
      reads.days(code, part.months[0]!, part.from, part.to),
    )

  const closesOf: Futures['closesOf'] = (code, selection, from, to) =>
    allDays(code, selection, from, to)
      .reverse()
      .map(day => ({ day: day.tradedOn, value: day.close }))

  const page: Futures['page'] = (code, selection, from, to, offset, limit) => {
    const days: ContractDay[] = []
    let total = 0
    for (const part of parts(code, selection, from, to)) {
      const count = part.months.reduce(
        (sum, month) => sum + reads.count(code, month, part.from, part.to),
        0,
      )
      const skip = Math.max(0, offset - total)
      total += count
      if (skip >= count || days.length >= limit) continue
      const partLimit = skip + limit - days.length
      const partDays = part.months.flatMap(month =>
        reads.days(code, month, part.from, part.to, partLimit),
      )
      days.push(...partDays.sort(newestThenNearest).slice(skip, partLimit))
    }
    return { days, total }
  }

  return {
    ...createFuturesRecorder({ store, catalogue, ingest }),
    today,
    listedMonth: (code, nth) => listedMonths(code, today(code), nth)[nth - 1]!,
    quotes,
    curve,
    front(code) {
      const now = today(code)
      const [day] = reads.days(code, listedMonths(code, now, 1)[0]!, earliestDay, now, 1)
      return day && pointOf(code, day)
    },
    closes: (code, nth, from, to) => closesOf(code, { places: [nth] }, from, to),
    closesOf,
    hasDays(code, selection) {
      if ('month' in selection)
        return reads.days(code, selection.month, earliestDay, today(code), 1).length > 0
      return catalogue.hasContracts(code)
    },
    page,
    merged(code, selection, interval, from, to) {
      const singles: ContractSelection[] =
        'month' in selection ? [selection] : selection.places.map(place => ({ places: [place] }))
      return singles
        .flatMap(single => mergeDays(interval, allDays(code, single, from, to)))
        .sort(newestThenNearest)
    },
    intraday(code, month, requestedDay) {
      const family = familyOf(code)
      const newestAt = requestedDay === undefined ? reads.newestTickAt(code, month) : undefined
      const day = newestAt === undefined ? requestedDay : tradingDate(family, newestAt)
      if (day === undefined || !isMarketDay(code, day)) return undefined
      const { from, to } = tradingSpan(family, day)
      const ticks = reads.ticks(code, month, from, to)
      const last = ticks.at(-1)
      return last && { day, ticks: onGrid(ticks, tickMs), source: last.source }
    },
    freshness(code) {
      const now = clock.now()
      const newest = nearest(code)
      if (!newest) return undefined
      const session = sessionAt(familyOf(code), now)
      const ageMs = now - newest.quotedAt
      const behindMs = session ? Math.max(0, now - Math.max(newest.quotedAt, session.opensAt)) : 0
      const isBehind = liveFamilies.has(code) && behindMs > deps.liveStaleMinutes * minuteMs
      const state =
        ageMs > deps.maxAgeHours * hourMs ? 'too_stale' : isBehind ? 'live_stale' : 'fresh'
      return { state, quotedAt: newest.quotedAt, ageMs, behindMs }
    },
  }
}

const newestThenNearest = (a: ContractDay, b: ContractDay): number =>
  a.tradedOn === b.tradedOn ? (a.month < b.month ? -1 : 1) : a.tradedOn > b.tradedOn ? -1 : 1

function pointOf(code: FamilyCode, day: ContractDay): CurvePoint {
  return {
    contractMonth: day.month,
    contractCode: contractCode(code, day.month),
    price: curvePrice(day),
    lastPrice: day.close,
    settlement: day.settlement,
    basis: day.settlement === null ? 'last_trade' : 'exchange_settlement',
    tradingDay: day.tradedOn,
    expiryDay: lastTradingDay(code, day.month),
    quotedAt: day.quotedAt,
    source: day.source,
  }
}
