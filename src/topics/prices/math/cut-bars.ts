import { hourMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import {
  createPeriodFinder,
  type DayTerms,
  dayAt,
  dayOfDate,
  type MarketDay,
} from '../../delivery/math/days.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'
import {
  type Bar,
  type BarInterval,
  bucketEnd,
  bucketStart,
  extendBar,
  type Observation,
  openBar,
} from './bars.ts'

/** The boundaries of bars that are not those of UTC. */
export interface BarCut {
  /** The days that they are made of. */
  days: DayTerms
  /** Present for a series of delivery periods, whose mean is weighted by their lengths. */
  delivery?: DeliveryTerms | undefined
}

const dateNumber = (day: MarketDay): number => parseDay(day.date)!

/** Finds the bucket of moments that mostly follow one another, as `[from, to)`. */
export function createBucketFinder(interval: BarInterval, days: DayTerms) {
  let from = 0
  let to = 0
  const dayNamed = (at: number) => dayOfDate(days, isoDay(at)).from
  return (at: number): { from: number; to: number } => {
    if (at < from || at >= to) {
      const day = dayAt(days, at)
      if (interval === 'hour') {
        from = at - ((at - day.from) % hourMs)
        to = Math.min(from + hourMs, day.to)
      } else {
        const first = bucketStart(interval, dateNumber(day))
        from = dayNamed(first)
        to = dayNamed(bucketEnd(interval, first))
      }
    }
    return { from, to }
  }
}

/** The bars of observations given oldest first, by the days of a zone or a market. */
export function cutBars(
  interval: BarInterval,
  { days, delivery }: BarCut,
  observations: Iterable<Observation>,
): Bar[] {
  const bucketOf = createBucketFinder(interval, days)
  const weigh = delivery && createPeriodFinder(delivery)
  const bars: Bar[] = []
  let weighted = { sum: 0, length: 0 }
  const close = () => {
    const bar = bars.at(-1)
    if (bar && weigh) bar.sum = (weighted.sum / weighted.length) * bar.count
    weighted = { sum: 0, length: 0 }
  }
  for (const observation of observations) {
    const startsAt = bucketOf(observation.observedAt).from
    const bar = bars.at(-1)
    if (bar?.startsAt === startsAt) extendBar(bar, observation)
    else {
      close()
      bars.push(openBar(startsAt, observation))
    }
    if (!weigh) continue
    const { start, end } = weigh.at(observation.observedAt)
    weighted.sum += observation.value * (end - start)
    weighted.length += end - start
  }
  close()
  return bars
}
