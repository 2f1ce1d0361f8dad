import { dayAfter } from '../../prices/math/window.ts'
import { type ContractSession, listedMonths, sessionOn, tradesOn } from '../math/contracts.ts'
import type { Family } from '../math/families.ts'

export interface CurveDate {
  day: string
  /** The trading date before. */
  before: string
  front: string
  session: ContractSession
}

/** A year and a half: the dates that are needed after the history is written. */
const datesKept = 512

export function createCurveDates(family: Family) {
  const dates = new Map<string, CurveDate | undefined>()
  const dayBefore = (day: string): string => {
    let before = dayAfter(day, -1)
    while (!tradesOn(family, before)) before = dayAfter(before, -1)
    return before
  }
  const on = (day: string): CurveDate | undefined => {
    if (dates.has(day)) return dates.get(day)
    const date = tradesOn(family, day)
      ? {
          day,
          before: dayBefore(day),
          front: listedMonths(family.code, day, 1)[0]!,
          session: sessionOn(family, day),
        }
      : undefined
    if (dates.size >= datesKept) dates.clear()
    dates.set(day, date)
    return date
  }
  return {
    /** Undefined when the exchange is closed on the day. */
    on /** The trading date before a day, whether that is one itself or not. */,
    before: (day: string) => on(dayBefore(day))!,
  }
}
