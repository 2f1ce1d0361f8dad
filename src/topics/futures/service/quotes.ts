import { dayAfter } from '../../prices/math/window.ts'
import { type ContractDay, curvePrice, laterDay } from '../math/contract-days.ts'
import {
  type ContractStatus,
  contractStatus,
  daysToExpiry,
  lastTradingDay,
  listedMonths,
  listingDay,
} from '../math/contracts.ts'
import { contractCode, type FamilyCode } from '../math/families.ts'
import { type ContractReads, earliestDay } from './reads.ts'

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
 * A curve of a past day is not put together from quotes that lie further back than a week of
 * holidays.
 */
const lookBackDays = 7

/**
 * Whether a day may have quotes. Contract calendars exist for any year, so that other days are left
 * out before one is computed.
 */
export const isMarketDay = (day: string, today: string): boolean =>
  day >= earliestDay && day <= dayAfter(today, lookBackDays)

/** `today`: the trading date that this moment counts to. */
export function createContractQuotes(reads: ContractReads, today: (code: FamilyCode) => string) {
  return {
    /** Every listed contract that has a quote, nearest first. */
    quotes(code: FamilyCode) {
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
    },
    /** The newest day of the front month, or of the nearest that has any. */
    nearest(code: FamilyCode) {
      const now = today(code)
      for (const month of listedMonths(code, now)) {
        const [day] = reads.days(code, month, earliestDay, now, 1)
        if (day) return day
      }
      return undefined
    },
    /**
     * The curve of now, or as it was at the end of a day; undefined without quotes, on a past day
     * also when the newest is a week older.
     */
    curve(code: FamilyCode, requestedDay?: string) {
      const day = requestedDay ?? today(code)
      if (!isMarketDay(day, today(code))) return undefined
      const from = requestedDay === undefined ? earliestDay : dayAfter(day, -lookBackDays)
      const months = listedMonths(code, listingDay(day, today(code)))
      const days = months.flatMap(month => reads.days(code, month, from, day, 1))
      const newest = days.reduce((best, contractDay) => laterDay(best, contractDay.tradedOn), '')
      return newest === ''
        ? undefined
        : { day: newest, points: days.map(contractDay => pointOf(code, contractDay)) }
    },
    /** The front month's quote; undefined while it has none. */
    front(code: FamilyCode) {
      const now = today(code)
      const [day] = reads.days(code, listedMonths(code, now, 1)[0]!, earliestDay, now, 1)
      return day && pointOf(code, day)
    },
  }
}

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
