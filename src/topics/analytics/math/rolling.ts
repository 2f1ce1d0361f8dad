import { mean, median, sampleCovariance, sampleVariance } from 'simple-statistics'
import { isoWeek } from '../../calendars/math/weeks.ts'
import { changePercent } from '../../prices/math/change.ts'
import { type Close, closesPerYear, logReturns } from '../../prices/math/window.ts'
import { stdDev, zScore } from './statistics.ts'

/** A value at a date; undefined where the definition has none. */
export interface Dated {
  day: string
  value: number | undefined
}

export const rollingMeasures = [
  'mean',
  'median',
  'std_dev',
  'min',
  'max',
  'z_score',
  'return',
  'volatility',
  'drawdown',
  'beta',
] as const
export type RollingMeasure = (typeof rollingMeasures)[number]

/** A measure of the last n closes, the newest last. */
type OfCloses = (values: number[]) => number | undefined

const ofCloses: Record<Exclude<RollingMeasure, 'return' | 'volatility' | 'beta'>, OfCloses> = {
  mean,
  median,
  std_dev: stdDev,
  min: values => Math.min(...values),
  max: values => Math.max(...values),
  z_score: values => zScore(values.at(-1)!, mean(values), stdDev(values)),
  drawdown(values) {
    const peak = Math.max(...values)
    return peak > 0 ? 100 * (values.at(-1)! / peak - 1) : undefined
  },
}

/**
 * A measure of the last `window` closes (of `return`, `volatility` and `beta`: changes), at each
 * close from the first that has so many before it. Unit of the series; `return`, `volatility` (a
 * year) and `drawdown` in percent, `z_score` and `beta` without. Beta needs the `benchmark`. Values
 * of days before `fromDay` are not computed.
 */
export function rolling(
  measure: RollingMeasure,
  closes: readonly Close[],
  window: number,
  { benchmark = [], fromDay = '' }: { benchmark?: readonly Close[]; fromDay?: string } = {},
): Dated[] {
  if (measure === 'return')
    return windowEnds(closes, window + 1, fromDay).map(end => ({
      day: closes[end]!.day,
      value: changePercent(closes[end - window]!.value, closes[end]!.value),
    }))
  if (measure === 'volatility') {
    const scale = Math.sqrt(closesPerYear(closes)) * 100
    return over(logReturns(closes), window, fromDay, values => scale * stdDev(values)!)
  }
  if (measure === 'beta') return betas(closes, benchmark, window, fromDay)
  return over(closes, window, fromDay, ofCloses[measure])
}

function over(closes: readonly Close[], window: number, fromDay: string, of: OfCloses): Dated[] {
  const values = closes.map(({ value }) => value)
  return windowEnds(closes, window, fromDay).map(end => ({
    day: closes[end]!.day,
    value: of(values.slice(end + 1 - window, end + 1)),
  }))
}

/** Places of the days from `fromDay` on that have a whole window up to them. */
function windowEnds(dated: readonly { day: string }[], window: number, fromDay: string): number[] {
  const firstDay = dated.findIndex(({ day }) => day >= fromDay)
  const first = Math.max(window - 1, firstDay === -1 ? dated.length : firstDay)
  return Array.from({ length: Math.max(0, dated.length - first) }, (_, i) => first + i)
}

/** Covariance with the benchmark over its variance, of log returns between common dates. */
function betas(
  closes: readonly Close[],
  benchmark: readonly Close[],
  window: number,
  fromDay: string,
): Dated[] {
  const others = new Map(benchmark.map(({ day, value }) => [day, value]))
  const common = closes.filter(({ day }) => others.has(day))
  const pairs: { day: string; own: number; other: number }[] = []
  for (let i = 1; i < common.length; i++) {
    const [before, after] = [common[i - 1]!, common[i]!]
    const [otherBefore, otherAfter] = [others.get(before.day)!, others.get(after.day)!]
    if (Math.min(before.value, after.value, otherBefore, otherAfter) > 0)
      pairs.push({
        day: after.day,
        own: Math.log(after.value / before.value),
        other: Math.log(otherAfter / otherBefore),
      })
  }
  return windowEnds(pairs, window, fromDay).map(end => {
    const inside = pairs.slice(end + 1 - window, end + 1)
    const other = inside.map(pair => pair.other)
    const own = inside.map(pair => pair.own)
    const spread = sampleVariance(other)
    const value = spread > 0 ? sampleCovariance(own, other) / spread : undefined
    return { day: pairs[end]!.day, value }
  })
}

/** Statistics of a part of the year, over whole years. */
export interface Season {
  /** 1..12, or the ISO week 1..53. */
  part: number
  /** Change over the part, percent; undefined where no year has one. */
  change: Spread | undefined
  /** Mean level of the part relative to its year's mean, percent. */
  level: Spread | undefined
}

export interface Spread {
  mean: number
  median: number
  min: number
  max: number
  years: number
}

/** Weeks that a complete year has at least. */
const weeksOfYear = 52

/**
 * The seasonal pattern of a series: for each calendar month, or ISO week, the change from its
 * predecessor's last close to its own, and the level relative to its year. Whole years only: those
 * that have a close in every part.
 */
export function seasonality(closes: readonly Close[], by: 'month' | 'week'): Season[] {
  const partOf = (day: string) =>
    by === 'month'
      ? { year: Number(day.slice(0, 4)), part: Number(day.slice(5, 7)) }
      : { year: isoWeek(day).year, part: isoWeek(day).week }
  const buckets: { year: number; part: number; values: number[]; before: number | undefined }[] = []
  let last: number | undefined
  for (const { day, value } of closes) {
    const { year, part } = partOf(day)
    const bucket = buckets.at(-1)
    if (bucket?.year === year && bucket.part === part) bucket.values.push(value)
    else buckets.push({ year, part, values: [value], before: last })
    last = value
  }
  const years = Map.groupBy(buckets, bucket => bucket.year)
  const needed = by === 'month' ? 12 : weeksOfYear
  const whole = [...years.values()].filter(parts => parts.length >= needed)
  const means = new Map(
    whole.map(parts => [parts[0]!.year, mean(parts.flatMap(({ values }) => values))]),
  )
  const inside = whole.flat()
  const count = Math.max(needed, ...inside.map(({ part }) => part))
  return Array.from({ length: whole.length > 0 ? count : 0 }, (_, i) => {
    const parts = inside.filter(({ part }) => part === i + 1)
    return {
      part: i + 1,
      change: spreadOf(
        parts.flatMap(({ before, values }) =>
          before === undefined ? [] : (changePercent(before, values.at(-1)!) ?? []),
        ),
      ),
      level: spreadOf(
        parts.flatMap(({ year, values }) => {
          const ofYear = means.get(year)!
          return ofYear > 0 ? 100 * (mean(values) / ofYear) : []
        }),
      ),
    }
  })
}

const spreadOf = (values: number[]): Spread | undefined =>
  values.length === 0
    ? undefined
    : {
        mean: mean(values),
        median: median(values),
        min: Math.min(...values),
        max: Math.max(...values),
        years: values.length,
      }
