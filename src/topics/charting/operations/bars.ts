import { integerOf } from '../../../http/input/query.ts'
import { isoDay, parseDay, secondMs } from '../../../lib/time/instant.ts'
import { isIntraday } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'
import { type BarInterval, bucketEnd, bucketStart } from '../../prices/math/bars.ts'
import { createBucketFinder } from '../../prices/math/cut-bars.ts'
import { roundTo } from '../../prices/math/format.ts'
import {
  type ChartBar,
  intradayResolutions,
  minuteBars,
  type Resolution,
  storedIntervals,
} from '../math/resolution.ts'
import {
  type Incoming,
  type Prices,
  type Range,
  readSymbol,
  resolutionIn,
  seconds,
} from './reading.ts'

/** More bars than any screen shows; a chart pages on by itself. */
export const barsMax = 5000
/** Raw prices that bars of minutes are made of in one answer. */
const pricesMax = 50_000
/** Counts have no maximum: what is answered has its own. */
export const countMax = Number.MAX_SAFE_INTEGER

/** Prices as they were recorded, newest first. */
export const pricesIn = (
  history: Prices['history'],
  { id }: Series,
  { from, to }: Range,
  limit: number,
) =>
  history.page({
    seriesIds: [id],
    interval: 'raw',
    from: Math.max(from, Number.MIN_SAFE_INTEGER),
    to,
    limit,
    offset: 0,
  }).rows

/** Bars that start in a range, oldest first: the newest `count` of them before `to`. */
export function barsIn(
  history: Prices['history'],
  series: Series,
  resolution: Resolution,
  range: Range,
  count: number,
): ChartBar[] {
  const interval = storedIntervals[resolution]
  if (interval) {
    // The range names starts of bars: those that it begins or ends within are answered whole.
    const { from, to } = range
    const { start, end } = bucketsOf(interval, series)
    const first = Number.isFinite(from) ? start(from) : from
    const opens = first < from ? end(first) : first
    const closes = end(start(to - 1))
    return history
      .page({
        seriesIds: [series.id],
        interval,
        from: Math.max(opens, Number.MIN_SAFE_INTEGER),
        to: closes,
        limit: count,
        offset: 0,
        ...(series.delivery && { cutOf: () => marketCut(series.delivery!) }),
      })
      .rows.map(({ bar }) => ({ ...bar!, time: bar!.startsAt / secondMs }))
      .reverse()
  }
  const rows = pricesIn(history, series, range, pricesMax)
  const bars = minuteBars(rows.reverse(), Number(resolution))
  // The first bar of a cut list may lack its first prices.
  return (rows.length === pricesMax ? bars.slice(1) : bars).slice(-count)
}

const firstChartAt = parseDay('1900-01-01')!
const lastChartAt = parseDay('2200-01-01')!

/** Bars of a series of delivery periods are of its market days. */
const marketCut = (delivery: DeliveryTerms) => ({
  days: delivery,
  delivery,
  from: Number.MIN_SAFE_INTEGER,
  to: Number.MAX_SAFE_INTEGER,
})

export function bucketsOf(interval: BarInterval, { delivery }: Series) {
  if (!delivery)
    return {
      start: (at: number) => bucketStart(interval, at),
      end: (at: number) => bucketEnd(interval, at),
    }
  const bucketOf = createBucketFinder(interval, delivery)
  // Charts request times before and after all that a calendar has.
  const known = (at: number) => Math.max(firstChartAt, Math.min(lastChartAt, at))
  return {
    start: (at: number) => bucketOf(known(at)).from,
    end: (at: number) => bucketOf(known(at)).to,
  }
}

export const hasBars = (series: Series, resolution: Resolution): boolean =>
  isIntraday(series.cadence) || !intradayResolutions.includes(resolution)

const dayOfBar = ({ time }: ChartBar): string => isoDay(time * secondMs)

export function historyOf(incoming: Incoming) {
  const { at, query } = incoming
  const resolution = resolutionIn(query.resolution)
  const countback = query.countback
    ? integerOf('countback', query.countback, 1, 1, countMax)
    : undefined
  const to = seconds('to', query.to)
  const from = countback === undefined ? seconds('from', query.from) : Number.NEGATIVE_INFINITY
  const { commodity, moment } = readSymbol(incoming, query.symbol)
  const { series } = commodity
  if (!hasBars(series, resolution)) return { s: 'no_data' }
  const read = (range: Range, count: number) =>
    barsIn(moment.prices.history, series, resolution, range, count)
  const bars = read({ from, to }, Math.min(countback ?? barsMax, barsMax))
  if (bars.length === 0) {
    // A request by count has covered everything before `to`.
    const [earlier] =
      countback === undefined ? read({ from: Number.NEGATIVE_INFINITY, to: from }, 1) : []
    return { s: 'no_data', ...(earlier && { nextTime: earlier.time }) }
  }
  const isTraded = series.contractOf !== null && moment.asOf === undefined && resolution === 'D'
  const volumes = isTraded
    ? at.futures.volumes(series.id, dayOfBar(bars[0]!), dayOfBar(bars.at(-1)!))
    : undefined
  const shown = (value: number) => roundTo(value, series.decimals)
  return {
    s: 'ok',
    t: bars.map(({ time }) => time),
    o: bars.map(({ open }) => shown(open)),
    h: bars.map(({ high }) => shown(high)),
    l: bars.map(({ low }) => shown(low)),
    c: bars.map(({ close }) => shown(close)),
    ...(volumes && { v: bars.map(bar => volumes.get(dayOfBar(bar)) ?? 0) }),
  }
}
