import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { SpreadRow as Spread } from '../../../topics/analytics/operations/spread-row.ts'
import { dataOf, useLoaded } from '../../parts/ask.ts'
import { WhoBringsData } from '../../parts/bits.tsx'
import { now } from '../../parts/boot.ts'
import { RangeBar } from '../../parts/charts/range-bar.tsx'
import { number } from '../../parts/format.ts'
import { Move } from '../../parts/move.tsx'
import { Table } from '../../parts/table.tsx'

interface Shown extends Spread {
  low: number
  high: number
}

const kinds = ['crack', 'basis'] as const
const perKind = 3
const yearMs = 365 * dayMs

async function withRange(kind: string, spread: Spread, signal: AbortSignal): Promise<Shown> {
  const from = isoDay(now() - yearMs)
  const days = await dataOf<{ value: number }[]>(
    `/v1/spreads/${kind}/historical?id=${spread.id}&start_date=${from}&per_page=400`,
    { signal },
  )
  const values = days.map(({ value }) => value)
  return {
    ...spread,
    low: Math.min(spread.value, ...values),
    high: Math.max(spread.value, ...values),
  }
}

/** The first cracks and basis spreads, with their place in the range of a year. */
export function SpreadsNow() {
  const answer = useLoaded('spreads now', async signal => {
    const all = await Promise.all(
      kinds.map(async kind => {
        const spreads = await dataOf<Spread[]>(`/v1/spreads/${kind}/all`, { signal })
        return Promise.all(spreads.slice(0, perKind).map(spread => withRange(kind, spread, signal)))
      }),
    )
    return all.flat()
  })
  return (
    <Table
      caption="Cracks and spreads"
      file="spreads-now"
      of={answer}
      rows={answer.data}
      keyOf={({ id }) => id}
      empty={
        <>
          No spreads yet. <WhoBringsData />
        </>
      }
      columns={[
        {
          name: 'Spread',
          value: ({ name }) => name,
          show: ({ name, unit }) => (
            <a href="/markets/spreads" title={unit}>
              {name}
            </a>
          ),
        },
        {
          name: 'Value',
          isNumber: true,
          value: ({ value }) => value,
          show: ({ value }) => number(value, 2),
        },
        {
          name: '24 h',
          isNumber: true,
          value: ({ change_24h: change }) => change,
          show: ({ change_24h: change }) =>
            change === null ? '–' : <Move change={{ amount: change, percent: null }} />,
        },
        {
          name: 'Year',
          isWide: true,
          value: ({ value, low, high }) => (value - low) / (high - low || 1),
          show: ({ value, low, high }) => (
            <RangeBar low={low} high={high} value={value} decimals={2} />
          ),
        },
      ]}
    />
  )
}
