import { zone } from '../person/preferences.ts'
import { dataDay, instant, number } from '../text/format.ts'
import { localText, zoneText } from '../text/writing.ts'

export type Values = readonly (number | null)[]

export interface Line {
  label: string
  values: Values
  /** A token of the ink colours. */
  ink: string
  width?: number
  dash?: number[]
  /** Only its ends are drawn, as edges of a band. */
  isEdge?: boolean
  /** Drawn as columns from zero. */
  isColumns?: boolean
  /** Each value holds until the next time. */
  isSteps?: boolean
  /** Measured on the axis at the right, as it has another unit. */
  isRight?: boolean
}

const inks = ['--ink-1', '--ink-2', '--ink-3']

/** A chart of days, the newest first as lists of the API have them: each line with its values. */
export function overTime<T extends { date: string }>(
  newestFirst: readonly T[],
  ...lines: readonly (readonly [label: string, of: (day: T) => number | null, ink?: string])[]
) {
  const days = newestFirst.toReversed()
  return {
    times: days.map(({ date }) => Date.parse(date) / 1000),
    lines: lines.map(([label, of, ink], i): Line => {
      const isFirst = i === 0 && lines.length > 1
      return { label, values: days.map(of), ink: ink ?? inks[i]!, ...(isFirst && { width: 2.2 }) }
    }),
  }
}

export interface ChartProps {
  /** The title of the chart, for screen readers. */
  title: string
  /** Unix seconds, ascending; or any ascending numbers with `xText`. */
  times: readonly number[]
  lines: readonly Line[]
  /** Pairs of lines between which the ground is tinted. */
  bands?: readonly (readonly [number, number])[]
  height?: number
  decimals?: number
  /** Values that the eye should compare with. */
  levels?: readonly { value: number; label: string }[]
  /** Moments to point at, Unix seconds. */
  marks?: readonly number[]
  /** The present moment, drawn as a line, Unix seconds. */
  now?: number
  /** The zone of the times; without it, the one of the person. */
  zone?: string
  /** Instead of dates. */
  xText?: (value: number) => string
  /** What `xText` writes, in the legend. */
  xLabel?: string
}

/** Additional properties of a chart over trading time. */
export interface TradingProps extends ChartProps {
  /** Drawn for the first line, whose values are the closes. */
  candles?: Record<'open' | 'high' | 'low', Values> | undefined
  isLog?: boolean
  /** Days whose values are held or quarantined, Unix seconds. */
  spans?: readonly { from: number; isHeld?: boolean }[]
}

export const ink = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** The zone of an axis: days of data are the same days in every zone. */
export const zoneOf = (times: readonly number[]): string => (isDaily(times) ? 'UTC' : zone.value)

const daySeconds = 86_400

/** Whether all points have the same hour. */
export const isDaily = (times: readonly number[]): boolean =>
  times.every(time => (time - times[0]!) % daySeconds === 0)

/** The time of a point in the legend: only the day where all points have the same hour. */
export const momentText = (
  times: readonly number[],
  zone?: string,
): ((seconds: number) => string) => {
  if (zone)
    return seconds =>
      `${localText(seconds * 1000, zone).slice(0, 16)} ${zoneText(seconds * 1000, zone)}`
  const write = isDaily(times) ? dataDay : instant
  return seconds => write(new Date(seconds * 1000).toISOString())
}

/** The chart in a sentence. */
export function spoken(props: TradingProps): string {
  const { title, lines, times, decimals, candles, isLog, spans = [] } = props
  const how = [
    candles && 'candles',
    isLog && 'logarithmic scale',
    spans.length > 0 && `${spans.length} days held or quarantined`,
  ].filter(Boolean)
  const parts = lines.flatMap(({ label, values }) => {
    const present = values.filter(value => value !== null)
    const last = present.at(-1)
    if (last === undefined) return []
    const low = present.reduce((least, value) => Math.min(least, value), last)
    const high = present.reduce((most, value) => Math.max(most, value), last)
    return `${label}: last ${number(last, decimals)}, lowest ${number(low, decimals)}, highest ${number(high, decimals)}.`
  })
  return `Chart: ${[title, ...how].join(', ')}, ${times.length} points. ${parts.join(' ')}`
}
