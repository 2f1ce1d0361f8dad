import { useMemo } from 'preact/hooks'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import { Empty, Notice, Refused, WhoBringsData } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import type { Line } from '../../parts/charts/lines.ts'
import type { Pane } from '../../parts/charts/market-chart.tsx'
import { later } from '../../parts/later.tsx'
import { useData } from '../../parts/requests/ask.ts'
import { now } from '../../parts/requests/boot.ts'
import { unitOf } from '../../parts/text/format.ts'
import type { ChartAnswer } from './answer.ts'
import type { Note } from './events.tsx'

/** The library of the chart is only loaded where there is one. */
const Market = later(() => import('../../parts/charts/market-chart.tsx').then(part => part.default))

export const nothingInRange = (
  <>
    No prices in this range. Choose a longer one. <WhoBringsData />
  </>
)

/** The values of one series at the times of another: the last known, null before the first. */
function alignedTo(times: readonly number[], other: ChartAnswer): (number | null)[] {
  let at = -1
  return times.map(time => {
    while (at + 1 < other.times.length && other.times[at + 1]! <= time) at += 1
    return at < 0 ? null : other.close[at]!
  })
}

const inks = ['--ink-1', '--ink-2', '--ink-3', '--ink-4', '--ink-5']

/** Every line as percent of its first value, so that a dollar and a euro can stand together. */
function indexed(values: readonly (number | null)[]): (number | null)[] {
  const base = values.find(value => value !== null && value !== 0)
  if (base === undefined || base === null) return values.map(() => null)
  return values.map(value => (value === null ? null : (100 * value) / base))
}

const spanOf = (day: string, isHeld: boolean) => ({ from: Date.parse(day) / 1000, isHeld })

const noSpans: readonly ReturnType<typeof spanOf>[] = []

/** One series less another, or over it, at the times of the first. */
function combined(data: ChartAnswer, other: ChartAnswer, how: 'spread' | 'ratio'): Line {
  const others = alignedTo(data.times, other)
  const values = data.close.map((value, i) => {
    const second = others[i] ?? null
    if (second === null || (how === 'ratio' && second === 0)) return null
    return how === 'spread' ? value - second : value / second
  })
  const sign = how === 'spread' ? '−' : '/'
  return { label: `${data.code} ${sign} ${other.code}`, values, ink: inks[0]!, width: 2 }
}

interface DrawnProps {
  data: ChartAnswer
  others: ChartAnswer[]
  type: string
  /** The page chooses how long a bar is. */
  isAuto: boolean
  scale: string
  /** Draws every line as percent of its first value. */
  onIndex: () => void
  indicator: string
  /** Notes about days of the range. */
  notes: readonly Note[]
  /** The stretch that an address shows. */
  zoom: string | undefined
}

const unitName = ({ currency, unit }: ChartAnswer): string => unitOf(currency, unit)

/** Which of the other units has the axis at the right; undefined: all lines have one unit. */
const rightUnitOf = (data: ChartAnswer, others: readonly ChartAnswer[]): string | undefined =>
  others.map(unitName).find(unit => unit !== unitName(data))

const intervalWords: Readonly<Record<string, string>> = {
  hour: 'an hour',
  day: 'a day',
  week: 'a week',
  month: 'a month',
}

const isFlat = ({ open, high, low, close }: ChartAnswer): boolean => {
  const flat = close.filter((value, i) => open?.[i] === value && high?.[i] === low?.[i])
  return close.length > 0 && flat.length > close.length / 2
}

/** The chart of a series with its comparisons and indicators. */
export function Drawn(props: DrawnProps) {
  const { data, others, type, isAuto, scale, onIndex, indicator, notes, zoom } = props
  const isIndex = scale === 'index'
  const isCombined = others.length > 0 && (scale === 'spread' || scale === 'ratio')
  const rightUnit = isIndex || isCombined ? undefined : rightUnitOf(data, others)
  const hasMoreUnits = new Set([data, ...others].map(unitName)).size > 2
  const { lines: extra, refusal } = useIndicator(data, indicator)
  const isBelow = indicator === 'rsi'
  const { lines, candles, spans } = useMemo(() => {
    const shown = (values: (number | null)[]) => (isIndex ? indexed(values) : values)
    const [other] = others
    if (other && (scale === 'spread' || scale === 'ratio'))
      return { lines: [combined(data, other, scale)], candles: undefined, spans: noSpans }
    const lines: Line[] = [
      { label: data.code, values: shown(data.close), ink: inks[0]!, width: 1.8 },
      ...others.map((other, i) => ({
        label: other.code,
        values: shown(alignedTo(data.times, other)),
        ink: inks[(i + 1) % inks.length]!,
        isRight: !isIndex && unitName(other) === rightUnit,
      })),
    ]
    if (extra && !isIndex && !isBelow) lines.push(...extra)
    const candles =
      type === 'candles' && !isIndex && data.open && data.high && data.low
        ? { open: data.open, high: data.high, low: data.low }
        : undefined
    const spans = [
      ...data.quarantined_days.map(day => spanOf(day, false)),
      ...data.held_days.map(day => spanOf(day, true)),
    ]
    return { lines, candles, spans }
  }, [data, others, type, scale, extra, rightUnit])
  const panes = useMemo(() => panesOf(data, isBelow ? extra : undefined), [data, extra])
  const events = useMemo(
    () => notes.map(({ date, title }) => ({ at: Date.parse(date) / 1000, text: title })),
    [notes],
  )
  if (data.times.length === 0) return <Empty>{nothingInRange}</Empty>
  const isLog = scale === 'log' && data.close.every(value => value > 0)
  return (
    <>
      {scale === 'log' && !isLog && (
        <Notice mood="warn">Some prices are zero or negative, so the scale stays linear.</Notice>
      )}
      {data.truncated && (
        <Notice mood="warn">
          The range has more points than a chart can show, so only the newest are drawn.
        </Notice>
      )}
      {rightUnit !== undefined && (
        <Notice mood={hasMoreUnits ? 'warn' : undefined}>
          <div class="row spread">
            <span>
              {hasMoreUnits
                ? 'These series have more than two units and cannot share a scale. '
                : `Two axes: ${unitName(data)} on the right, ${rightUnit} on the left. `}
              Index 100 draws them on one scale.
            </span>
            <Button className="tight" label="Index 100" onClick={onIndex} />
          </div>
        </Notice>
      )}
      {candles && (isAuto || isFlat(data)) && (
        <p class="quiet small">
          Each candle is {intervalWords[data.interval] ?? data.interval}.
          {isFlat(data) && ' Most are flat because the source publishes one price per period.'}
        </p>
      )}
      <Market
        title={`${data.name}, ${isIndex ? 'first value 100' : unitOf(data.currency, data.unit)}`}
        times={data.times}
        lines={lines}
        candles={candles}
        spans={spans}
        isLog={isLog}
        decimals={isIndex ? 1 : data.decimals}
        panes={panes}
        events={events}
        zoom={zoom}
        onZoom={keepZoom}
        file={data.code}
      />
      {data.held_days.length > 0 && (
        <p class="quiet small">Held for review: values of {listOfDays(data.held_days)}.</p>
      )}
      {data.quarantined_days.length > 0 && (
        <p class="quiet small">Quarantined: {listOfDays(data.quarantined_days)}.</p>
      )}
      {refusal && <Refused error={refusal} />}
    </>
  )
}

const listOfDays = (days: readonly string[]): string =>
  days.slice(0, 8).join(', ') + (days.length > 8 ? ` and ${days.length - 8} more days` : '')

/** Volume, and the strength of 14 daily changes where it is chosen, below the prices. */
function panesOf(data: ChartAnswer, strength: readonly Line[] = []): Pane[] {
  return [
    ...(data.volume
      ? [
          {
            line: { label: 'Volume', values: data.volume, ink: '--ink-6', isColumns: true },
            decimals: 0,
          },
        ]
      : []),
    ...strength.map(line => ({ line, decimals: 1, levels: [30, 70] })),
  ]
}

/** Kept in the address without a change of page: a link shows the same stretch. */
function keepZoom(zoom: string): void {
  const url = new URL(location.href)
  url.searchParams.set('zoom', zoom)
  history.replaceState(null, '', url)
}

/** A day of an indicator; `upper` and `lower` are those of Bollinger's bands. */
interface TrendDay {
  date: string
  value: number
  upper?: number
  lower?: number
}

/** A daily indicator on the times of the chart: of a longer bar, as it stood at its end. */
function onTimes(data: ChartAnswer, points: ReadonlyMap<string, number>): (number | null)[] {
  const { times } = data
  const isLong = data.interval === 'week' || data.interval === 'month'
  if (!isLong) return times.map(time => points.get(isoDay(time * 1000)) ?? null)
  const days = [...points.keys()].sort()
  let at = -1
  return times.map((time, i) => {
    const next = times[i + 1]
    const end = next === undefined ? '9999' : isoDay(next * 1000)
    const before = at
    while (at + 1 < days.length && days[at + 1]! < end) at += 1
    const isWithin = at > before && days[at]! >= isoDay(time * 1000)
    return isWithin ? points.get(days[at]!)! : null
  })
}

const trendPath = (data: ChartAnswer, type: string, window: number): string => {
  const days = Math.ceil((now() - Date.parse(data.from)) / dayMs)
  const period = Math.min(3650, Math.max(30, days))
  return `/v1/analytics/trend?${new URLSearchParams({
    code: data.code,
    type,
    window: String(window),
    period: String(period),
    ...(data.as_of ? { as_of: data.as_of } : {}),
  })}`
}

const averageInk = '--ink-3'
const edge: Omit<Line, 'label' | 'values'> = { ink: '--ink-6', width: 1, isEdge: true }

/** The lines of each indicator, by the fields of the API's values that they draw. */
const indicators: Readonly<Record<string, Indicator>> = {
  sma: { window: 20, lines: [{ of: 'value', label: 'SMA 20', ink: averageInk, dash: [6, 4] }] },
  ema: { window: 20, lines: [{ of: 'value', label: 'EMA 20', ink: averageInk, dash: [6, 4] }] },
  bollinger: {
    window: 20,
    lines: [
      { of: 'value', label: 'SMA 20', ink: averageInk, dash: [6, 4] },
      { of: 'upper', label: 'Upper', ...edge },
      { of: 'lower', label: 'Lower', ...edge },
    ],
  },
  rsi: { window: 14, lines: [{ of: 'value', label: 'RSI 14', ink: averageInk }] },
}

interface Indicator {
  window: number
  lines: readonly (Omit<Line, 'values'> & { of: Exclude<keyof TrendDay, 'date'> })[]
}

/** The lines of an indicator at the times of the chart; undefined until they are here. */
function useIndicator(data: ChartAnswer, name: string) {
  const known = indicators[name]
  const answer = useData<{ type: string; values: TrendDay[] }>(
    known && data.times.length > 0 ? trendPath(data, name, known.window) : undefined,
  )
  const lines = useMemo(() => {
    // Until its answer is here, that of the indicator before is.
    if (answer.data?.type !== name) return undefined
    const { values } = answer.data
    return known?.lines.map(({ of, ...line }) => ({
      ...line,
      values: onTimes(data, new Map(values.map(day => [day.date, day[of]!]))),
    }))
  }, [answer.data, name, data])
  return { lines, refusal: known && answer.refusal }
}
