import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useMemo } from 'preact/hooks'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { Forecast as ForecastAnswer } from '../../../topics/analytics/operations/forecast.ts'
import type { Statistics as StatisticsAnswer } from '../../../topics/analytics/operations/statistics.ts'
import type { Analysis } from '../../../topics/analytics/operations/trend.ts'
import type { Vintages as VintagesAnswer } from '../../../topics/prices/operations/vintages.ts'
import { sampleKey } from '../../guides/guide.ts'
import { Figure, Refused, Shown } from '../../parts/bits.tsx'
import { Copy } from '../../parts/buttons.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { isDaily, momentText, type Values } from '../../parts/charts/lines.ts'
import { Choice } from '../../parts/fields.tsx'
import { has } from '../../parts/person/account.ts'
import { dataOf, useData, useLoaded } from '../../parts/requests/ask.ts'
import { now } from '../../parts/requests/boot.ts'
import { Samples } from '../../parts/samples.tsx'
import { type Column, column, numeric } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { useTabStrip } from '../../parts/tabs.tsx'
import { dataDay, instant, number, orDash, signed, unitOf } from '../../parts/text/format.ts'
import { monthNames } from '../../parts/text/writing.ts'
import { type ChartAnswer, isPrice } from './answer.ts'
import { nothingInRange } from './drawn.tsx'
import { Notes, type useNotes } from './events.tsx'

interface DetailsProps {
  data: ChartAnswer
  /** The call behind the chart. */
  path: string
  notes: ReturnType<typeof useNotes>
  tab: string
  onTab: (tab: string) => void
}

/** Each where the plan has what it needs. */
const tabs: readonly {
  tab: string
  text: string
  View: ComponentType<DetailsProps>
  needs?: string
}[] = [
  { tab: '', text: 'Data', View: Numbered },
  { tab: 'statistics', text: 'Statistics', View: Statistics, needs: 'analytics' },
  { tab: 'seasonality', text: 'Seasonality', View: Seasonality, needs: 'analytics' },
  { tab: 'vintages', text: 'Vintages', View: Vintages },
  { tab: 'forecast', text: 'Forecast', View: Forecast, needs: 'forecast' },
  { tab: 'events', text: 'Events', View: Notes, needs: 'calculated_metrics' },
  { tab: 'api', text: 'API', View: Calls },
]

/** The facts about a series besides its chart, one tab at a time. */
export function Details(props: DetailsProps) {
  const parts = tabs.filter(({ needs }) => needs === undefined || has(needs))
  const shown = parts.find(({ tab }) => tab === props.tab) ?? parts[0]!
  const strip = useTabStrip(shown.tab)
  return (
    <>
      <nav class="tabs" aria-label="More of this series" ref={strip}>
        {parts.map(part => (
          <button
            type="button"
            key={part.tab}
            aria-current={part === shown ? 'page' : undefined}
            onClick={() => props.onTab(part.tab)}
          >
            {part.text}
          </button>
        ))}
      </nav>
      <shown.View {...props} />
    </>
  )
}

const periods = [
  { value: '30', text: '30 days' },
  { value: '90', text: '90 days' },
  { value: '365', text: '1 year' },
  { value: '1825', text: '5 years' },
] as const

function Statistics({ data }: { data: ChartAnswer }) {
  const { code, decimals } = data
  const period = useSignal<(typeof periods)[number]['value']>('365')
  const answer = useLoaded(`statistics ${code} ${period.value}`, signal =>
    Promise.all([
      dataOf<StatisticsAnswer>(`/v1/analytics/statistics?code=${code}&period=${period.value}`, {
        signal,
      }),
      dataOf<Analysis>(`/v1/analytics/trend?code=${code}&period=${period.value}`, { signal }),
    ]),
  )
  const value = (amount: number) => number(amount, decimals)
  return (
    <section class="card" aria-labelledby="statistics">
      <header>
        <h2 id="statistics">Statistics</h2>
        <Choice label="Period" options={periods} of={period} />
      </header>
      <Shown of={answer} what="statistics">
        {([{ statistics: of }, { trend, momentum, levels, signal }]) => (
          <>
            {isPrice(data) && <p>{signal.interpretation}</p>}
            <div class="figures">
              {of.z_score !== null && (
                <Figure label={`z-score, ${of.z_score_interpretation}`}>
                  {signed(of.z_score)}
                </Figure>
              )}
              <Figure label="Percentile">{number(of.percentile, 0)}</Figure>
              {of.volatility !== null && (
                <Figure label={`Annual volatility, ${of.volatility_interpretation}`}>
                  {number(of.volatility, 1)}%
                </Figure>
              )}
              <Figure label="Mean">{value(of.mean)}</Figure>
              <Figure label="Median">{value(of.median)}</Figure>
              <Figure label="Standard deviation">{value(of.std_dev)}</Figure>
              <Figure label="Lowest">{value(of.min)}</Figure>
              <Figure label="Highest">{value(of.max)}</Figure>
              <Figure label="Change in this period">
                {trend.price_change_pct === null ? '–' : `${signed(trend.price_change_pct, 1)}%`}
              </Figure>
              {isPrice(data) && (
                <>
                  <Figure label={`RSI 14, ${momentum.interpretation}`}>
                    {number(momentum.rsi, 0)}
                  </Figure>
                  <Figure label="Support">{levels.support.map(value).join(', ') || '–'}</Figure>
                  <Figure label="Resistance">
                    {levels.resistance.map(value).join(', ') || '–'}
                  </Figure>
                </>
              )}
            </div>
          </>
        )}
      </Shown>
    </section>
  )
}

interface Part {
  part: number
  change: { mean: number; median: number; min: number; max: number; years: number }
}

const yearInks = ['--ink-1', '--ink-2', '--ink-3', '--ink-4', '--ink-5', '--ink-6']
const percent = (name: string, of: (part: Part) => number) =>
  numeric(name, of, part => (
    <span class={of(part) >= 0 ? 'up' : 'down'}>{signed(of(part), 1)}%</span>
  ))

const weekText = (week: number): string => monthNames[Math.min(11, Math.floor((week / 53) * 12))]!

/** Each of the last years over the weeks of a year, and what a month usually brings. */
function Seasonality({ data: { code, decimals, name } }: { data: ChartAnswer }) {
  const newest = new Date(now()).getUTCFullYear()
  const path = `/v1/prices/chart?code=${code}&start_date=${newest - 5}-01-01&interval=week`
  const answer = useLoaded(`seasons ${code}`, signal =>
    Promise.all([
      dataOf<ChartAnswer>(path, { signal }),
      dataOf<{ parts: Part[] }>(`/v1/analytics/seasonality?code=${code}`, { signal }),
    ]),
  )
  if (answer.refusal)
    return (
      <section class="card" aria-label="Seasonality">
        <Refused error={answer.refusal} />
      </section>
    )
  return (
    <div class="columns pairs">
      <section class="card" aria-labelledby="seasons">
        <h2 id="seasons">Years compared</h2>
        <Shown of={answer} what="years">
          {([history]) => (
            <Chart
              title={`${name} by year`}
              height={320}
              decimals={decimals}
              xText={weekText}
              xLabel="Month"
              {...yearsOf(history)}
            />
          )}
        </Shown>
      </section>
      <Table
        caption="Change by month"
        file="months"
        of={answer}
        rows={answer.data?.[1].parts}
        empty="Not enough history."
        columns={({ column, numeric }) => [
          column('Month', 'part', ({ part }) => monthNames[part - 1]),
          percent('Mean', ({ change }) => change.mean),
          percent('Median', ({ change }) => change.median),
          percent('Worst', ({ change }) => change.min),
          percent('Best', ({ change }) => change.max),
          numeric('Years', ({ change }) => change.years),
        ]}
      />
    </div>
  )
}

function yearsOf(history: ChartAnswer) {
  const times = Array.from({ length: 53 }, (_, week) => week)
  const byYear = new Map<number, (number | null)[]>()
  history.times.forEach((time, i) => {
    const at = new Date(time * 1000)
    const year = at.getUTCFullYear()
    const values = byYear.get(year) ?? times.map(() => null)
    const week = Math.floor((at.getTime() - Date.UTC(year, 0, 1)) / (7 * dayMs))
    values[week] = history.close[i]!
    byYear.set(year, values)
  })
  const lines = [...byYear]
    .sort(([a], [b]) => b - a)
    .map(([year, values], i) => ({
      label: String(year),
      values,
      ink: yearInks[i % yearInks.length]!,
      width: i === 0 ? 2.4 : 1.2,
    }))
  return { times, lines }
}

type Horizon = ForecastAnswer['forecasts'][number]

type Point = VintagesAnswer['points'][number]

const vintageDays = 12

/** The newest points with every value that each ever had: the triangle of revisions. */
function Vintages({ data }: { data: ChartAnswer }) {
  const days = [...new Set(data.times.map(time => isoDay(time * 1000)))].slice(-vintageDays)
  const answer = useLoaded(`vintages ${data.code} ${days.join()}`, signal =>
    Promise.all(
      days.map(day =>
        dataOf<VintagesAnswer>(`/v1/prices/vintages?by_code=${data.code}&observed_at=${day}`, {
          signal,
        }),
      ),
    ),
  )
  // The last point of a day represents it.
  const rows = answer.data?.flatMap(({ points }) => points.slice(-1)).reverse()
  const most = Math.max(1, ...(rows ?? []).map(({ vintages }) => vintages.length))
  return (
    <Table
      caption="Vintages"
      of={answer}
      rows={rows}
      empty="No vintages for the newest points."
      note={
        most === 1
          ? 'None of these points has been revised. The time below a value is when it was recorded.'
          : 'Every value that each point has had, in the order recorded, with the time below it.'
      }
      columns={({ column, numeric }) => [
        column('Observed', 'observed_at', {
          className: 'nowrap',
          write: (at: string) => momentText(data.times)(Date.parse(at) / 1000),
        }),
        ...Array.from(
          { length: most },
          (_, i): Column<Point> =>
            numeric(i === 0 ? 'First' : `Revision ${i}`, ({ vintages }) => vintages[i]?.value, {
              show: ({ vintages }) => <Recorded vintages={vintages} at={i} of={data} />,
            }),
        ),
      ]}
    />
  )
}

function Recorded({ vintages, at, of }: Pick<Point, 'vintages'> & { at: number; of: ChartAnswer }) {
  const vintage = vintages[at]
  if (!vintage) return null
  const before = vintages[at - 1]
  return (
    <>
      <span class={vintage.is_current ? 'strong' : 'quiet'}>
        {number(vintage.value, of.decimals)}
      </span>
      {before && (
        <span class="quiet small"> {signed(vintage.value - before.value, of.decimals)}</span>
      )}
      <div class="quiet small">{instant(vintage.recorded_at)}</div>
    </>
  )
}

const forecastMethods = {
  sma: 'simple moving average',
  ema: 'exponential moving average',
  combined: 'the mean of both moving averages',
} as const

function Forecast({ data }: { data: ChartAnswer }) {
  const path = `/v1/analytics/forecast?code=${data.code}`
  const answer = useData<ForecastAnswer>(path)
  const value = (amount: number) => number(amount, data.decimals)
  const band = (name: string, sigma: 'sigma_1' | 'sigma_2', end: 'low' | 'high') =>
    numeric(name, (row: Horizon) => row.confidence_intervals[sigma][end], {
      isWide: sigma === 'sigma_2',
      write: value,
    })
  const method = answer.data && forecastMethods[answer.data.method]
  return (
    <Table
      caption="Forecast"
      of={answer}
      rows={answer.data?.forecasts}
      empty="No forecast: there is not enough history."
      note={`Method: ${method}. The bands come from the volatility of the series.`}
      columns={({ column, numeric }) => [
        column('Ahead', 'horizon_days', {
          fileName: 'days_ahead',
          write: (days: number) => (days === 1 ? '1 day' : `${days} days`),
        }),
        numeric(unitOf(data.currency, data.unit) || 'Value', 'forecast_value', row => (
          <span class="strong">{value(row.forecast_value)}</span>
        )),
        numeric('Change', 'forecast_change_pct', {
          write: orDash(percent => `${signed(percent, 2)}%`),
        }),
        band('68% low', 'sigma_1', 'low'),
        band('68% high', 'sigma_1', 'high'),
        band('95% low', 'sigma_2', 'low'),
        band('95% high', 'sigma_2', 'high'),
      ]}
    />
  )
}

/** The calls that give what the page shows. */
function Calls({ data, path }: { data: ChartAnswer; path: string }) {
  const address = `${location.origin}/v1/prices/widget?codes=${data.code}&format=html&api_key=${sampleKey}`
  const snippet = `<iframe src="${address}" title="${data.name}" width="360" height="140" style="border:0" loading="lazy"></iframe>`
  return (
    <div class="columns pairs">
      <section class="card" aria-labelledby="call">
        <h2 id="call">API call for this chart</h2>
        <Samples call={{ method: 'GET', path }} />
      </section>
      <section class="card" aria-labelledby="embed">
        <header>
          <h2 id="embed">Embed</h2>
          <Copy text={snippet} label="Copy HTML" className="tight" />
        </header>
        <p>
          Shows the newest value and its change on your own page, and keeps them current. Visitors
          can see the key, so <a href="/account">create one</a> that can only read prices.{' '}
          <a href="/docs?operation=getWidgetOfCode">As JSON</a>, it includes a month of values.
        </p>
        <pre class="wrap">{snippet}</pre>
      </section>
    </div>
  )
}

/** The values of the chart, newest first. */
function Numbered({ data }: { data: ChartAnswer }) {
  const { times, open, high, low, close, volume, decimals } = data
  const newest = useMemo(() => times.map((_, i) => times.length - 1 - i), [data])
  const hasDays = isDaily(times)
  const bar = (name: string, values: Values | undefined, isVolume = false): Column<number>[] =>
    values
      ? [
          numeric<number>(name, (i: number) => values[i], {
            fileName: name.toLowerCase(),
            isWide: isVolume,
            show: i => number(values[i] ?? 0, isVolume ? 0 : decimals),
          }),
        ]
      : []
  return (
    <Table
      caption="Data"
      file={data.code}
      rows={newest}
      isTall
      empty={nothingInRange}
      columns={[
        column<number>(
          hasDays ? 'Day' : 'Time',
          (i: number) => new Date(times[i]! * 1000).toISOString(),
          {
            fileName: 'time',
            className: 'nowrap',
            write: hasDays ? dataDay : instant,
          },
        ),
        ...(isPrice(data)
          ? [...bar('Open', open), ...bar('High', high), ...bar('Low', low), ...bar('Close', close)]
          : bar('Value', close)),
        ...bar('Volume', volume, true),
      ]}
    />
  )
}
