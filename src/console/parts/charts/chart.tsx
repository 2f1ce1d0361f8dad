import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { appearance } from '../person/preferences.ts'
import { decimalsOf, number } from '../text/format.ts'
import { type ChartProps, ink, isDaily, momentText, spoken, type Values, zoneOf } from './lines.ts'
import { useOnPaper } from './paper.ts'
import { rangeOf } from './range.ts'

const columns = uPlot.paths.bars?.({ size: [0.7, 24] })
const steps = uPlot.paths.stepped?.({ align: 1, alignGaps: 1 })

const dateIn =
  (timeZone: string) =>
  (seconds: number): Date =>
    uPlot.tzDate(new Date(seconds * 1000), timeZone === 'UTC' ? 'Etc/UTC' : timeZone)

/** A chart over time that redraws when its numbers, its width or the colour scheme change. */
export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<uPlot | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const { times, lines, height = 360 } = props
  const shape = JSON.stringify([
    lines.map(line => [line.label, line.ink, line.width, line.dash, line.isColumns, line.isSteps]),
    height,
    props.bands,
    props.decimals,
    props.xText?.name,
    props.zone,
    appearance.value,
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
  }, [times, lines, props.levels, props.marks])

  useOnPaper(width =>
    drawn.current?.setSize({ width: width ?? box.current?.clientWidth ?? 0, height }),
  )

  return (
    <figure class="chart" style={{ margin: 0 }}>
      <figcaption class="only-heard">{spoken(props)}</figcaption>
      <div ref={box} style={{ minHeight: `${height}px` }} />
    </figure>
  )
}

const dataOf = ({ times, lines }: ChartProps): uPlot.AlignedData =>
  [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData

const [year, month, day, hour, minute] = [31_536_000, 2_419_200, 86_400, 3600, 60]

/** Unambiguous dates: the day before the month, and hours of 24. */
const dates: uPlot.Axis.Values = [
  [year, '{YYYY}', null, null, null, null, null, null, 1],
  [month, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [day, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [hour, '{HH}:00', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
  [minute, '{HH}:{mm}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
]

function optionsOf(props: () => ChartProps, width: number): uPlot.Options {
  const { lines, height = 360, bands = [], xText, xLabel = 'At' } = props()
  const grid = { stroke: ink('--grid'), width: 1 }
  const axis = {
    stroke: ink('--quiet'),
    grid,
    ticks: { show: false },
    font: `12px ${ink('--font')}`,
  }
  const text = (value: number | null, values: Values) =>
    value === null ? '–' : number(value, props().decimals ?? digitsOf(values, 6))
  const valueAxis: uPlot.Axis = {
    ...axis,
    size: (_, texts) => 16 + 7 * Math.max(3, ...(texts ?? []).map(({ length }) => length)),
    values: (_, ticks) => ticks.map(tick => (tick === null ? '' : number(tick, digitsOf(ticks)))),
  }
  return {
    width,
    height,
    ...(xText ? {} : { tzDate: dateIn(props().zone ?? zoneOf(props().times)) }),
    scales: {
      x: { time: xText === undefined },
      y: {
        range: (_, low, high) =>
          lines.some(line => line.isColumns)
            ? [Math.min(0, low ?? 0), (Math.max(0, high ?? 0) || 1) * 1.06]
            : rangeOf(low, high, props().levels),
      },
    },
    cursor: {
      points: { size: 7 },
      drag: { x: true, y: false },
      ...(lines.some(line => line.isSteps) && { dataIdx: stepAt }),
    },
    legend: { live: true },
    series: [
      xText
        ? { label: xLabel, value: (_, value) => (value === null ? '–' : xText(value)) }
        : {
            label: !props().zone && isDaily(props().times) ? 'Date' : 'Time',
            value: (_, value) =>
              value === null ? '–' : momentText(props().times, props().zone)(value),
          },
      ...lines.map(
        (line): uPlot.Series => ({
          label: line.label,
          stroke: ink(line.ink),
          width: line.width ?? 1.6,
          ...(line.dash && { dash: line.dash }),
          ...(line.isColumns && columns && { paths: columns, fill: ink(line.ink) }),
          ...(line.isSteps && steps && { paths: steps }),
          points: {
            show: props().times.length < 40 && !line.isEdge && !line.isColumns && !line.isSteps,
          },
          spanGaps: !line.isSteps,
          value: (plot, value, at) => text(value, plot.data[at] as Values),
        }),
      ),
    ],
    bands: bands.map(([upper, lower]) => ({
      series: [upper + 1, lower + 1] as [number, number],
      fill: ink('--band'),
    })),
    axes: [
      xText
        ? {
            ...axis,
            incrs: wholeSteps,
            space: 36 + 8 * xText(props().times[0] ?? 1).length,
            values: (_, ticks) => ticks.map(xText),
          }
        : { ...axis, values: dates },
      valueAxis,
    ],
    hooks: {
      setCursor: [showNewest],
      setData: [showNewest],
      draw: [
        plot => {
          const latest = props()
          drawLevels(plot, latest)
          drawMarks(plot, latest)
        },
      ],
    },
  }
}

/** Between marks of an axis of weeks, tenors or months: there are no halves of them. */
const wholeSteps = [1, 2, 3, 6, 12, 24, 60, 120]

/** Marks of an axis are round, but for what a computer adds to them. */
const digitsMax = 12

/** How many digits the values need behind their points; all of a column are written with as many. */
const digitsOf = (values: Values, max = digitsMax): number =>
  values.reduce<number>(
    (most, value) =>
      value === null ? most : Math.max(most, decimalsOf(Number(value.toFixed(max)))),
    0,
  )

/** The step that a moment is in; the last time is only the end of the last step. */
const stepAt = ({ data: [times] }: uPlot, _: number, nearest: number, moment: number): number =>
  Math.max(0, Math.min(times[nearest]! > moment ? nearest - 1 : nearest, times.length - 2))

/** Without a pointer the legend shows the newest values. */
function showNewest(plot: uPlot): void {
  if ((plot.cursor.left ?? -1) >= 0) return
  let idx = plot.data[0].length - (plot.cursor.dataIdx === stepAt ? 2 : 1)
  const first = plot.data[1] ?? []
  while (idx > 0 && first[idx] == null) idx -= 1
  if (idx >= 0 && plot.legend.idx !== idx) plot.setLegend({ idx }, false)
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
    // On a solid background: a line must not run through the text.
    ctx.fillStyle = ink('--surface')
    ctx.fillRect(left - 2, bottom - size, ctx.measureText(label).width + 4, size * 1.3)
    ctx.fillStyle = ink('--bad')
    ctx.fillText(label, left, bottom)
  }
  ctx.restore()
}

function drawMarks(plot: uPlot, { marks = [], now }: ChartProps): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.fillStyle = ink('--bad')
  if (now !== undefined) {
    const x = plot.valToPos(now, 'x', true)
    if (x >= bbox.left && x <= bbox.left + bbox.width)
      ctx.fillRect(x - devicePixelRatio, bbox.top, 2 * devicePixelRatio, bbox.height)
  }
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
