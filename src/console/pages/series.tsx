import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { isoDay } from '../../lib/time/instant.ts'
import { has } from '../parts/account.ts'
import { dataOf, type Loaded, Refusal, useLoaded } from '../parts/ask.ts'
import {
  Choice,
  Copy,
  Empty,
  Figure,
  Members,
  Notice,
  Page,
  Refused,
  Tag,
  Waiting,
  WhoBringsData,
} from '../parts/bits.tsx'
import { now } from '../parts/boot.ts'
import { Chart, type Line } from '../parts/chart.tsx'
import {
  areCodesHere,
  codes,
  loadCodes,
  matchingCodes,
  nearCodes,
  wantCodes,
} from '../parts/codes.ts'
import { bound } from '../parts/form.ts'
import { number, signed, unitOf, words } from '../parts/format.ts'
import { allRows } from '../parts/pages.ts'
import { Samples } from '../parts/samples.tsx'
import { type Column, Table } from '../parts/table.tsx'

export interface ChartAnswer {
  code: string
  name: string
  category: string
  currency: string | null
  unit: string
  cadence: string
  decimals: number
  interval: string
  from: string
  to: string
  as_of: string | null
  truncated: boolean
  times: number[]
  close: number[]
  open?: number[]
  high?: number[]
  low?: number[]
  volume?: (number | null)[]
  held_days: string[]
  quarantined_days: string[]
}

const daySeconds = 86_400
const dayMs = 1000 * daySeconds

const ranges = [
  { value: '1w', text: '1 W', days: 7 },
  { value: '1m', text: '1 M', days: 31 },
  { value: '3m', text: '3 M', days: 92 },
  { value: '1y', text: '1 Y', days: 366 },
  { value: '3y', text: '3 Y', days: 3 * 365.25 },
  { value: '10y', text: '10 Y', days: 10 * 365.25 },
] as const

const intervals = [
  { value: '', text: 'Auto' },
  { value: 'hour', text: 'Hour' },
  { value: 'day', text: 'Day' },
  { value: 'week', text: 'Week' },
  { value: 'month', text: 'Month' },
] as const

/** Intervals that are finer than the values of a series would show each of them alone. */
function intervalsOf(cadence: string | undefined) {
  const tooFine =
    cadence === 'monthly'
      ? ['hour', 'day', 'week']
      : cadence === 'weekly'
        ? ['hour', 'day']
        : cadence === 'daily'
          ? ['hour']
          : []
  return intervals.filter(({ value }) => !tooFine.includes(value))
}

/** A stock, a count or an index has no currency, and none of the words of a price. */
const isPrice = ({ currency }: Pick<ChartAnswer, 'currency'>): boolean => currency !== null

const indicators = [
  { value: '', text: 'No indicator' },
  { value: 'sma', text: 'Moving average, 20 days' },
  { value: 'ema', text: 'Exponential average, 20 days' },
  { value: 'bollinger', text: 'Bollinger bands, 20 days, 2 σ' },
  { value: 'rsi', text: 'Relative strength, 14 days' },
] as const

const nothingInRange = (
  <>
    No prices in this range. Choose a longer one. <WhoBringsData />
  </>
)

export function Series() {
  const { params } = useRoute()
  return (
    <Members title="Series">
      {() => (params.code ? <One key={params.code} code={params.code} /> : <All />)}
    </Members>
  )
}

/** Every code there is, found by a few letters. */
function All() {
  const typed = useSignal('')
  const refusal = useSignal<Error | undefined>(undefined)
  useEffect(() => {
    loadCodes().catch(error => {
      refusal.value = error as Error
    })
  }, [])
  const isSearch = typed.value !== ''
  const matches = isSearch ? matchingCodes(typed.value, 60) : codes.value
  const groups = [...Map.groupBy(matches, code => code.category)]
  // What was searched for has the best first; else categories are looked up by their names.
  if (!isSearch) groups.sort(([a], [b]) => words(a).localeCompare(words(b)))
  const near = groups.length === 0 ? nearCodes(typed.value, 3) : []
  return (
    <Page title="Series" about={`${codes.value.length} codes have data.`}>
      <label style={{ maxWidth: '28rem' }}>
        Find
        <input type="search" placeholder="Brent, Henry Hub, jet fuel …" {...bound(typed)} />
      </label>
      {refusal.value && <Refused error={refusal.value} />}
      {!areCodesHere.value && !refusal.value && <Waiting what="codes" />}
      {areCodesHere.value && groups.length === 0 && (
        <section class="card">
          <Empty>
            {codes.value.length > 0 ? (
              <p>
                No results.
                {near.length > 0 && ' Did you mean '}
                {near.map(({ code, name }, i) => (
                  <>
                    {i > 0 && ', '}
                    <a href={`/series/${code}`}>{name}</a>
                  </>
                ))}
                {near.length > 0 && '?'}
              </p>
            ) : (
              <p>
                No prices yet. The operator <a href="/operator/data">imports files</a> and turns{' '}
                <a href="/operator/feeds">public feeds</a> on.
              </p>
            )}
          </Empty>
        </section>
      )}
      <div class="categories">
        {groups.map(([category, part]) => (
          <details class="card" key={category} open={isSearch || category === 'crude_oil'}>
            <summary>
              <strong>{words(category)}</strong> <span class="quiet">{part.length}</span>
            </summary>
            <ul class="listed">
              {part.map(({ code, name }) => (
                <li key={code}>
                  <a href={`/series/${code}`}>{name}</a> <span class="code">{code}</span>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </div>
    </Page>
  )
}

/** What is shown, kept in the address so that it can be sent to somebody. */
function useView() {
  const { path, query, route } = useLocation()
  const set = (change: Record<string, string>) => {
    const next = new URLSearchParams(query)
    for (const [name, value] of Object.entries(change))
      if (value === '') next.delete(name)
      else next.set(name, value)
    const text = next.toString()
    route(text === '' ? path : `${path}?${text}`, true)
  }
  return { query, set }
}

const daysOf = (query: Record<string, string>): number =>
  ranges.find(({ value }) => value === query.range)?.days ?? 366

const pathOf = (code: string, query: Record<string, string>): string => {
  const days = daysOf(query)
  const search = new URLSearchParams({
    code,
    start_date: isoDay(now() - days * dayMs),
    ...(query.interval ? { interval: query.interval } : {}),
    ...(query.type === 'candles' && !query.interval ? { interval: candleInterval(days) } : {}),
    ...(query.as_of ? { as_of: `${query.as_of}T23:59:59Z` } : {}),
  })
  return `/v1/prices/chart?${search}`
}

/** The prices of the range as a file, without the limits of a chart. */
const exportOf = (code: string, query: Record<string, string>, format: string): string =>
  `/v1/export/prices?${new URLSearchParams({
    codes: code,
    start_date: isoDay(now() - daysOf(query) * dayMs),
    format,
    ...(query.interval ? { interval: query.interval } : {}),
    ...(query.as_of ? { as_of: `${query.as_of}T23:59:59Z` } : {}),
  })}`

/** So few that each has a body to look at: many series have one price a day. */
const candleInterval = (days: number): string =>
  days <= 8 ? 'hour' : days <= 100 ? 'day' : days <= 1200 ? 'week' : 'month'

function One({ code }: { code: string }) {
  const { query, set } = useView()
  const type = query.type ?? 'line'
  const path = pathOf(code, query)
  const answer = useLoaded(path, signal => dataOf<ChartAnswer>(path, { signal }))
  const others = (query.compare ?? '').split(',').filter(Boolean)
  const comparePaths = others.map(other => pathOf(other, { ...query, type: 'line' }))
  const compared = useLoaded(comparePaths.length > 0 ? comparePaths.join(' ') : undefined, signal =>
    Promise.all(comparePaths.map(path => dataOf<ChartAnswer>(path, { signal }))),
  )
  const data = answer.data
  const notes = useNotes(data)
  const notedDays = useMemo(() => notes.rows?.map(({ date }) => date) ?? [], [notes.rows])
  return (
    <Page
      title={data?.name ?? code}
      about={
        data ? (
          <>
            <span class="code">{data.code}</span> · {unitOf(data.currency, data.unit)} ·{' '}
            {words(data.category)}
          </>
        ) : (
          <span class="code">{code}</span>
        )
      }
      actions={
        <>
          <a class="button" href={`/alerts/new?code=${encodeURIComponent(code)}`}>
            Add alert
          </a>
          {has('bulk_export') &&
            (['csv', 'parquet'] as const).map(format => (
              <a
                class="button"
                key={format}
                rel="external"
                download={`${code}.${format}`}
                href={exportOf(code, query, format)}
              >
                {format === 'csv' ? 'Export CSV' : 'Export Parquet'}
              </a>
            ))}
          <Copy text={() => location.href} label="Copy link" />
        </>
      }
    >
      {data && <Numbers data={data} />}
      <section class="card" aria-label="Chart">
        <div class="row spread">
          <Choice
            label="Range"
            value={query.range ?? '1y'}
            options={ranges}
            onChoose={range => set({ range })}
          />
          <div class="row">
            <Choice
              label="Interval"
              value={query.interval ?? ''}
              options={intervalsOf(data?.cadence)}
              onChoose={interval => set({ interval })}
            />
            {(!data || isPrice(data)) && (
              <Choice
                label="Drawn as"
                value={type}
                options={[
                  { value: 'line', text: 'Line' },
                  { value: 'candles', text: 'Candles' },
                ]}
                onChoose={next => set({ type: next === 'line' ? '' : next })}
              />
            )}
            <Choice
              label="Scale"
              value={query.scale ?? 'linear'}
              options={[
                { value: 'linear', text: 'Linear' },
                { value: 'log', text: 'Log' },
                { value: 'index', text: 'Index 100' },
              ]}
              onChoose={next => set({ scale: next === 'linear' ? '' : next })}
            />
          </div>
        </div>
        {answer.refusal && <Refused error={answer.refusal} />}
        {compared.refusal && <Refused error={compared.refusal} />}
        {data ? (
          <Drawn
            data={data}
            others={others.length > 0 ? (compared.data ?? []) : []}
            type={isPrice(data) ? type : 'line'}
            isAuto={!query.interval}
            scale={query.scale ?? 'linear'}
            onIndex={() => set({ scale: 'index' })}
            indicator={query.indicator ?? ''}
            notedDays={notedDays}
          />
        ) : (
          answer.isLoading && <Waiting what="prices" />
        )}
        <div class="row end">
          {has('analytics') && (
            <label>
              Indicator
              <select
                value={query.indicator ?? ''}
                onChange={event => set({ indicator: event.currentTarget.value })}
              >
                {indicators.map(({ value, text }) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
          )}
          <Compare
            code={code}
            others={others}
            onChange={next => set({ compare: next.join(',') })}
          />
        </div>
        <KnownOn value={query.as_of ?? ''} onChange={as_of => set({ as_of })} answer={answer} />
      </section>
      {data && data.times.length > 0 && has('calculated_metrics') && (
        <Notes of={notes.answer} rows={notes.rows} />
      )}
      <div class="columns">
        <section class="card" aria-labelledby="call">
          <h2 id="call">API call for this chart</h2>
          <Samples call={{ method: 'GET', path }} />
        </section>
        {data && <Numbered data={data} />}
      </div>
    </Page>
  )
}

interface Note {
  id: string
  title: string
  description: string
  category: string
  date: string
}

/** What is noted of the series in the range of the chart, newest first; of no notes, none. */
function useNotes(data: ChartAnswer | undefined) {
  const path =
    data && data.times.length > 0 && has('calculated_metrics')
      ? `/v1/indicators/annotations?commodity=${data.code}`
      : undefined
  const answer = useLoaded(path, signal =>
    allRows<{ data: Note[] }, Note>(path!, ({ data: rows }) => rows, { signal })
      // Until somebody has recorded notes there are none, which is no fault.
      .catch(error => {
        if (error instanceof Refusal && error.status === 404) return []
        throw error
      }),
  )
  const rows = useMemo(
    () => data && answer.data?.filter(({ date }) => date >= data.from.slice(0, 10)),
    [data, answer.data],
  )
  return { answer, rows }
}

const Notes = ({ of, rows }: { of: Loaded<Note[]>; rows: Note[] | undefined }) => (
  <Table
    caption="Events"
    file="notes"
    of={of}
    rows={rows}
    keyOf={({ id }) => id}
    isTall
    empty="No events in this range."
    columns={[
      { name: 'Day', className: 'nowrap', value: ({ date }) => date },
      {
        name: 'What',
        value: ({ title, description }) => `${title}. ${description}`,
        show: ({ title, description }) => (
          <>
            {title}
            <div class="quiet small">{description}</div>
          </>
        ),
      },
      {
        name: 'Kind',
        isWide: true,
        value: ({ category }) => category,
        show: ({ category }) => <Tag>{words(category)}</Tag>,
      },
    ]}
  />
)

function Numbers({ data }: { data: ChartAnswer }) {
  const { close, decimals } = data
  const last = close.at(-1)
  const first = close[0]
  if (last === undefined || first === undefined) return null
  const low = close.reduce((least, value) => Math.min(least, value), last)
  const high = close.reduce((most, value) => Math.max(most, value), last)
  const percent = first > 0 ? (100 * (last - first)) / first : undefined
  return (
    <section class="figures" aria-label="In this range">
      <Figure label={`Last, ${unitOf(data.currency, data.unit)}`}>{number(last, decimals)}</Figure>
      <Figure label="Change in range">
        <span class={last >= first ? 'up' : 'down'}>
          {signed(last - first, decimals)}
          {percent !== undefined && ` (${signed(percent, 1)}\u00a0%)`}
        </span>
      </Figure>
      <Figure label={isPrice(data) ? 'Lowest close' : 'Lowest'}>{number(low, decimals)}</Figure>
      <Figure label={isPrice(data) ? 'Highest close' : 'Highest'}>{number(high, decimals)}</Figure>
    </section>
  )
}

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

const spanOf = (day: string, isHeld: boolean) => {
  const from = Date.parse(day) / 1000
  return { from, to: from + daySeconds, isHeld }
}

interface DrawnProps {
  data: ChartAnswer
  others: ChartAnswer[]
  type: string
  /** Nobody chose how long a bar is. */
  isAuto: boolean
  scale: string
  /** Draws every line as percent of its first value. */
  onIndex: () => void
  indicator: string
  /** Days of which something is noted. */
  notedDays: readonly string[]
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

/** Closed markets have no prices: a line of intraday values stops there. */
function breakOf({ interval, times }: ChartAnswer): number | undefined {
  if (interval !== 'raw' && interval !== 'hour') return undefined
  const steps = times
    .slice(1)
    .map((time, i) => time - times[i]!)
    .sort((a, b) => a - b)
  const usual = steps[Math.floor(steps.length / 2)]
  // A series with a price a day is drawn as it is in a longer range.
  return usual === undefined || usual >= daySeconds / 2 ? undefined : Math.max(3 * usual, 5400)
}

const isFlat = ({ open, high, low, close }: ChartAnswer): boolean => {
  const flat = close.filter((value, i) => open?.[i] === value && high?.[i] === low?.[i])
  return close.length > 0 && flat.length > close.length / 2
}

function Drawn(props: DrawnProps) {
  const { data, others, type, isAuto, scale, onIndex, indicator, notedDays } = props
  const isIndex = scale === 'index'
  const rightUnit = isIndex ? undefined : rightUnitOf(data, others)
  const hasMoreUnits = new Set([data, ...others].map(unitName)).size > 2
  const { extra, refusal } = useIndicator(data, indicator)
  const { lines, candles, bands, spans } = useMemo(() => {
    const shown = (values: (number | null)[]) => (isIndex ? indexed(values) : values)
    const lines: Line[] = [
      { label: data.code, values: shown(data.close), ink: inks[0]!, width: 1.8 },
      ...others.map((other, i) => ({
        label: other.code,
        values: shown(alignedTo(data.times, other)),
        ink: inks[(i + 1) % inks.length]!,
        isRight: !isIndex && unitName(other) === rightUnit,
      })),
    ]
    const bands: [number, number][] = []
    if (extra && !isIndex) {
      for (const line of extra.lines) lines.push({ ...line, values: onTimes(data, line) })
      if (extra.isBand) bands.push([lines.length - 2, lines.length - 1])
    }
    const candles =
      type === 'candles' && !isIndex && data.open && data.high && data.low
        ? { open: data.open, high: data.high, low: data.low }
        : undefined
    const spans = [
      ...data.quarantined_days.map(day => spanOf(day, false)),
      ...data.held_days.map(day => spanOf(day, true)),
    ]
    return { lines, candles, bands, spans }
  }, [data, others, type, isIndex, extra, rightUnit])
  const strength = useStrength(data, indicator)
  const marks = useMemo(() => notedDays.map(day => Date.parse(day) / 1000), [notedDays])
  if (data.times.length === 0) return <Empty>{nothingInRange}</Empty>
  const isLog = scale === 'log' && data.close.every(value => value > 0)
  return (
    <>
      {scale === 'log' && !isLog && (
        <Notice mood="warn">Some prices are zero or negative, so the scale stays linear.</Notice>
      )}
      {data.truncated && (
        <Notice mood="warn">
          The range has more points than a chart takes; the newest are shown.
        </Notice>
      )}
      {rightUnit !== undefined && (
        <Notice mood={hasMoreUnits ? 'warn' : undefined}>
          <div class="row spread">
            <span>
              {hasMoreUnits
                ? 'These series have more than two units and cannot share a scale. '
                : `The lines have two axes: ${unitName(data)} at the left, ${rightUnit} at the right. `}
              Index 100 compares them.
            </span>
            <button type="button" class="tight" onClick={onIndex}>
              Index 100
            </button>
          </div>
        </Notice>
      )}
      {candles && (isAuto || isFlat(data)) && (
        <p class="quiet small">
          Each candle is {intervalWords[data.interval] ?? data.interval}.
          {isFlat(data) && ' Most are flat because the source publishes one price per period.'}
        </p>
      )}
      <Chart
        breaksAfter={breakOf(data)}
        units={rightUnit === undefined ? undefined : { left: unitName(data), right: rightUnit }}
        title={`${data.name}, ${isIndex ? 'first value 100' : unitOf(data.currency, data.unit)}`}
        times={data.times}
        lines={lines}
        candles={candles}
        bands={bands}
        spans={spans}
        isLog={isLog}
        decimals={isIndex ? 1 : data.decimals}
        marks={marks}
      />
      {data.volume && <Volume data={data} volume={data.volume} />}
      {data.held_days.length > 0 && (
        <p class="quiet small">Held for review: values of {listOfDays(data.held_days)}.</p>
      )}
      {data.quarantined_days.length > 0 && (
        <p class="quiet small">Quarantined: {listOfDays(data.quarantined_days)}.</p>
      )}
      {refusal && <Refused error={refusal} />}
      {strength.refusal && <Refused error={strength.refusal} />}
      {strength.data && (
        <Chart
          title="Relative strength, 14 days"
          height={140}
          decimals={1}
          times={strength.data.times}
          lines={[{ label: 'RSI 14', values: strength.data.values, ink: '--ink-3' }]}
          levels={[
            { value: 70, label: '70' },
            { value: 30, label: '30' },
          ]}
        />
      )}
    </>
  )
}

const listOfDays = (days: readonly string[]): string =>
  days.slice(0, 8).join(', ') + (days.length > 8 ? ` and ${days.length - 8} more days` : '')

const Volume = ({ data, volume }: { data: ChartAnswer; volume: (number | null)[] }) => (
  <Chart
    title={`${data.name}, contracts traded`}
    height={140}
    decimals={0}
    times={data.times}
    lines={[{ label: 'Volume', values: volume, ink: '--ink-6', isColumns: true }]}
  />
)

interface Trend {
  values: { date: string; value: number }[]
}

interface Dated extends Omit<Line, 'values'> {
  points: Map<string, number>
}

/** A daily indicator on the times of the chart: of a longer bar, as it stood at its end. */
function onTimes(data: ChartAnswer, { points }: Dated): (number | null)[] {
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

/** The closes of each day of the range and of the days that the first of them look back on. */
const dailyPath = (data: ChartAnswer): string =>
  `/v1/prices/chart?${new URLSearchParams({
    code: data.code,
    start_date: isoDay(Date.parse(data.from) - 2 * bollingerDays * dayMs),
    interval: 'day',
    ...(data.as_of ? { as_of: data.as_of } : {}),
  })}`

/** Averages from the interface; the width of Bollinger's bands is worked out from its closes. */
function useIndicator(data: ChartAnswer, indicator: string) {
  const isAverage = indicator === 'sma' || indicator === 'ema' || indicator === 'bollinger'
  const path =
    isAverage && data.times.length > 0
      ? trendPath(data, indicator === 'ema' ? 'ema' : 'sma', bollingerDays)
      : undefined
  const answer = useLoaded(path, signal => dataOf<Trend>(path!, { signal }))
  const closesPath = path && indicator === 'bollinger' ? dailyPath(data) : undefined
  const closes = useLoaded(closesPath, signal => dataOf<ChartAnswer>(closesPath!, { signal }))
  const extra = useMemo(() => {
    if (!isAverage || !answer.data) return undefined
    const mean = new Map(answer.data.values.map(({ date, value }) => [date, value]))
    const label = indicator === 'ema' ? 'EMA 20' : 'SMA 20'
    const middle: Dated = { label, ink: '--ink-3', dash: [6, 4], points: mean }
    if (indicator !== 'bollinger') return { lines: [middle], isBand: false }
    if (!closes.data) return undefined
    const width = deviations(closes.data)
    const edge = (name: string, sign: number): Dated => ({
      label: name,
      ink: '--ink-6',
      width: 1,
      isEdge: true,
      points: new Map(
        [...mean].flatMap(([day, value]) => {
          const by = width.get(day)
          return by === undefined ? [] : [[day, value + sign * 2 * by] as [string, number]]
        }),
      ),
    })
    return { lines: [middle, edge('Upper', 1), edge('Lower', -1)], isBand: true }
  }, [answer.data, closes.data, indicator, data])
  return { extra, refusal: isAverage ? (answer.refusal ?? closes.refusal) : undefined }
}

const bollingerDays = 20

/** The deviation of the last twenty closes, by day. */
function deviations(data: ChartAnswer): Map<string, number> {
  const byDay = new Map<string, number>()
  for (let i = 0; i < data.times.length; i += 1)
    byDay.set(isoDay(data.times[i]! * 1000), data.close[i]!)
  const days = [...byDay]
  return new Map(
    days.flatMap(([day], i) => {
      if (i + 1 < bollingerDays) return []
      const part = days.slice(i + 1 - bollingerDays, i + 1).map(([, value]) => value)
      const mean = part.reduce((sum, value) => sum + value, 0) / bollingerDays
      const variance = part.reduce((sum, value) => sum + (value - mean) ** 2, 0) / bollingerDays
      return [[day, Math.sqrt(variance)] as [string, number]]
    }),
  )
}

function useStrength(data: ChartAnswer, indicator: string) {
  const path = indicator === 'rsi' && data.times.length > 0 ? trendPath(data, 'rsi', 14) : undefined
  return useLoaded(path, async signal => {
    const { values } = await dataOf<Trend>(path!, { signal })
    const from = Date.parse(data.from)
    const shown = values.filter(({ date }) => Date.parse(date) >= from)
    return {
      times: shown.map(({ date }) => Date.parse(date) / 1000),
      values: shown.map(({ value }) => value),
    }
  })
}

const comparedMax = 4

function Compare({
  code,
  others,
  onChange,
}: {
  code: string
  others: string[]
  onChange: (others: string[]) => void
}) {
  const typed = useSignal('')
  useEffect(wantCodes, [])
  const near = matchingCodes(typed.value, 6).filter(
    found => found.code !== code && !others.includes(found.code),
  )
  return (
    <div class="row end">
      <label>
        Compare with
        <input
          type="search"
          list="near"
          placeholder="Name or code"
          value={typed.value}
          disabled={others.length >= comparedMax}
          onInput={event => {
            typed.value = event.currentTarget.value
            const exact = codes.value.find(known => known.code === typed.value.toUpperCase())
            if (!exact || others.includes(exact.code) || exact.code === code) return
            onChange([...others, exact.code])
            typed.value = ''
          }}
        />
        <datalist id="near">
          {near.map(({ code: other, name }) => (
            <option key={other} value={other}>
              {name}
            </option>
          ))}
        </datalist>
      </label>
      {others.map(other => (
        <button
          type="button"
          key={other}
          aria-label={`Stop comparing with ${other}`}
          onClick={() => onChange(others.filter(kept => kept !== other))}
        >
          {other} ×
        </button>
      ))}
    </div>
  )
}

const knownDays = 365

/** Draws the past as it was known on a day. */
function KnownOn({
  value,
  onChange,
  answer,
}: {
  value: string
  onChange: (day: string) => void
  answer: Loaded<ChartAnswer>
}) {
  const today = Math.floor(now() / dayMs)
  const chosen = value === '' ? today : Math.floor(Date.parse(value) / dayMs)
  const draft = useSignal<number | undefined>(undefined)
  const shown = draft.value ?? chosen
  const take = (at: number) => {
    draft.value = undefined
    onChange(at >= today ? '' : isoDay(at * dayMs))
  }
  return (
    <div class="known">
      <label for="known">
        As known on <strong>{shown >= today ? 'today' : isoDay(shown * dayMs)}</strong>
      </label>
      <input
        id="known"
        type="range"
        min={today - knownDays}
        max={today}
        value={shown}
        aria-valuetext={shown >= today ? 'today' : isoDay(shown * dayMs)}
        onInput={event => {
          draft.value = event.currentTarget.valueAsNumber
        }}
        onChange={event => take(event.currentTarget.valueAsNumber)}
      />
      <button type="button" class="tight" disabled={value === ''} onClick={() => take(today)}>
        Today
      </button>
      {answer.data?.as_of && (
        <span class="small quiet" role="status">
          {answer.data.times.length} points, as known at the end of that day, without later
          corrections.
        </span>
      )}
    </div>
  )
}

const rowsShown = 60

/** The values of the chart, newest first; the file has all of them, oldest first. */
function Numbered({ data }: { data: ChartAnswer }) {
  const all = useMemo(() => data.times.map((_, i) => i), [data])
  const newest = all.slice(-rowsShown).reverse()
  const isDaily = data.times.every(time => time % daySeconds === 0)
  const bar = (name: string, values: number[] | undefined): Column<number>[] =>
    values
      ? [
          {
            name,
            fileName: name.toLowerCase(),
            isNumber: true,
            value: i => values[i],
            show: i => number(values[i]!, data.decimals),
          },
        ]
      : []
  return (
    <Table
      caption="Numbers"
      file={data.code}
      rows={newest}
      fileRows={() => all}
      keyOf={i => String(data.times[i])}
      isTall
      empty={nothingInRange}
      note={
        all.length > rowsShown &&
        `The newest ${rowsShown} of ${number(all.length)}; the CSV has all.`
      }
      columns={[
        {
          name: 'UTC',
          fileName: 'time',
          className: 'nowrap',
          value: i => new Date(data.times[i]! * 1000).toISOString(),
          show: i =>
            new Date(data.times[i]! * 1000)
              .toISOString()
              .slice(0, isDaily ? 10 : 16)
              .replace('T', ' '),
        },
        ...(isPrice(data)
          ? [
              ...bar('Open', data.open),
              ...bar('High', data.high),
              ...bar('Low', data.low),
              ...bar('Close', data.close),
            ]
          : bar('Value', data.close)),
        ...(data.volume
          ? [
              {
                name: 'Volume',
                fileName: 'volume',
                isNumber: true,
                isWide: true,
                value: (i: number) => data.volume?.[i],
                show: (i: number) => number(data.volume?.[i] ?? 0, 0),
              },
            ]
          : []),
      ]}
    />
  )
}
