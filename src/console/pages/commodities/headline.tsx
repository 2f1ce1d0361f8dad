import { useSignal } from '@preact/signals'
import type { BoardRow } from '../../../topics/prices/operations/board.ts'
import { Refused } from '../../parts/bits.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { QuoteTile, type Year } from '../../parts/charts/quote-tile.tsx'
import { dataOf, useLoaded } from '../../parts/requests/ask.ts'
import { dayAgo } from '../../parts/requests/boot.ts'
import { codes as known } from '../../parts/requests/codes.ts'
import { sets } from '../../parts/text/form.ts'
import { ago, unitOf } from '../../parts/text/format.ts'
import { useChart } from '../series/chart.ts'

/** The newest values of the codes that this instance has, each with its year. */
async function quotesOf(codes: readonly string[], signal: AbortSignal) {
  const list = codes.filter(code => known.value.some(each => each.code === code)).join(',')
  if (list === '') return []
  const [{ rows }, { metrics }] = await Promise.all([
    dataOf<{ rows: BoardRow[] }>(`/v1/prices/board?codes=${list}`, { signal }),
    dataOf<{ metrics: (Year & { code: string })[] }>(`/v1/prices/metrics?by_code=${list}`, {
      signal,
    }),
  ])
  return rows.map(row => ({ row, year: metrics.find(({ code }) => code === row.code) }))
}

/** The headline values of a group, and the chart of the chosen one. */
export function Headline({ codes }: { codes: readonly string[] }) {
  const chosen = useSignal(codes[0])
  const answer = useLoaded(codes.join(','), signal => quotesOf(codes, signal))
  const shown = (answer.data?.find(({ row }) => row.code === chosen.value) ?? answer.data?.[0])?.row
  const chart = useChart(shown?.code, dayAgo(365))
  if (answer.refusal) return <Refused error={answer.refusal} />
  if (!shown) return null
  const unit = unitOf(shown.currency, shown.unit)
  return (
    <section class="card headline" aria-label="Headline figures">
      <div class="courses">
        {answer.data!.map(({ row, year }) => (
          <button
            type="button"
            class="tile"
            key={row.code}
            aria-pressed={row.code === shown.code}
            onClick={sets(chosen, row.code)}
          >
            <QuoteTile row={row} year={year} />
          </button>
        ))}
      </div>
      <div class="row spread small quiet">
        <span>
          {shown.name}, one year, {unit}. Observed {ago(shown.created_at)}.
        </span>
        <a href={`/series/${shown.code}`}>Open series</a>
      </div>
      {chart.refusal && <Refused error={chart.refusal} />}
      {chart.data && chart.data.times.length > 1 && (
        <Chart
          title={`${shown.name}, a year, ${unit}`}
          height={220}
          decimals={chart.data.decimals}
          times={chart.data.times}
          lines={[{ label: chart.data.name, values: chart.data.close, ink: '--ink-1', width: 2 }]}
        />
      )}
    </section>
  )
}
