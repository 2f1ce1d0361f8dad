import type { Spreads } from '../../../topics/futures/operations/spreads.ts'
import { Shown } from '../../parts/bits.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { overTime } from '../../parts/charts/lines.ts'
import { useAnswer, useLoaded } from '../../parts/requests/ask.ts'
import { dayAgo } from '../../parts/requests/boot.ts'
import { allRows } from '../../parts/requests/pages.ts'
import { Table } from '../../parts/tables/table.tsx'
import { orDash, signed, unitOf } from '../../parts/text/format.ts'

interface Day {
  date: string
  spread: number
}

/** Calendar spreads: each month against the next, along the curve and over the past year. */
export function CalendarSpreads({ family }: { family: string }) {
  const answer = useAnswer<Spreads>(`/v1/futures/${family}/spreads`)
  const history = `/v1/futures/${family}/spread-history?from=${dayAgo(365)}&to=${dayAgo(0)}`
  const past = useLoaded(history, signal => allRows<Day>(history, 'history', signal))
  const unit = answer.data && unitOf(answer.data.currency, answer.data.unit)
  return (
    <>
      <section class="card" aria-labelledby="front">
        <h2 id="front">M1–M2 spread, one year</h2>
        <p class="quiet">{unit && `${unit}. `}Above zero is backwardation, below zero contango.</p>
        <Shown of={past} what="spreads">
          {days => (
            <Chart
              title="M1–M2 spread"
              height={220}
              decimals={2}
              {...overTime(days, ['Spread', ({ spread }) => spread])}
              levels={[{ value: 0, label: '' }]}
            />
          )}
        </Shown>
      </section>
      <Table
        caption="Calendar spreads"
        file={`calendar-spreads-${family}`}
        of={answer}
        rows={answer.data?.spreads}
        empty="No two adjacent months have a price. Choose another family."
        note={
          unit &&
          `${unit}, from last prices. Average, lowest and highest over ${answer.data?.days} days.`
        }
        columns={({ column, numeric }) => [
          column('Months', row => `${row.month1} / ${row.month2}`),
          numeric('Spread', 'spread', row => <span class="strong">{signed(row.spread, 2)}</span>),
          numeric('Average', 'average', { write: difference }),
          numeric('Lowest', 'min', { isWide: true, write: difference }),
          numeric('Highest', 'max', { isWide: true, write: difference }),
        ]}
      />
    </>
  )
}

const difference = orDash(value => signed(value, 2))
