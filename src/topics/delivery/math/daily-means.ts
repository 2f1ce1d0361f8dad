import { parseDay } from '../../../lib/time/instant.ts'
import { dayAt, periodsOf } from './days.ts'
import { isKnown, meanPrice, priced } from './figures.ts'
import type { DeliveryTerms } from './terms.ts'

interface RecordedValue {
  observedAt: number
  value: number
  recordedAt: number
}

/**
 * The base of each market day that has all of its prices, at midnight UTC of its date, recorded with
 * the last of them. Values are the oldest first.
 */
export function dailyMeans(
  terms: DeliveryTerms,
  values: readonly RecordedValue[],
): RecordedValue[] {
  const means: RecordedValue[] = []
  for (let i = 0; i < values.length; ) {
    const day = dayAt(terms, values[i]!.observedAt)
    const own: RecordedValue[] = []
    for (; i < values.length && values[i]!.observedAt < day.to; i += 1) own.push(values[i]!)
    const periods = priced(periodsOf(terms, day), own)
    if (!periods.every(isKnown)) continue
    means.push({
      observedAt: parseDay(day.date)!,
      value: meanPrice(periods)!,
      recordedAt: Math.max(...own.map(({ recordedAt }) => recordedAt)),
    })
  }
  return means
}
