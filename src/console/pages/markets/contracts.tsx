import { useSignal } from '@preact/signals'
import { Pause, Play } from 'lucide-preact'
import { useEffect } from 'preact/hooks'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { Futures } from '../../../topics/futures/operations/futures.ts'
import { DaySlider, slideDays, today } from '../../parts/charts/day-slider.tsx'
import { tint } from '../../parts/charts/tint.ts'
import { useAnswer } from '../../parts/requests/ask.ts'
import { Heat } from '../../parts/tables/heat.tsx'
import { Move } from '../../parts/tables/move.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { sets } from '../../parts/text/form.ts'
import { decimalsOf, number, orDash, signed, unitOf } from '../../parts/text/format.ts'

type Listed = Futures['contracts'][number]

interface Contract extends Listed {
  /** Over the next month: what a roll costs. */
  next: number | null
}

const settled = ({ settlement, price }: Listed): number => settlement ?? price

/** The contracts of a family: settlements, volumes, and the step to the next contract. */
export function Contracts({ family }: { family: string }) {
  const path = `/v1/futures/${family}`
  const answer = useAnswer<Futures>(path)
  const rows = answer.data?.contracts.map((contract, i, all): Contract => {
    const following = all[i + 1]
    return { ...contract, next: following ? settled(contract) - settled(following) : null }
  })
  const digits = Math.max(2, ...(rows ?? []).map(row => decimalsOf(settled(row))))
  const count = { isWide: true, write: orDash(value => number(value, 0)) }
  return (
    <>
      <Table
        caption="Contracts"
        file={`contracts-${family}`}
        of={answer}
        rows={rows}
        isTall
        empty="No contracts have a price."
        note={
          answer.data &&
          [
            `${unitOf(answer.data.currency, answer.data.unit)}, ${answer.data.settlement_date ? `settled on ${answer.data.settlement_date}` : 'not settled today yet'}.`,
            answer.data.roll_indicator?.message,
          ]
            .filter(Boolean)
            .join(' ')
        }
        columns={({ column, numeric }) => [
          column('Month', 'contract_month', row => (
            <a href={`/series/${row.code}`} title={`Expires ${row.expiry_date}`}>
              {row.contract_month}
            </a>
          )),
          numeric('Settle', settled, row => (
            <span class="strong">{number(settled(row), digits)}</span>
          )),
          numeric('Change', 'change', row => <Move change={row.change} digits={digits} />),
          numeric('Volume', 'volume', count),
          ...(rows?.some(row => row.open_interest)
            ? [numeric('Open interest', 'open_interest', count)]
            : []),
          numeric('To next', 'next', { write: orDash(value => signed(value, digits)) }),
        ]}
      />
      {rows && rows.length > 1 && <Matrix rows={rows} digits={digits} />}
    </>
  )
}

const matrixMax = 12

/** Every month over every later one, tinted by size: blue in backwardation, orange in contango. */
function Matrix({ rows, digits }: { rows: readonly Contract[]; digits: number }) {
  const months = rows.slice(0, matrixMax)
  const steps = months.flatMap((near, i) =>
    months.slice(i + 1).map(far => Math.abs(settled(near) - settled(far))),
  )
  const most = Math.max(...steps) || 1
  const monthOf = ({ contract_month: month }: Contract) => month.slice(2)
  const rowOf = (near: Contract, i: number) => ({
    name: monthOf(near),
    cells: [
      ...months.slice(1).map((far, at) => {
        const spread = settled(near) - settled(far)
        return at < i ? undefined : { text: signed(spread, digits), style: tint(spread / most, 26) }
      }),
      { text: butterflyOf(months, i, digits) },
    ],
  })
  return (
    <section class="card matrix" aria-labelledby="matrix">
      <h2 id="matrix">Spread matrix and butterflies</h2>
      <Heat
        label="Each month minus each later month"
        corner="Near − far"
        heads={[...months.slice(1).map(monthOf), 'Fly']}
        rows={months.slice(0, -1).map(rowOf)}
      />
    </section>
  )
}

/** A month less twice the next plus the one after it. */
function butterflyOf(months: readonly Contract[], at: number, digits: number): string {
  const [near, middle, far] = [months[at], months[at + 1], months[at + 2]]
  if (!near || !middle || !far) return '–'
  return signed(settled(near) - 2 * settled(middle) + settled(far), digits)
}

const stepDays = 7
const stepMs = 700

/** Takes the curve through the past year, by hand or by itself. */
export function CurveDate({ value, onChange }: { value: string; onChange: (day: string) => void }) {
  const isPlaying = useSignal(false)
  useEffect(() => {
    if (!isPlaying.value) return undefined
    const timer = setTimeout(() => {
      const chosen = value === '' ? today() - slideDays : Date.parse(value) / dayMs + stepDays
      if (chosen >= today()) isPlaying.value = false
      onChange(chosen >= today() ? '' : isoDay(chosen * dayMs))
    }, stepMs)
    return () => clearTimeout(timer)
  }, [isPlaying.value, value])
  const Drawn = isPlaying.value ? Pause : Play
  return (
    <DaySlider id="curve-date" label="Curve of" value={value} onChange={onChange}>
      <button
        type="button"
        class="tight"
        aria-pressed={isPlaying.value}
        onClick={sets(isPlaying, !isPlaying.value)}
      >
        <Drawn size={14} aria-hidden="true" />
        {isPlaying.value ? 'Pause' : 'Play'}
      </button>
    </DaySlider>
  )
}
