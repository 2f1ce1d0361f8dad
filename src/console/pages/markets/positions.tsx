import { useSignal } from '@preact/signals'
import type { Positions } from '../../../topics/analytics/operations/indicator-lists.ts'
import { Shown } from '../../parts/bits.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { overTime } from '../../parts/charts/lines.ts'
import { Choice } from '../../parts/fields.tsx'
import { has } from '../../parts/person/account.ts'
import { ask, useLoaded } from '../../parts/requests/ask.ts'
import { Move } from '../../parts/tables/move.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { number } from '../../parts/text/format.ts'

const markets = [
  { value: 'WTI', text: 'WTI' },
  { value: 'BRENT', text: 'Brent' },
  { value: 'NATURAL_GAS', text: 'Henry Hub' },
  { value: 'RBOB', text: 'Gasoline' },
  { value: 'HEATING_OIL', text: 'Heating oil' },
] as const

const reports = 100

/** The positions of managed money, report by report. */
export function PositionsView() {
  const market = useSignal<(typeof markets)[number]['value']>('WTI')
  const answer = useLoaded(market.value, signal =>
    ask<{ data: Positions[] }>(
      `/v1/indicators/cftc-positioning?market=${market.value}&per_page=${reports}`,
      { signal },
    ),
  )
  return (
    <>
      <section class="card" aria-labelledby="positions">
        <div class="row spread">
          <h2 id="positions">Managed-money positions, contracts</h2>
          {has('calculated_metrics') && <Choice label="Market" options={markets} of={market} />}
        </div>
        <Shown
          of={answer}
          what="positions"
          about="Long, short and net positions of managed money in energy futures, week by week."
        >
          {({ data }) => (
            <Chart
              title="Managed-money positions, contracts"
              decimals={0}
              {...overTime(
                data.map(row => ({ ...row, date: row.report_date })),
                ['Net', row => row.net_position],
                ['Long', row => row.managed_money_long, '--ink-3'],
                ['Short', row => row.managed_money_short, '--ink-2'],
              )}
            />
          )}
        </Shown>
      </section>
      {!answer.refusal && (
        <Table
          caption="Reports"
          file={`positions-${market.value.toLowerCase()}`}
          of={answer}
          rows={answer.data?.data}
          isTall
          empty="No reports for this market yet. The operator imports them or enables the feed."
          columns={({ column, numeric }) => [
            column('As of', 'report_date'),
            ...(
              [
                ['Long', 'managed_money_long', true],
                ['Short', 'managed_money_short', true],
                ['Net', 'net_position', false],
                ['Open interest', 'open_interest', true],
              ] as const
            ).map(([name, field, isWide]) =>
              numeric(name, (row: Positions) => row[field], {
                isWide,
                show: (row: Positions) => number(row[field], 0),
              }),
            ),
            numeric('Change', 'change', row => <Move change={row.change} digits={0} />),
          ]}
        />
      )}
    </>
  )
}
