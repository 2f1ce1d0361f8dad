import { useSignal } from '@preact/signals'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import { dataOf, Refusal, useLoaded } from '../../parts/ask.ts'
import { Refused } from '../../parts/bits.tsx'
import { now } from '../../parts/boot.ts'
import { Chart } from '../../parts/charts/chart.tsx'
import { RangeBar } from '../../parts/charts/range-bar.tsx'
import { ago, number, unitOf } from '../../parts/format.ts'
import { Move } from '../../parts/move.tsx'
import { type ChartAnswer, isPrice } from '../series/answer.ts'

const yearMs = 365 * dayMs

/** The year of each code; one that is not in the catalogue of this instance is left out. */
async function yearsOf(codes: readonly string[], signal: AbortSignal): Promise<ChartAnswer[]> {
  const from = isoDay(now() - yearMs)
  const answers = await Promise.all(
    codes.map(code =>
      dataOf<ChartAnswer>(`/v1/prices/chart?code=${code}&start_date=${from}&interval=day`, {
        signal,
      }).catch(error => {
        if (error instanceof Refusal && error.status === 404) return undefined
        throw error
      }),
    ),
  )
  return answers.filter(answer => answer !== undefined && answer.times.length > 1) as ChartAnswer[]
}

/** The headline prices of a group, each with its year, and the chart of the chosen one. */
export function Headline({ codes }: { codes: readonly string[] }) {
  const chosen = useSignal(codes[0])
  const answer = useLoaded(codes.join(','), signal => yearsOf(codes, signal))
  const shown = answer.data?.find(({ code }) => code === chosen.value) ?? answer.data?.[0]
  if (answer.refusal) return <Refused error={answer.refusal} />
  if (!shown) return null
  return (
    <section class="card headline" aria-label="Headline figures">
      <div class="courses">
        {answer.data!.map(data => (
          <button
            type="button"
            class="tile"
            key={data.code}
            aria-pressed={data.code === shown.code}
            onClick={() => {
              chosen.value = data.code
            }}
          >
            <Tile data={data} />
          </button>
        ))}
      </div>
      <Chart
        title={`${shown.name}, a year, ${unitOf(shown.currency, shown.unit)}`}
        height={240}
        decimals={shown.decimals}
        times={shown.times}
        lines={[{ label: shown.name, values: shown.close, ink: '--ink-1', width: 2 }]}
      />
      <a class="small" href={`/series/${shown.code}`}>
        Open {shown.name}
      </a>
    </section>
  )
}

function Tile({ data }: { data: ChartAnswer }) {
  const [before, last] = data.close.slice(-2) as [number, number]
  const amount = last - before
  const observed = new Date(data.times.at(-1)! * 1000).toISOString()
  return (
    <>
      <span class="small quiet">{data.name}</span>
      <span class="row spread" title={`Observed ${ago(observed)}`}>
        <b>{number(last, data.decimals)}</b>
        <span class="small">
          <Move
            change={{ amount, percent: isPrice(data) && before ? (100 * amount) / before : null }}
            digits={data.decimals}
          />
        </span>
      </span>
      <RangeBar
        low={Math.min(...data.close)}
        high={Math.max(...data.close)}
        value={last}
        decimals={data.decimals}
      />
      <span class="small quiet">{unitOf(data.currency, data.unit)}</span>
    </>
  )
}
