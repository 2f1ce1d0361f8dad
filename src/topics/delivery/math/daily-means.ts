import { parseDay } from '../../../lib/time/instant.ts'
import { dayAt, type Period, periodsOf } from './days.ts'
import { isKnown, meanPrice, priced } from './figures.ts'
import type { DeliveryTerms } from './terms.ts'

interface RecordedValue {
  observedAt: number
  value: number
  recordedAt: number
}

/**
 * The mean of each market day that has all of its prices, at midnight UTC of its date, recorded with
 * the last of them. Values are the oldest first. `isCounted`: the mean is of these periods alone, and
 * days without one have none.
 */
export function dailyMeans(
  terms: DeliveryTerms,
  values: readonly RecordedValue[],
  isCounted?: (period: Period) => boolean,
): RecordedValue[] {
  const means: RecordedValue[] = []
  for (let i = 0; i < values.length; ) {
    const day = dayAt(terms, values[i]!.observedAt)
    const dayValues: RecordedValue[] = []
    for (; i < values.length && values[i]!.observedAt < day.to; i += 1) dayValues.push(values[i]!)
    const periods = priced(periodsOf(terms, day), dayValues)
    if (!periods.every(isKnown)) continue
    const value = meanPrice(isCounted ? periods.filter(isCounted) : periods)
    if (value === null) continue
    means.push({
      observedAt: parseDay(day.date)!,
      value,
      recordedAt: Math.max(...dayValues.map(({ recordedAt }) => recordedAt)),
    })
  }
  return means
}
