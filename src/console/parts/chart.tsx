import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { number } from './format.ts'
import { isDark } from './preferences.ts'

type Values = readonly (number | null)[]

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
  /** Measured on the axis at the right, as it has another unit. */
  isRight?: boolean
}

export interface Candles {
  open: Values
  high: Values
  low: Values
}

export interface ChartProps {
  /** What is shown, for those who do not see it. */
  title: string
  /** Unix seconds, ascending; or any ascending numbers with `xText`. */
  times: readonly number[]
  lines: readonly Line[]
  /** Drawn for the first line, whose values are the closes. */
  candles?: Candles | undefined
  /** Pairs of lines between which the ground is tinted. */
  bands?: readonly (readonly [number, number])[]
  isLog?: boolean
  height?: number
  decimals?: number
  /** Values that the eye should compare with. */
  levels?: readonly { value: number; label: string }[]
  /** Moments to point at, Unix seconds. */
  marks?: readonly number[]
  /** Stretches of doubt, Unix seconds. */
  spans?: readonly { from: number; to: number; isHeld?: boolean }[]
  /** Instead of dates. */
  xText?: (value: number) => string
  /** A line stops where so many seconds have no value: a closed market has no prices. */
  breaksAfter?: number | undefined
  /** What the axes measure, where there are two. */
  units?: { left: string; right: string } | undefined
}

const columns = uPlot.paths.bars?.({ size: [0.7, 24] })

export const ink = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const utc = (seconds: number): Date => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC')

/** A chart over time that redraws when its numbers, its width or the colour scheme change. */
export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<uPlot | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const { times, lines, candles, isLog = false, height = 360 } = props
  const shape = JSON.stringify([
    lines.map(line => [line.label, line.ink, line.width, line.dash, line.isColumns, line.isRight]),
    candles !== undefined,
    isLog,
    height,
    props.bands,
    props.decimals,
    props.xText?.name,
    props.breaksAfter,
    props.units,
    isDark.value,
  ])

  useEffect(() => {
    const node = box.current
    if (!node) return undefined
    const make = () => {
      drawn.current?.destroy()
      drawn.current = new uPlot(
        optionsOf(() => latest.current, node.clientWidth),
        dataOf(latest.current),
        node,
      )
    }
    make()
    const resized = new ResizeObserver(() => {
      if (node.clientWidth !== drawn.current?.width)
        drawn.current?.setSize({ width: node.clientWidth, height })
    })
    resized.observe(node)
    return () => {
      resized.disconnect()
      drawn.current?.destroy()
      drawn.current = undefined
    }
  }, [shape])

  useEffect(() => {
    drawn.current?.setData(dataOf(props))
  }, [times, lines, candles, props.levels, props.marks, props.spans])

  return (
    <figure class="chart" style={{ margin: 0 }}>
      <figcaption class="only-heard">{spoken(props)}</figcaption>
      <div ref={box} style={{ minHeight: `${height}px` }} />
    </figure>
  )
}

/** The chart in a sentence. */
export function spoken(props: ChartProps): string {
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

const dataOf = ({ times, lines, candles }: ChartProps): uPlot.AlignedData =>
  [
    times,
    // Unseen lines, so that the scale holds the wicks and the legend reads open, high, low, close.
    ...(candles ? [candles.open, candles.high, candles.low] : []),
    ...lines.map(({ values }) => values),
  ] as uPlot.AlignedData

/** How many series stand before the lines. */
const unseen = (candles: Candles | undefined): number => (candles ? 3 : 0)

const daySeconds = 86_400

/** What the legend says of a moment: the day alone where every value is of the same hour. */
export const momentText = (times: readonly number[]): ((seconds: number) => string) => {
  const isDaily = times.every(time => (time - times[0]!) % daySeconds === 0)
  return seconds => {
    const text = new Date(seconds * 1000).toISOString()
    return isDaily ? text.slice(0, 10) : text.slice(0, 16).replace('T', ' ')
  }
}

/** Where a line is not drawn, in pixels: between values that lie further apart than `seconds`. */
const breaksOf =
  (seconds: number): uPlot.Series.GapsRefiner =>
  (plot, _, first, last) => {
    const times = plot.data[0]
    const gaps: [number, number][] = []
    for (let i = first + 1; i <= last; i += 1) {
      const [before, at] = [times[i - 1]!, times[i]!]
      if (at - before > seconds)
        gaps.push([plot.valToPos(before, 'x', true), plot.valToPos(at, 'x', true)])
    }
    return gaps
  }

const [year, month, day, hour, minute] = [31_536_000, 2_419_200, 86_400, 3600, 60]

/** Dates as everybody reads them the same: the day before the month, hours of 24. */
const dates: uPlot.Axis.Values = [
  [year, '{YYYY}', null, null, null, null, null, null, 1],
  [month, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [day, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [hour, '{HH}:00', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
  [minute, '{HH}:{mm}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
]

function optionsOf(props: () => ChartProps, width: number): uPlot.Options {
  const { lines, candles, isLog = false, height = 360, bands = [], decimals, xText } = props()
  const { breaksAfter, units } = props()
  const hasRight = lines.some(line => line.isRight)
  const grid = { stroke: ink('--grid'), width: 1 }
  const axis = {
    stroke: ink('--quiet'),
    grid,
    ticks: { show: false },
    font: `12px ${ink('--font')}`,
  }
  const text = (value: number | null) => (value === null ? '–' : number(value, decimals))
  const rightText = (value: number | null) => (value === null ? '–' : number(value))
  const valueAxis: uPlot.Axis = {
    ...axis,
    size: 64,
    values: (_, ticks) => ticks.map(tick => (tick === null ? '' : number(tick))),
  }
  return {
    width,
    height,
    ...(xText ? {} : { tzDate: utc }),
    scales: {
      x: {
        time: xText === undefined,
        // Half a candle of room, so that the first and the last are whole.
        range: (plot, first, last) => {
          const half = candles ? (last - first) / Math.max(2, 2 * plot.data[0].length) : 0
          return [first - half, last + half]
        },
      },
      y: isLog
        ? { distr: 3 }
        : {
            range: (_, low, high) =>
              lines.some(line => line.isColumns)
                ? [Math.min(0, low ?? 0), (Math.max(0, high ?? 0) || 1) * 1.06]
                : padded(low, high),
          },
      ...(hasRight && { right: { range: (_, low, high) => padded(low, high) } }),
    },
    cursor: { points: { size: 7 }, drag: { x: true, y: false } },
    legend: { live: true },
    series: [
      xText
        ? { label: 'At', value: (_, value) => (value === null ? '–' : xText(value)) }
        : {
            label: 'UTC',
            value: (_, value) => (value === null ? '–' : momentText(props().times)(value)),
          },
      ...(candles
        ? ['Open', 'High', 'Low'].map(
            (label): uPlot.Series => ({
              label,
              stroke: 'transparent',
              paths: () => null,
              points: { show: false },
              value: (_, value) => text(value),
            }),
          )
        : []),
      ...lines.map(
        (line, i): uPlot.Series => ({
          label: candles && i === 0 ? 'Close' : line.label,
          ...(line.isRight && { scale: 'right' }),
          stroke: ink(line.ink),
          width: line.width ?? 1.6,
          ...(line.dash && { dash: line.dash }),
          ...(candles && i === 0 && { paths: () => null }),
          ...(line.isColumns && columns && { paths: columns, fill: ink(line.ink) }),
          points: {
            show:
              props().times.length < 40 && !line.isEdge && !line.isColumns && !(candles && i === 0),
          },
          ...(breaksAfter === undefined
            ? { spanGaps: true }
            : { spanGaps: false, gaps: breaksOf(breaksAfter) }),
          value: (_, value) => (line.isRight ? rightText(value) : text(value)),
        }),
      ),
    ],
    bands: bands.map(([upper, lower]) => ({
      series: [upper + 1 + unseen(candles), lower + 1 + unseen(candles)] as [number, number],
      fill: ink('--band'),
    })),
    axes: [
      xText
        ? { ...axis, space: 90, values: (_, ticks) => ticks.map(xText) }
        : { ...axis, values: dates },
      { ...valueAxis, ...(hasRight && units && { label: units.left, labelSize: 18 }) },
      ...(hasRight
        ? [
            {
              ...valueAxis,
              scale: 'right',
              side: 1,
              grid: { show: false },
              ...(units && { label: units.right, labelSize: 18 }),
            },
          ]
        : []),
    ],
    hooks: {
      setCursor: [showNewest],
      setData: [showNewest],
      drawClear: [plot => drawSpans(plot, props())],
      draw: [
        plot => {
          const latest = props()
          if (latest.candles) drawCandles(plot, latest.candles)
          drawLevels(plot, latest)
          drawMarks(plot, latest)
        },
      ],
    },
  }
}

/** Where the pointer is nowhere, the legend says the newest values. */
function showNewest(plot: uPlot): void {
  if ((plot.cursor.left ?? -1) >= 0) return
  let idx = plot.data[0].length - 1
  const first = plot.data[1] ?? []
  while (idx > 0 && first[idx] == null) idx -= 1
  if (idx >= 0 && plot.legend.idx !== idx) plot.setLegend({ idx }, false)
}

function padded(low: number, high: number): [number, number] {
  if (low === null || high === null) return [0, 1]
  const room = (high - low) * 0.06 || Math.abs(high) * 0.02 || 1
  return [low - room, high + room]
}

function drawCandles(plot: uPlot, { open, high: highs, low: lows }: Candles): void {
  const { ctx, data } = plot
  const [times, closes] = [data[0] as number[], data[4]!]
  const [first, last] = [plot.scales.x!.min!, plot.scales.x!.max!]
  const shown = times.reduce((count, at) => count + Number(at >= first && at <= last), 0)
  const body = Math.max(1, Math.min(14 * devicePixelRatio, (plot.bbox.width / shown) * 0.65))
  const [up, down] = [ink('--up'), ink('--down')]
  ctx.save()
  ctx.beginPath()
  ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height)
  ctx.clip()
  ctx.lineWidth = Math.max(1, devicePixelRatio)
  for (let i = 0; i < times.length; i += 1) {
    const at = times[i]!
    const [opened, closed, low, high] = [open[i], closes[i], lows[i], highs[i]]
    if (at < first || at > last) continue
    if (opened == null || closed == null || low == null || high == null) continue
    const x = plot.valToPos(at, 'x', true)
    const y = (value: number) => plot.valToPos(value, 'y', true)
    ctx.strokeStyle = closed >= opened ? up : down
    ctx.fillStyle = ctx.strokeStyle
    ctx.beginPath()
    ctx.moveTo(x, y(high))
    ctx.lineTo(x, y(low))
    ctx.stroke()
    const top = Math.min(y(opened), y(closed))
    const tall = Math.max(ctx.lineWidth, Math.abs(y(opened) - y(closed)))
    // Filled down, hollow up: the shape says it too.
    if (closed < opened || body < 4) ctx.fillRect(x - body / 2, top, body, tall)
    else {
      ctx.fillStyle = ink('--surface')
      ctx.fillRect(x - body / 2, top, body, tall)
      ctx.strokeRect(x - body / 2, top, body, tall)
    }
  }
  ctx.restore()
}

function drawLevels(plot: uPlot, { levels = [] }: ChartProps): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
  ctx.strokeStyle = ink('--bad')
  ctx.fillStyle = ink('--bad')
  ctx.font = `${12 * devicePixelRatio}px ${ink('--font')}`
  ctx.textAlign = 'left'
  for (const { value, label } of levels) {
    const y = plot.valToPos(value, 'y', true)
    if (y < bbox.top || y > bbox.top + bbox.height) continue
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
    if (label === '') continue
    const size = 12 * devicePixelRatio
    const [left, bottom] = [bbox.left + 4, y - 5 * devicePixelRatio]
    // On a ground of its own: a line must not run through the words.
    ctx.fillStyle = ink('--surface')
    ctx.fillRect(left - 2, bottom - size, ctx.measureText(label).width + 4, size * 1.3)
    ctx.fillStyle = ink('--bad')
    ctx.fillText(label, left, bottom)
  }
  ctx.restore()
}

function drawMarks(plot: uPlot, { marks = [] }: ChartProps): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.fillStyle = ink('--bad')
  for (const at of marks) {
    const x = plot.valToPos(at, 'x', true)
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    const size = 5 * devicePixelRatio
    const y = bbox.top + bbox.height
    ctx.beginPath()
    ctx.moveTo(x, y - 2 * size)
    ctx.lineTo(x + size, y)
    ctx.lineTo(x - size, y)
    ctx.fill()
  }
  ctx.restore()
}

function drawSpans(plot: uPlot, { spans = [] }: ChartProps): void {
  const { ctx, bbox } = plot
  ctx.save()
  for (const { from, to, isHeld } of spans) {
    ctx.fillStyle = ink(isHeld ? '--note-ground' : '--warn-ground')
    const left = Math.max(bbox.left, plot.valToPos(from, 'x', true))
    const right = Math.min(bbox.left + bbox.width, plot.valToPos(to, 'x', true))
    if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height)
  }
  ctx.restore()
}
