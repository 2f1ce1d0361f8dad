import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { dayMs, isoDay } from '../../lib/time/instant.ts'
import type { SpreadRow as Spread } from '../../topics/analytics/operations/spread-row.ts'
import {
  Button,
  Choice,
  Empty,
  Members,
  Page,
  Refused,
  Shown,
  Waiting,
  WhoBringsData,
} from '../parts/bits.tsx'
import { Chart } from '../parts/charts/chart.tsx'
import { tint } from '../parts/charts/tint.ts'
import { dataOf, useData, useLoaded, whereThere } from '../parts/requests/ask.ts'
import { boot, now } from '../parts/requests/boot.ts'
import { allRows } from '../parts/requests/pages.ts'
import { Heat } from '../parts/tables/heat.tsx'
import { Move } from '../parts/tables/move.tsx'
import { Table, twoLines } from '../parts/tables/table.tsx'
import { Tabs, useTitle, type Views } from '../parts/tabs.tsx'
import { boundChoice, sets, takes } from '../parts/text/form.ts'
import { formulaText, number, signed, unitOf, words } from '../parts/text/format.ts'
import { monthNames } from '../parts/text/writing.ts'
import { StocksNow } from './market/stocks.tsx'
import { rangeStart, weeksOf } from './market/weeks.ts'
import { CalendarSpreads } from './markets/calendar.tsx'
import { Contracts, CurveDate } from './markets/contracts.tsx'
import { Correlation } from './markets/correlation.tsx'
import { ages, type Curve, families, hasCurve, useCurves } from './markets/curves.ts'
import { Permits } from './markets/permits.tsx'
import { PositionsView } from './markets/positions.tsx'
import { Power } from './markets/power.tsx'
import { Rigs } from './markets/rigs.tsx'
import type { ChartAnswer } from './series/answer.ts'

const views: Views<'markets'> = {
  '': Curves,
  spreads: Spreads,
  power: Power,
  storage: Storage,
  seasons: Seasons,
  correlation: Correlation,
  positions: PositionsView,
  rigs: Rigs,
  permits: Permits,
}

/** Markets as a whole: curves, spreads, stocks and seasons. */
export function Markets() {
  const title = useTitle('markets')
  return (
    <Members
      title="Markets"
      about="Forward curves, spreads, power by the hour, storage, seasonality, positions, rigs and well permits."
    >
      {() => (
        <Page title={title}>
          <Tabs page="markets" views={views} />
        </Page>
      )}
    </Members>
  )
}

const axes = [
  { value: 'tenor', text: 'By tenor' },
  { value: 'month', text: 'By month' },
] as const

const monthNumber = (month: string): number =>
  Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1

const monthText = (value: number): string => {
  const whole = Math.round(value)
  return `${Math.floor(whole / 12)}-${String((whole % 12) + 1).padStart(2, '0')}`
}

function Curves() {
  const { query } = useLocation()
  const named = families.find(({ value }) => value === query.family)?.value
  const family = useSignal<(typeof families)[number]['value']>(named ?? 'brent')
  const axis = useSignal<(typeof axes)[number]['value']>('tenor')
  const date = useSignal('')
  const { newest, earlier, past } = useCurves(family.value, { date: date.value })
  // A family without a curve has neither contracts nor spreads.
  const mayHaveCurve = !newest.refusal && (!newest.data || hasCurve(newest.data))
  return (
    <>
      <div class="curves">
        <section class="card" aria-labelledby="curve">
          <div class="row spread">
            <h2 id="curve">Forward curve</h2>
            <div class="row">
              <Choice label="Family" options={families} {...boundChoice(family)} />
              <Choice label="Axis" options={axes} {...boundChoice(axis)} />
            </div>
          </div>
          <Shown of={newest} what="the curve">
            {curve => (
              <CurveChart
                curves={[curve, ...(earlier.isLoading ? [] : (earlier.data ?? []))]}
                past={past?.data}
                isByTenor={axis.value === 'tenor'}
                isWhole={!earlier.isLoading && !earlier.refusal}
              />
            )}
          </Shown>
          {earlier.refusal && <Refused error={earlier.refusal} />}
          {newest.data && earlier.isLoading && <Waiting what="earlier curves" />}
          {newest.data && hasCurve(newest.data) && (
            <CurveDate value={date.value} onChange={takes(date)} />
          )}
          {past?.refusal && <Refused error={past.refusal} />}
        </section>
        {mayHaveCurve && <Contracts family={family.value} />}
      </div>
      {mayHaveCurve && <CalendarSpreads key={family.value} family={family.value} />}
    </>
  )
}

const tenorText = (value: number): string => `M${value}`

const chosenDay = { text: 'Chosen day', ink: '--ink-5' }

interface CurveChartProps {
  curves: (Curve | undefined)[]
  /** The curve of a chosen day. */
  past: Curve | undefined
  /** The first contract of each curve over the first of the others, and not month over month. */
  isByTenor: boolean
  /** Every requested curve is loaded, or has no quotes. */
  isWhole: boolean
}

function CurveChart({ curves: known, past, isByTenor, isWhole }: CurveChartProps) {
  const curves = useMemo(() => (past ? [...known, past] : known), [known, past])
  const newest = curves[0]
  const { months, lines, missing } = useMemo(() => {
    const placeOf = (month: string, i: number) => (isByTenor ? i + 1 : monthNumber(month))
    const months = [
      ...new Set(
        curves
          .filter(hasCurve)
          .flatMap(({ contracts }) =>
            contracts.map(({ contract_month: month }, i) => placeOf(month, i)),
          ),
      ),
    ].sort((a, b) => a - b)
    const lines = curves.flatMap((curve, i) => {
      if (!hasCurve(curve)) return []
      const prices = new Map(
        curve.contracts.map(({ contract_month: month, price }, at) => [placeOf(month, at), price]),
      )
      const { text, ink } = ages[i] ?? chosenDay
      const values = months.map(month => prices.get(month) ?? null)
      return [
        {
          label: `${text} (${curve.analysis_date})`,
          values,
          ink,
          width: i === 0 || i >= ages.length ? 2.4 : 1.4,
        },
      ]
    })
    const missing = ages.filter((_, i) => i > 0 && !hasCurve(curves[i])).map(({ text }) => text)
    return { months, lines, missing }
  }, [curves, isByTenor])
  if (!newest || months.length === 0)
    return (
      <Empty>
        No curve yet. Choose another family. <WhoBringsData />
      </Empty>
    )
  return (
    <>
      <p class="quiet">
        {words(newest.curve_type)}, {unitOf(newest.currency, newest.unit)}
        {isWhole && missing.length > 0 && `. No quotes: ${missing.join(', ').toLowerCase()}.`}
      </p>
      <Chart
        title={isByTenor ? 'Forward curve by tenor' : 'Forward curve by contract month'}
        times={months}
        lines={lines}
        xText={isByTenor ? tenorText : monthText}
        xLabel={isByTenor ? 'Tenor' : 'Month'}
        decimals={2}
      />
    </>
  )
}

const kinds = [
  { value: 'crack', text: 'Cracks' },
  { value: 'refining-margin', text: 'Margins' },
  { value: 'basis', text: 'Basis' },
  { value: 'physical-premium', text: 'Premiums' },
] as const

function Spreads() {
  const { query } = useLocation()
  const linked = kinds.find(({ value }) => value === query.kind)?.value
  const kind = useSignal<(typeof kinds)[number]['value']>(linked ?? 'crack')
  const chosen = useSignal(query.id)
  const answer = useLoaded(kind.value, async signal => {
    const wanted = kind.value
    const spreads = boot.hasData
      ? await whereThere(dataOf<Spread[]>(`/v1/spreads/${wanted}/all`, { signal }))
      : undefined
    return { kind: wanted, spreads: spreads ?? [] }
  })
  // Until the chosen kind is here, none is shown: the others have no history of this kind.
  const spreads = answer.data?.kind === kind.value ? answer.data.spreads : undefined
  const shown = spreads?.find(({ id }) => id === chosen.value) ?? spreads?.[0]
  return (
    <>
      {shown && <SpreadHistory key={shown.id} kind={kind.value} spread={shown} />}
      <Table
        caption="Spreads now"
        file={`spreads-${kind.value}`}
        of={answer}
        rows={spreads}
        empty={
          <>
            No spreads of this kind: the prices they are calculated from are missing.{' '}
            <WhoBringsData />
          </>
        }
        actions={<Choice label="Kind" options={kinds} {...boundChoice(kind)} />}
        columns={({ column, numeric }) => [
          column('Spread', 'name', row => (
            <Button
              className="plain tight"
              label={formulaText(row.name)}
              isPressed={row.id === shown?.id}
              onClick={sets(chosen, row.id)}
            />
          )),
          numeric('Value', 'value', row =>
            twoLines(<span class="strong">{number(row.value, 2)}</span>, row.unit),
          ),
          numeric('24 h', 'change_24h', row =>
            row.change_24h === null ? (
              '–'
            ) : (
              <Move change={{ amount: row.change_24h, percent: null }} />
            ),
          ),
          column('Region', 'region', { isWide: true, className: 'quiet' }),
          column('Formula', 'formula', {
            isWide: true,
            className: 'code',
            write: formulaText,
          }),
        ]}
      />
    </>
  )
}

interface SpreadDay {
  date: string
  value: number
}

/** A spread over the past year. */
function SpreadHistory({ kind, spread }: { kind: string; spread: Spread }) {
  const from = isoDay(now() - 365 * dayMs)
  const path = `/v1/spreads/${kind}/historical?id=${spread.id}&start_date=${from}`
  const answer = useLoaded(path, signal =>
    allRows<{ data: SpreadDay[] }, SpreadDay>(path, ({ data }) => data, { signal }),
  )
  return (
    <section class="card" aria-labelledby="spread">
      <h2 id="spread">{formulaText(spread.name)}</h2>
      <Shown of={answer} what="the past year">
        {newestFirst => {
          const rows = newestFirst.toReversed()
          return (
            <Chart
              title={`${spread.name}, ${spread.unit}`}
              height={260}
              decimals={2}
              times={rows.map(({ date }) => Date.parse(date) / 1000)}
              lines={[
                { label: spread.unit, values: rows.map(({ value }) => value), ink: '--ink-1' },
              ]}
            />
          )
        }}
      </Shown>
    </section>
  )
}

const stocks = [
  { value: 'US_CRUDE_STORAGE', text: 'US crude' },
  { value: 'US_GASOLINE_STORAGE', text: 'US gasoline' },
  { value: 'US_DISTILLATE_STORAGE', text: 'US distillate' },
] as const

const weeks = Array.from({ length: 52 }, (_, i) => i + 1)
const weekText = (value: number): string => `W${Math.round(value)}`

function Storage() {
  const code = useSignal<(typeof stocks)[number]['value']>('US_CRUDE_STORAGE')
  const answer = useData<ChartAnswer>(
    `/v1/prices/chart?code=${code.value}&start_date=${rangeStart(now())}&interval=day`,
  )
  return (
    <>
      <section class="card" aria-labelledby="storage">
        <div class="row spread">
          <h2 id="storage">Stocks vs 5-year range</h2>
          <Choice label="Stock" options={stocks} {...boundChoice(code)} />
        </div>
        <Shown of={answer} what="stocks">
          {data => <Band data={data} />}
        </Shown>
      </section>
      <StocksNow />
    </>
  )
}

/** This year's level over the range of the five years before. */
function Band({ data }: { data: ChartAnswer }) {
  const { lines, hasBand } = useMemo(() => {
    const { newest, current, low, high, mean } = weeksOf(data)
    // One earlier year, or a part of it, does not make a range.
    const first = new Date((data.times[0] ?? 0) * 1000)
    const hasBand = newest.getUTCFullYear() - first.getUTCFullYear() >= 2
    const edge = { ink: '--ink-6', width: 1, isEdge: true }
    const lines = [
      { label: String(newest.getUTCFullYear()), values: current, ink: '--ink-1', width: 2.4 },
      { label: '5-year high', values: high, ...edge },
      { label: '5-year low', values: low, ...edge },
      { label: '5-year mean', values: mean, ink: '--ink-3', width: 1.2, dash: [6, 4] },
    ]
    return { lines: hasBand ? lines : lines.slice(0, 1), hasBand }
  }, [data])
  if (data.times.length === 0)
    return (
      <Empty>{data.name} has no values yet. The operator imports them or enables a feed.</Empty>
    )
  return (
    <>
      <p class="quiet">
        {data.name}, {unitOf(data.currency, data.unit)}
        {!hasBand && '. The five-year range needs values of at least two earlier years.'}
      </p>
      <Chart
        title={`${data.name} against its 5-year range`}
        times={weeks}
        lines={lines}
        {...(hasBand && { bands: bandOf })}
        xText={weekText}
        xLabel="Week"
        decimals={data.decimals}
      />
    </>
  )
}

const bandOf = [[1, 2]] as const

const seasonal = [
  { value: 'NATURAL_GAS_USD', text: 'Henry Hub' },
  { value: 'BRENT_CRUDE_USD', text: 'Brent' },
  { value: 'GASOLINE_USD', text: 'Gasoline' },
  { value: 'HEATING_OIL_USD', text: 'Heating oil' },
] as const

/** How much each month of each year brought, in percent. */
function Seasons() {
  const code = useSignal<(typeof seasonal)[number]['value']>('NATURAL_GAS_USD')
  const from = `${new Date(now()).getUTCFullYear() - 9}-01-01`
  const path = `/v1/prices/chart?code=${code.value}&start_date=${from}&interval=month`
  const answer = useData<ChartAnswer>(path)
  return (
    <section class="card" aria-labelledby="seasons">
      <div class="row spread">
        <h2 id="seasons">Monthly returns, percent</h2>
        <Choice label="Series" options={seasonal} {...boundChoice(code)} />
      </div>
      <Shown of={answer} what="months">
        {data => <Returns data={data} />}
      </Shown>
    </section>
  )
}

function Returns({ data }: { data: ChartAnswer }) {
  const years = new Map<number, (number | undefined)[]>()
  data.times.forEach((time, i) => {
    const at = new Date(time * 1000)
    const before = data.close[i - 1]
    const row = years.get(at.getUTCFullYear()) ?? []
    if (before !== undefined && before > 0)
      row[at.getUTCMonth()] = (100 * (data.close[i]! - before)) / before
    if (row.length > 0) years.set(at.getUTCFullYear(), row)
  })
  const means = monthNames.map((_, month) => {
    const values = [...years.values()].flatMap(row => row[month] ?? [])
    return values.length > 1
      ? values.reduce((sum, value) => sum + value, 0) / values.length
      : undefined
  })
  const rows = [
    ...[...years].reverse().map(([year, row]) => [String(year), row] as const),
    ...(years.size > 1 ? [['Mean', means] as const] : []),
  ]
  if (data.times.length === 0)
    return (
      <Empty>{data.name} has no prices yet. The operator imports them or enables a feed.</Empty>
    )
  return (
    <Heat
      label="Return of each month of each year, percent"
      corner="Year"
      heads={monthNames}
      rows={rows.map(([name, row]) => ({
        name,
        cells: monthNames.map((_, i) => returnOf(row[i])),
      }))}
    />
  )
}

/** From here on a return is tinted no stronger. */
const strongestPercent = 18

const returnOf = (percent: number | undefined) =>
  percent === undefined
    ? undefined
    : {
        text: signed(percent, 1),
        style: tint(Math.max(-1, Math.min(1, percent / strongestPercent)), 45),
      }
