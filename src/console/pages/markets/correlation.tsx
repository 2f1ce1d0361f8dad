import { useSignal } from '@preact/signals'
import type { CorrelationMatrix } from '../../../topics/analytics/operations/correlation.ts'
import { noData } from '../../parts/bits.tsx'
import { tint } from '../../parts/charts/tint.ts'
import { Choice } from '../../parts/fields.tsx'
import { dataOf, useLoaded } from '../../parts/requests/ask.ts'
import { codes, loadCodes } from '../../parts/requests/codes.ts'
import { seriesLink } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { signed } from '../../parts/text/format.ts'

const names: Readonly<Record<string, string>> = {
  WTI_USD: 'WTI',
  BRENT_CRUDE_USD: 'Brent',
  DUBAI_CRUDE_USD: 'Dubai',
  GASOLINE_USD: 'Gasoline',
  HEATING_OIL_USD: 'Heating oil',
  NATURAL_GAS_USD: 'Henry Hub',
  DUTCH_TTF_EUR: 'TTF',
  EU_CARBON_EUR: 'EU carbon',
}

type Matrix = Pick<CorrelationMatrix, 'codes' | 'matrix'>

const periods = [
  { value: '30', text: '30 days' },
  { value: '90', text: '90 days' },
  { value: '365', text: '1 year' },
] as const

/** The correlations between the daily returns of the main prices. */
export function Correlation() {
  const period = useSignal<(typeof periods)[number]['value']>('90')
  const answer = useLoaded(period.value, async (signal): Promise<Matrix> => {
    await loadCodes()
    // One code without prices would refuse them all.
    const known = Object.keys(names).filter(name => codes.value.some(({ code }) => code === name))
    if (known.length < 2) return { codes: [], matrix: {} }
    return dataOf(
      `/v1/analytics/correlation?type=matrix&codes=${known.join(',')}&period=${period.value}`,
      { signal },
    )
  })
  const matrix: Matrix['matrix'] = answer.data?.matrix ?? {}
  return (
    <Table
      caption="Price correlation"
      file={`correlation-${period.value}-days`}
      className="heat"
      of={answer}
      rows={answer.data?.codes}
      empty={noData('There are too few prices for a correlation. Choose a longer period.')}
      note="Correlation of daily returns: 1 means in step, 0 unrelated, −1 opposite."
      actions={<Choice label="Period" options={periods} of={period} />}
      columns={({ column, numeric }) => [
        column('Series', (code: string) => code, { show: code => seriesLink(code, names[code]) }),
        ...(answer.data?.codes ?? []).map(other =>
          numeric(names[other] ?? other, (code: string) => matrix[code]?.[other], {
            fileName: other,
            show: (code: string) => <Coefficient value={matrix[code]?.[other] ?? null} />,
          }),
        ),
      ]}
    />
  )
}

function Coefficient({ value }: { value: number | null }) {
  if (value === null) return <>–</>
  return (
    <span class="cell" style={tint(value, 40)}>
      {signed(value, 2)}
    </span>
  )
}
