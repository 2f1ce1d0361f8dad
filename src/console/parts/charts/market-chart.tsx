import { useSignal } from '@preact/signals'
import {
  CandlestickSeries,
  ColorType,
  createChartEx,
  createSeriesMarkers,
  defaultHorzScaleBehavior,
  HistogramSeries,
  type IChartApiBase,
  type IHorzScaleBehavior,
  type ISeriesApi,
  LineSeries,
  LineStyle,
  PriceScaleMode,
  type SeriesType,
  TickMarkType,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import { Camera, Maximize2 } from 'lucide-preact'
import { useEffect, useRef } from 'preact/hooks'
import { IconButton } from '../buttons.tsx'
import { appearance } from '../person/preferences.ts'
import { saveBlob } from '../save.ts'
import { number } from '../text/format.ts'
import { axisText, localSeconds } from '../text/writing.ts'
import {
  ink,
  type Line,
  momentText,
  spoken,
  type TradingProps,
  type Values,
  zoneOf,
} from './lines.ts'
import { useOnPaper } from './paper.ts'

/** A second chart below the prices, with the same time and the same cursor. */
export interface Pane {
  line: Line
  decimals: number
  levels?: readonly number[]
}

interface MarketChartProps extends TradingProps {
  panes: readonly Pane[]
  /** Events at a moment, Unix seconds: a flag in the chart, and text under the cursor. */
  events: readonly { at: number; text: string }[]
  /** The visible stretch, as indices into the times, is kept in the address. */
  zoom: string | undefined
  onZoom: (zoom: string) => void
  /** Names the saved picture. */
  file: string
}

type Drawn = ISeriesApi<SeriesType>

const at = (seconds: number): UTCTimestamp => seconds as UTCTimestamp

const pointsOf = (times: readonly number[], { values }: Line) =>
  times.flatMap((time, i) => {
    const value = values[i]
    return value === null || value === undefined ? [] : [{ time: at(time), value }]
  })

interface Made {
  chart: IChartApiBase<Time>
  /** The series that the cursor is on. */
  main: Drawn | undefined
  end(): void
}

/** Draws the chart into its box; `onMove` gets the time under the pointer. */
function make(
  node: HTMLElement,
  props: MarketChartProps,
  onMove: (time: number | undefined) => void,
): Made {
  const { times, lines, candles, panes, spans = [], isLog, decimals = 2, zoom, onZoom } = props
  const chart = createChartEx<Time, IHorzScaleBehavior<Time>>(
    node,
    scaleIn(zoneOf(times)),
    optionsOf(props),
  )
  const [main] = lines.map((line, i) =>
    i === 0 && candles ? drawCandles(chart, props) : drawLine(chart, line, times, decimals),
  )
  chart.priceScale('right').applyOptions({
    mode: isLog ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal,
  })
  drawSpans(chart, times, spans)
  for (const [i, pane] of panes.entries()) drawPane(chart, pane, times, i + 1)
  drawEvents(main, props)
  const zoomed = /^(\d+)_(\d+)$/.exec(zoom ?? '')
  if (zoomed)
    chart.timeScale().setVisibleRange({ from: at(Number(zoomed[1])), to: at(Number(zoomed[2])) })
  else chart.timeScale().fitContent()
  chart.subscribeCrosshairMove(({ time }) => onMove(typeof time === 'number' ? time : undefined))
  let timer: ReturnType<typeof setTimeout> | undefined
  // Only what a person does is a zoom: the chart moves itself as it is made and resized.
  const zooms = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      const range = chart.timeScale().getVisibleRange()
      if (range) onZoom(`${range.from}_${range.to}`)
    }, 300)
  }
  node.addEventListener('wheel', zooms, { passive: true })
  node.addEventListener('pointerup', zooms)
  return {
    chart,
    main,
    end() {
      clearTimeout(timer)
      node.removeEventListener('wheel', zooms)
      node.removeEventListener('pointerup', zooms)
      chart.remove()
    },
  }
}

/** Prices over trading time: sessions follow each other, and a closed market takes no room. */
export default function MarketChart(props: MarketChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const figure = useRef<HTMLElement>(null)
  const made = useRef<Made | undefined>(undefined)
  /** The time under the cursor; the newest one without a cursor. */
  const time = useSignal<number | undefined>(undefined)
  const spokenReading = useSignal('')
  const { times, lines, candles, panes, events, spans, isLog } = props

  useEffect(() => {
    if (!box.current) return undefined
    made.current = make(box.current, props, moved => {
      time.value = moved
    })
    return () => {
      made.current?.end()
      made.current = undefined
    }
  }, [times, lines, candles, panes, events, spans, isLog, appearance.value])

  useOnPaper(width => {
    made.current?.chart.applyOptions({ autoSize: width === undefined })
    if (width !== undefined) made.current?.chart.resize(width, width / 2, true)
  })

  const index = time.value === undefined ? times.length - 1 : times.indexOf(time.value)
  const readAt = (place: number) => {
    const next = times[place]
    if (next === undefined || !made.current?.main) return
    made.current.chart.setCrosshairPosition(
      lines[0]?.values[place] ?? 0,
      at(next),
      made.current.main,
    )
    time.value = next
    const read = entriesOf(props, place).map(({ name, text }) => `${name} ${text}`)
    spokenReading.value = `${momentText(times)(next)}: ${read.join(', ')}`
  }
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key]
    if (step === undefined && event.key !== 'Home' && event.key !== 'End') return
    event.preventDefault()
    const last = times.length - 1
    const next = event.key === 'Home' ? 0 : event.key === 'End' ? last : index + (step ?? 0)
    readAt(Math.min(last, Math.max(0, next)))
  }

  return (
    <figure class="chart market" ref={figure}>
      <figcaption class="only-heard">
        {spoken({ ...props, lines: [...lines, ...panes.map(({ line }) => line)] })}
      </figcaption>
      <div class="row spread">
        <Legend {...props} index={index} event={eventAt(events, times, time.value)} />
        <div class="row tools">
          <IconButton
            label="Save as PNG"
            icon={Camera}
            onClick={() =>
              made.current?.chart
                .takeScreenshot()
                .toBlob(blob => blob && saveBlob(`${props.file}.png`, blob))
            }
          />
          <IconButton
            label="Full screen"
            icon={Maximize2}
            onClick={() =>
              document.fullscreenElement
                ? document.exitFullscreen()
                : figure.current?.requestFullscreen()
            }
          />
        </div>
      </div>
      <div
        ref={box}
        class="plot"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: its cursor is moved by the arrow keys
        tabIndex={0}
        role="img"
        aria-label={`${props.title}. Arrow keys move the cursor.`}
        onKeyDown={pressed}
        onBlur={() => made.current?.chart.clearCrosshairPosition()}
      />
      <span class="only-heard" role="status">
        {spokenReading.value}
      </span>
    </figure>
  )
}

interface Entry {
  name: string
  text: string
  ink?: string
}

/** The values of a moment: those of its candle, of every line and of every pane. */
function entriesOf({ lines, candles, panes, decimals = 2 }: MarketChartProps, at: number): Entry[] {
  const entry = (name: string, values: Values, digits: number, ink?: string): Entry => {
    const value = values[at]
    return { name, text: value == null ? '–' : number(value, digits), ...(ink && { ink }) }
  }
  return [
    ...(candles
      ? [
          entry('O', candles.open, decimals),
          entry('H', candles.high, decimals),
          entry('L', candles.low, decimals),
        ]
      : []),
    ...lines.map(({ label, values, ink }, i) =>
      entry(candles && i === 0 ? 'C' : label, values, decimals, ink),
    ),
    ...panes.map(({ line, decimals: digits }) => entry(line.label, line.values, digits, line.ink)),
  ]
}

/** O H L C V of the moment under the cursor, and the value of every line. */
function Legend(props: MarketChartProps & { index: number; event: string | undefined }) {
  const { times, index, event } = props
  const time = times[index]
  return (
    <p class="legend small">
      <span class="quiet">{time === undefined ? '–' : momentText(times)(time)}</span>
      {entriesOf(props, index).map(({ name, text, ink }) => (
        <span key={name} data-ink={ink}>
          <span class={ink ? 'name' : 'quiet'}>{name}</span> {text}
        </span>
      ))}
      {event !== undefined && <span class="tag warn">{event}</span>}
    </p>
  )
}

/** A scale on which days, months and years begin as they do in a zone. */
function scaleIn(zone: string): IHorzScaleBehavior<Time> {
  const Scale = class extends defaultHorzScaleBehavior() {
    override fillWeightsForPoints(
      points: Parameters<IHorzScaleBehavior<Time>['fillWeightsForPoints']>[0],
      from: number,
    ): void {
      const local = points.map(point => ({
        ...point,
        time: this.convertHorzItemToInternal(at(localSeconds(Number(point.originalTime), zone))),
      }))
      super.fillWeightsForPoints(local, from)
      for (const [i, { timeWeight }] of local.entries()) points[i]!.timeWeight = timeWeight
    }
  }
  return new Scale()
}

const partsOf = {
  [TickMarkType.Year]: 'year',
  [TickMarkType.Month]: 'month',
  [TickMarkType.DayOfMonth]: 'day',
  [TickMarkType.Time]: 'time',
  [TickMarkType.TimeWithSeconds]: 'time',
} as const

function optionsOf({ lines, times }: MarketChartProps) {
  const [zone, write] = [zoneOf(times), momentText(times)]
  return {
    autoSize: true,
    layout: {
      background: { type: ColorType.Solid, color: ink('--surface') },
      textColor: ink('--quiet'),
      fontFamily: ink('--font'),
      fontSize: 12,
      attributionLogo: false,
      panes: { separatorColor: ink('--line'), enableResize: true },
    },
    grid: {
      vertLines: { color: ink('--grid') },
      horzLines: { color: ink('--grid') },
    },
    rightPriceScale: { borderColor: ink('--line') },
    leftPriceScale: {
      visible: lines.some(({ isRight }) => isRight),
      borderColor: ink('--line'),
    },
    timeScale: {
      borderColor: ink('--line'),
      timeVisible: true,
      secondsVisible: false,
      // Nothing is before the first point or after the last one, so their labels are moved into the
      // chart instead of being cut.
      fixLeftEdge: true,
      fixRightEdge: true,
      lockVisibleTimeRangeOnResize: true,
      tickMarkFormatter: (time: Time, type: TickMarkType) =>
        axisText(Number(time) * 1000, zone, partsOf[type]),
    },
    crosshair: { mode: 0 },
    localization: {
      locale: 'en-GB',
      timeFormatter: (time: Time) => write(Number(time)),
    },
  }
}

const formatOf = (decimals: number) => ({
  type: 'custom' as const,
  minMove: 10 ** -decimals,
  formatter: (value: number) => number(value, decimals),
})

function drawLine(
  chart: IChartApiBase<Time>,
  line: Line,
  times: readonly number[],
  decimals: number,
): Drawn {
  const series = chart.addSeries(LineSeries, {
    color: ink(line.ink),
    lineWidth: Math.max(1, Math.round(line.width ?? 2)) as 1 | 2,
    lineStyle: line.dash ? LineStyle.Dashed : LineStyle.Solid,
    // The axis at the right is that of the first line; another unit has its own at the left.
    priceScaleId: line.isRight ? 'left' : 'right',
    priceFormat: formatOf(decimals),
    lastValueVisible: !line.isEdge,
    priceLineVisible: false,
    pointMarkersVisible: times.length < 40 && !line.isEdge,
  })
  series.setData(pointsOf(times, line))
  return series
}

function drawCandles(
  chart: IChartApiBase<Time>,
  { times, lines, candles, decimals = 2 }: MarketChartProps,
): Drawn {
  const [up, down] = [ink('--up'), ink('--down')]
  const series = chart.addSeries(CandlestickSeries, {
    // Hollow up, filled down: the shape shows the direction too.
    upColor: ink('--surface'),
    borderUpColor: up,
    wickUpColor: up,
    downColor: down,
    borderDownColor: down,
    wickDownColor: down,
    priceFormat: formatOf(decimals),
    priceLineVisible: false,
  })
  series.setData(
    times.flatMap((time, i) => {
      const [open, high, low] = [candles!.open[i], candles!.high[i], candles!.low[i]]
      const close = lines[0]!.values[i]
      return open == null || high == null || low == null || close == null
        ? []
        : [{ time: at(time), open, high, low, close }]
    }),
  )
  return series
}

/** Tints days whose values are held or quarantined, from the bottom of the pane to its top. */
function drawSpans(
  chart: IChartApiBase<Time>,
  times: readonly number[],
  spans: NonNullable<TradingProps['spans']>,
): void {
  if (spans.length === 0) return
  const series = chart.addSeries(HistogramSeries, {
    priceScaleId: 'spans',
    priceLineVisible: false,
    lastValueVisible: false,
  })
  series.priceScale().applyOptions({ scaleMargins: { top: 0, bottom: 0 } })
  const colours = { held: ink('--note-ground'), quarantined: ink('--warn-ground') }
  const days = new Map(
    spans.map(({ from, isHeld }) => [from, isHeld ? colours.held : colours.quarantined]),
  )
  // A day without any value left has no place on the axis yet.
  const places = [...new Set([...times.filter(time => days.has(dayOf(time))), ...days.keys()])]
  series.setData(
    places
      .sort((a, b) => a - b)
      .map(time => ({ time: at(time), value: 1, color: days.get(dayOf(time))! })),
  )
}

const dayOf = (seconds: number): number => seconds - (seconds % 86_400)

function drawPane(
  chart: IChartApiBase<Time>,
  pane: Pane,
  times: readonly number[],
  place: number,
): void {
  const { line, decimals, levels = [] } = pane
  const options = {
    color: ink(line.ink),
    priceFormat: formatOf(decimals),
    priceLineVisible: false,
  }
  const series = line.isColumns
    ? chart.addSeries(HistogramSeries, options, place)
    : chart.addSeries(LineSeries, { ...options, lineWidth: 1 }, place)
  series.setData(pointsOf(times, line))
  for (const price of levels)
    series.createPriceLine({
      price,
      color: ink('--line-strong'),
      lineWidth: 1,
      lineStyle: LineStyle.Dashed,
      axisLabelVisible: true,
      title: '',
    })
  chart.panes()[place]?.setStretchFactor(0.28)
}

/** The bar that a moment falls into. */
const barOf = (times: readonly number[], moment: number): number | undefined =>
  times.findLast(time => time <= moment + 86_399)

function drawEvents(series: Drawn | undefined, { events, times }: MarketChartProps): void {
  if (!series || events.length === 0 || times.length === 0) return
  const bars = events.flatMap(({ at: moment }) => barOf(times, moment) ?? [])
  createSeriesMarkers(
    series,
    [...new Set(bars)]
      .sort((a, b) => a - b)
      .map(time => ({
        time: at(time) as Time,
        position: 'aboveBar' as const,
        shape: 'arrowDown' as const,
        color: ink('--warn'),
        size: 0.8,
      })),
  )
}

const eventAt = (
  events: MarketChartProps['events'],
  times: readonly number[],
  time: number | undefined,
): string | undefined =>
  time === undefined
    ? undefined
    : events.find(({ at: moment }) => barOf(times, moment) === time)?.text
