import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Empty, NoData, Refused, Shown, Waiting, WhoBringsData } from '../../parts/bits.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { Choice } from '../../parts/fields.tsx'
import { takes } from '../../parts/text/form.ts'
import { unitOf, words } from '../../parts/text/format.ts'
import { CalendarSpreads } from './calendar.tsx'
import { Contracts, CurveDate } from './contracts.tsx'
import { ages, type Curve, hasCurve, quotedFamilies, useCurves } from './curves.ts'

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

export function Curves() {
  const { query } = useLocation()
  const named = quotedFamilies.find(({ value }) => value === query.family) ?? quotedFamilies[0]
  return named ? <CurvesFrom family={named.value} /> : <NoData text="No curve yet." />
}

function CurvesFrom({ family: first }: { family: (typeof quotedFamilies)[number]['value'] }) {
  const family = useSignal(first)
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
              <Choice label="Family" options={quotedFamilies} of={family} />
              <Choice label="Axis" options={axes} of={axis} />
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
