import { dayMs, minuteMs } from '../../../lib/time/instant.ts'
import { zoneClock } from '../../../lib/time/zone-clock.ts'
import type { Period } from './days.ts'
import { type DeliveryTerms, lengthOf, type Resolution } from './terms.ts'

/** A period with its price; null where there is none. */
export interface PricedPeriod extends Period {
  price: number | null
}

/** A period that has a price. */
export interface KnownPeriod extends Period {
  price: number
}

/** The figures of a day. */
export interface DayFigures {
  base: number | null
  peak: number | null
  offPeak: number | null
  min: KnownPeriod | null
  max: KnownPeriod | null
  negativePeriods: number
  count: number
  complete: boolean
}

export const isKnown = (period: PricedPeriod): period is KnownPeriod => period.price !== null

/** Periods with the prices that values have for them; both are oldest first. */
export function priced(
  periods: readonly Period[],
  values: readonly { observedAt: number; value: number }[],
): PricedPeriod[] {
  let next = 0
  return periods.map(({ start, end }) => {
    while (next < values.length && values[next]!.observedAt < start) next += 1
    const value = values[next]
    return { start, end, price: value?.observedAt === start ? value.value : null }
  })
}

/**
 * A mean of prices, each as long as its period; null of none. It lies between the prices: otherwise
 * the mean of a flat tariff could differ from its price in the last digit.
 */
function runningMean() {
  let sum = 0
  let length = 0
  let lowest = Number.POSITIVE_INFINITY
  let highest = Number.NEGATIVE_INFINITY
  return {
    add({ start, end, price }: KnownPeriod) {
      sum += price * (end - start)
      length += end - start
      lowest = Math.min(lowest, price)
      highest = Math.max(highest, price)
    },
    get value(): number | null {
      return length === 0 ? null : Math.min(highest, Math.max(lowest, sum / length))
    },
  }
}

export function meanPrice(periods: readonly KnownPeriod[]): number | null {
  const mean = runningMean()
  for (const period of periods) mean.add(period)
  return mean.value
}

/** Whether the market counts a period as peak. `isClosed`: the calendar of the market is closed on a local day. */
export function peakRule({ zone, peak }: DeliveryTerms, isClosed: (day: number) => boolean) {
  const clock = zoneClock(zone)
  return ({ start }: Period): boolean => {
    const local = clock.localAt(start)
    const day = Math.floor(local / dayMs) * dayMs
    const minute = (local - day) / minuteMs
    const weekday = ((((day / dayMs + 3) % 7) + 7) % 7) + 1
    return (
      minute >= peak.from &&
      minute < peak.to &&
      peak.weekdays.includes(weekday) &&
      !(peak.holidays && isClosed(day))
    )
  }
}

/** `isPeak` is of the market's own periods, from which the means are made. */
export function dayFigures(
  own: readonly PricedPeriod[],
  isPeak: (period: Period) => boolean,
  shown: readonly PricedPeriod[] = own,
): DayFigures {
  const [base, peak, offPeak] = [runningMean(), runningMean(), runningMean()]
  for (const period of own) {
    if (!isKnown(period)) continue
    base.add(period)
    ;(isPeak(period) ? peak : offPeak).add(period)
  }
  let min: KnownPeriod | undefined
  let max: KnownPeriod | undefined
  let negativePeriods = 0
  let count = 0
  for (const period of shown) {
    if (!isKnown(period)) continue
    count += 1
    if (!min || period.price < min.price) min = period
    if (!max || period.price > max.price) max = period
    if (period.price < 0) negativePeriods += 1
  }
  return {
    base: base.value,
    peak: peak.value,
    offPeak: offPeak.value,
    min: min ?? null,
    max: max ?? null,
    negativePeriods,
    count,
    complete: shown.length > 0 && count === shown.length,
  }
}

/** Means over longer periods, counted from the start of the day; null where a part is missing. */
export function coarserPeriods(
  periods: readonly PricedPeriod[],
  resolution: Resolution,
  dayFrom: number,
): PricedPeriod[] {
  const length = resolution === 'P1D' ? Number.POSITIVE_INFINITY : lengthOf(resolution)
  const parts = Map.groupBy(periods, ({ start }) => Math.floor((start - dayFrom) / length))
  return [...parts.values()].map(group => ({
    start: group[0]!.start,
    end: group.at(-1)!.end,
    price: group.every(isKnown) ? meanPrice(group) : null,
  }))
}
