import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { Empty, Shown } from '../../parts/bits.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { Choice } from '../../parts/fields.tsx'
import { now } from '../../parts/requests/boot.ts'
import { unitOf } from '../../parts/text/format.ts'
import { StocksNow } from '../market/stocks.tsx'
import { rangeStart, weeksOf } from '../market/weeks.ts'
import type { ChartAnswer } from '../series/answer.ts'
import { useChart } from '../series/chart.ts'

const stocks = [
  { value: 'US_CRUDE_STORAGE', text: 'US crude' },
  { value: 'US_GASOLINE_STORAGE', text: 'US gasoline' },
  { value: 'US_DISTILLATE_STORAGE', text: 'US distillate' },
] as const

const weeks = Array.from({ length: 52 }, (_, i) => i + 1)
const weekText = (value: number): string => `W${Math.round(value)}`

export function Storage() {
  const code = useSignal<(typeof stocks)[number]['value']>('US_CRUDE_STORAGE')
  const answer = useChart(code.value, rangeStart(now()))
  return (
    <>
      <section class="card" aria-labelledby="storage">
        <div class="row spread">
          <h2 id="storage">Stocks vs 5-year range</h2>
          <Choice label="Stock" options={stocks} of={code} />
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
