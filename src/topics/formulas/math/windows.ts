import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import type { Average, Span } from './syntax.ts'

/** Days of a window, half-open, in days since 1970. */
export interface Days {
  from: number
  to: number
}

const dayOf = (at: number): number => Math.floor(at / dayMs)

/** Months since the year 0 of a day, and the day of its month from 0: dates are made for every value. */
function monthOf(day: number): { month: number; date: number } {
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const inEra = shifted - era * 146_097
  const year = Math.floor(
    (inEra - Math.floor(inEra / 1460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096)) /
      365,
  )
  const inYear = inEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  const fromMarch = Math.floor((5 * inYear + 2) / 153)
  const date = inYear - Math.floor((153 * fromMarch + 2) / 5)
  return { month: (era * 400 + year) * 12 + fromMarch + 2, date }
}

/** The first day of a month. */
function dayOfMonth(month: number): number {
  const sinceMarch = month - 2
  const year = Math.floor(sinceMarch / 12)
  const era = Math.floor(year / 400)
  const inEra = year - era * 400
  const inYear = Math.floor((153 * (sinceMarch - year * 12) + 2) / 5)
  return (
    era * 146_097 + inEra * 365 + Math.floor(inEra / 4) - Math.floor(inEra / 100) + inYear - 719_468
  )
}

/** The same day so many months later, or the last of its month. */
function addMonths(day: number, months: number): number {
  const { month, date } = monthOf(day)
  return Math.min(dayOfMonth(month + months) + date, dayOfMonth(month + months + 1) - 1)
}

/** The first day of the span of months that a day is in, counted from January. */
function startOfSpan(day: number, months: number): number {
  const { month } = monthOf(day)
  return dayOfMonth(month - (months >= 12 ? month % months : (month % 12) % months))
}

function moveBack(day: number, lag: Span | undefined): number {
  if (!lag) return day
  return lag.unit === 'month' ? addMonths(day, -lag.count) : day - lag.count
}

/** The days whose closes an average at a time is computed from. */
export function averagedDays({ window, lag, every }: Average, at: number): Days {
  const day = every ? startOfSpan(dayOf(at), every.count) : dayOf(at)
  if (window.unit === 'day') {
    const last = moveBack(day, lag)
    return { from: last - window.count + 1, to: last + 1 }
  }
  const spanMonths = window.isYear ? 12 : window.isQuarter ? 3 : 1
  const end = startOfSpan(day, spanMonths)
  return {
    from: moveBack(addMonths(end, -window.count), lag),
    to: moveBack(end, lag),
  }
}

/** A time less a span: a month earlier is the same day, or the last of the month, at the same time. */
export function spanBefore(at: number, { count, unit }: Span): number {
  if (unit !== 'month') return at - count * (unit === 'hour' ? hourMs : dayMs)
  const day = dayOf(at)
  return addMonths(day, -count) * dayMs + (at - day * dayMs)
}
