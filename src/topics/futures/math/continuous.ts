import { decimalDifference } from '../../prices/math/format.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { type ContractDay, curvePrice, earlierDay, laterDay } from './contract-days.ts'
import { lastTradingDay, listedMonths, monthAfter, tradesOn } from './contracts.ts'
import { type FamilyCode, familyOf } from './families.ts'

/**
 * When the series leaves a contract: after its last trading day, so many trading days before it, or
 * on the day after the next contract's volume or open interest exceeds its own.
 */
export const rollRules = ['expiry', 'days_before', 'volume', 'open_interest'] as const
export type RollRule = (typeof rollRules)[number]

/** The adjustment of the step between two contracts. */
export const adjustments = ['none', 'back_adjusted', 'ratio_adjusted'] as const
export type Adjustment = (typeof adjustments)[number]

export interface RollTerms {
  rule: RollRule
  /** Trading days before the last one, for `days_before`. */
  daysBefore: number
  /** 1: the contract that the rule names; N: the Nth from it on. */
  nth: number
}

/** One trading date of a series that rolls. */
export interface ContinuousDay {
  day: ContractDay
  /** The close, shifted by what later rolls take away. */
  price: number
}

/** The change from one contract to the next. */
export interface Roll {
  /** The first date of the new contract. */
  date: string
  fromMonth: string
  toMonth: string
  /** New minus old settlement, and new over old; null where no date has both. */
  gap: number | null
  ratio: number | null
}

/** A roll that an adjustment cannot take away. */
export class Unadjustable extends Error {}

/** Trading days of one contract by date. */
export type ContractDays = ReadonlyMap<string, ContractDay>

/** How many contracts a rule may be ahead of the front month. */
const aheadOf = ({ rule, daysBefore }: RollTerms): number =>
  rule === 'expiry' ? 1 : rule === 'days_before' ? 2 + Math.floor(daysBefore / 20) : 6

/** A contract that trades in the last weeks before a roll is measured against the one before it. */
const overlapDays = 7

/**
 * The contracts that a rule may name between two dates, nearest first, each with the dates (both
 * inclusive) on which it may be named or compared.
 */
export function contractsBetween(
  code: FamilyCode,
  from: string,
  to: string,
  terms: RollTerms,
): { month: string; from: string; to: string }[] {
  const ahead = aheadOf(terms)
  const end = monthAfter(listedMonths(code, to, 1)[0]!, ahead + terms.nth - 1)
  const contracts: { month: string; from: string; to: string }[] = []
  for (let [month] = listedMonths(code, from, 1); month! <= end; month = monthAfter(month!, 1)) {
    const opens = lastTradingDay(code, monthAfter(month!, -(ahead + terms.nth - 1)))
    contracts.push({
      month: month!,
      from: laterDay(from, dayAfter(opens, -overlapDays)),
      to: earlierDay(to, lastTradingDay(code, month!)),
    })
  }
  return contracts
}

/**
 * The series between two dates, oldest first, where it rolls, and the contract month that is active
 * on the last date, which may have no price yet. `daysOf` has the days of a contract month. A roll
 * rests on nothing later than the date before it; a series never goes back to a contract that it
 * left.
 */
export function continuousDays(
  code: FamilyCode,
  daysOf: (month: string) => ContractDays,
  from: string,
  to: string,
  terms: RollTerms,
): { days: ContractDay[]; rolls: Roll[]; activeMonth: string } {
  const months = contractsBetween(code, from, to, terms).map(({ month }) => month)
  const leaves = rollTest(code, daysOf, terms)
  const dates = [...new Set(months.flatMap(month => [...daysOf(month).keys()]))]
    .filter(date => date >= from && date <= to)
    .sort()
  const days: ContractDay[] = []
  const rolls: Roll[] = []
  let active = 0
  let before: string | undefined
  const monthOn = (date: string): string => {
    while (active + terms.nth < months.length && leaves(months[active]!, date, before)) active += 1
    return months[active + terms.nth - 1]!
  }
  for (const date of dates) {
    const month = monthOn(date)
    before = date
    const day = daysOf(month).get(date)
    if (!day) continue
    const last = days.at(-1)
    if (last && last.month !== month)
      rolls.push(rollOf(last.month, month, date, daysOf(last.month), daysOf(month)))
    days.push(day)
  }
  const activeMonth = before === to ? months[active + terms.nth - 1]! : monthOn(to)
  return { days, rolls, activeMonth }
}

/** The figure of a contract that a rule compares; undefined for rules by the calendar. */
export function measureOf(rule: RollRule): ((day: ContractDay) => number | null) | undefined {
  if (rule === 'volume') return day => day.volume
  return rule === 'open_interest' ? day => day.openInterest : undefined
}

/** Whether a contract is left on a date, of which `before` is the one before. */
function rollTest(
  code: FamilyCode,
  daysOf: (month: string) => ContractDays,
  { rule, daysBefore }: RollTerms,
): (month: string, date: string, before: string | undefined) => boolean {
  const lastDates = new Map<string, string>()
  const lastDateOf = (month: string) => {
    const cached = lastDates.get(month)
    if (cached !== undefined) return cached
    const last = lastTradingDay(code, month)
    const date = rule === 'days_before' ? tradingDaysBefore(code, last, daysBefore + 1) : last
    lastDates.set(month, date)
    return date
  }
  const measure = measureOf(rule)
  const exceeds = (month: string, before: string) => {
    const [front, next] = [daysOf(month).get(before), daysOf(monthAfter(month, 1)).get(before)]
    const [ownMeasure, nextMeasure] = [front && measure?.(front), next && measure?.(next)]
    return ownMeasure != null && nextMeasure != null && nextMeasure > ownMeasure
  }
  return (month, date, before) =>
    lastDateOf(month) < date ||
    (measure !== undefined && before !== undefined && exceeds(month, before))
}

function tradingDaysBefore(code: FamilyCode, day: string, count: number): string {
  const family = familyOf(code)
  let date = day
  for (let left = count; left > 0; left -= 1) {
    do date = dayAfter(date, -1)
    while (!tradesOn(family, date))
  }
  return date
}

/** The step of a roll on its date, or where the old contract has ended on the last that has both. */
function rollOf(
  fromMonth: string,
  toMonth: string,
  date: string,
  old: ContractDays,
  next: ContractDays,
): Roll {
  const common = [...old.keys()].filter(day => day <= date && next.has(day)).sort()
  const measured = common.at(-1)
  if (measured === undefined) return { date, fromMonth, toMonth, gap: null, ratio: null }
  const [from, to] = [curvePrice(old.get(measured)!), curvePrice(next.get(measured)!)]
  return {
    date,
    fromMonth,
    toMonth,
    gap: decimalDifference(to, from),
    ratio: from > 0 && to > 0 ? to / from : null,
  }
}

/**
 * The closes with the steps of later rolls taken away: shifted by the sum of their gaps, or
 * multiplied by the product of their ratios. The newest contract keeps its prices. Throws
 * Unadjustable where a step is not known, or a price of a ratio is not positive.
 */
export function adjusted(
  days: readonly ContractDay[],
  rolls: readonly Roll[],
  adjustment: Adjustment,
): ContinuousDay[] {
  let [shift, factor] = [0, 1]
  let next = rolls.length - 1
  const prices: ContinuousDay[] = []
  for (const day of days.toReversed()) {
    for (; next >= 0 && day.tradedOn < rolls[next]!.date; next -= 1) {
      if (adjustment === 'none') continue
      const { gap, ratio, date, fromMonth, toMonth } = rolls[next]!
      if (gap === null)
        throw new Unadjustable(
          `no date has both ${fromMonth} and ${toMonth}, between which ${date} rolls`,
        )
      if (adjustment === 'ratio_adjusted' && ratio === null)
        throw new Unadjustable(
          `a settlement at the roll of ${date} is not positive, so that it has no ratio`,
        )
      shift += gap
      factor *= ratio ?? 1
    }
    if (adjustment === 'ratio_adjusted' && day.close <= 0)
      throw new Unadjustable(
        `the price of ${day.tradedOn} is not positive, so that it has no ratio`,
      )
    prices.push({
      day,
      price: adjustment === 'ratio_adjusted' ? day.close * factor : day.close + shift,
    })
  }
  return prices.reverse()
}
