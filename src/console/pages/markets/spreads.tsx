import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso'
import type { SpreadRow as Spread } from '../../../topics/analytics/operations/spread-row.ts'
import { Shown, WhoBringsData } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { overTime } from '../../parts/charts/lines.ts'
import { Choice } from '../../parts/fields.tsx'
import { dataOf, useLoaded, whereThere } from '../../parts/requests/ask.ts'
import { boot, dayAgo } from '../../parts/requests/boot.ts'
import { allRows } from '../../parts/requests/pages.ts'
import { Move } from '../../parts/tables/move.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { sets } from '../../parts/text/form.ts'
import { formulaText, number } from '../../parts/text/format.ts'

const kinds = [
  { value: 'crack', text: 'Cracks' },
  { value: 'refining-margin', text: 'Margins' },
  { value: 'basis', text: 'Basis' },
  { value: 'physical-premium', text: 'Premiums' },
] as const

export function Spreads() {
  const { query } = useLocation()
  const linked = kinds.find(({ value }) => value === query.kind)?.value
  const kind = useSignal<(typeof kinds)[number]['value']>(linked ?? 'crack')
  const chosen = useSignal(query.id)
  const answer = useLoaded(kind.value, async signal => {
    const wanted = kind.value
    const spreads = boot.spreads.includes(wanted)
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
            No spreads of this kind: the prices they are calculated from are missing or too old.{' '}
            <WhoBringsData />
          </>
        }
        actions={<Choice label="Kind" options={kinds} of={kind} />}
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
          numeric('24 h', 'change_24h', row => <Move change={row.change_24h} />),
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
  const path = `/v1/spreads/${kind}/historical?id=${spread.id}&start_date=${dayAgo(365)}`
  const answer = useLoaded(path, signal => allRows<SpreadDay>(path, 'data', signal))
  return (
    <section class="card" aria-labelledby="spread">
      <h2 id="spread">{formulaText(spread.name)}</h2>
      <Shown of={answer} what="the past year">
        {days => (
          <Chart
            title={`${spread.name}, ${spread.unit}`}
            height={260}
            decimals={2}
            {...overTime(days, [spread.unit, ({ value }) => value])}
          />
        )}
      </Shown>
    </section>
  )
}
