import { useSignal } from '@preact/signals'
import { Empty, Shown } from '../../parts/bits.tsx'
import { tint } from '../../parts/charts/tint.ts'
import { Choice } from '../../parts/fields.tsx'
import { now } from '../../parts/requests/boot.ts'
import { Heat } from '../../parts/tables/heat.tsx'
import { signed } from '../../parts/text/format.ts'
import { monthNames } from '../../parts/text/writing.ts'
import type { ChartAnswer } from '../series/answer.ts'
import { useChart } from '../series/chart.ts'

const seasonal = [
  { value: 'NATURAL_GAS_USD', text: 'Henry Hub' },
  { value: 'BRENT_CRUDE_USD', text: 'Brent' },
  { value: 'GASOLINE_USD', text: 'Gasoline' },
  { value: 'HEATING_OIL_USD', text: 'Heating oil' },
] as const

/** How much each month of each year brought, in percent. */
export function Seasons() {
  const code = useSignal<(typeof seasonal)[number]['value']>('NATURAL_GAS_USD')
  const from = `${new Date(now()).getUTCFullYear() - 9}-01-01`
  const answer = useChart(code.value, from, 'month')
  return (
    <section class="card" aria-labelledby="seasons">
      <div class="row spread">
        <h2 id="seasons">Monthly returns, percent</h2>
        <Choice label="Series" options={seasonal} of={code} />
      </div>
      <Shown of={answer} what="months">
        {data => <Returns data={data} />}
      </Shown>
    </section>
  )
}

function Returns({ data }: { data: ChartAnswer }) {
  const years = new Map<number, (number | undefined)[]>()
  data.times.forEach((time, i) => {
    const at = new Date(time * 1000)
    const before = data.close[i - 1]
    const row = years.get(at.getUTCFullYear()) ?? []
    if (before !== undefined && before > 0)
      row[at.getUTCMonth()] = (100 * (data.close[i]! - before)) / before
    if (row.length > 0) years.set(at.getUTCFullYear(), row)
  })
  const means = monthNames.map((_, month) => {
    const values = [...years.values()].flatMap(row => row[month] ?? [])
    return values.length > 1
      ? values.reduce((sum, value) => sum + value, 0) / values.length
      : undefined
  })
  const rows = [
    ...[...years].reverse().map(([year, row]) => [String(year), row] as const),
    ...(years.size > 1 ? [['Mean', means] as const] : []),
  ]
  if (data.times.length === 0)
    return (
      <Empty>{data.name} has no prices yet. The operator imports them or enables a feed.</Empty>
    )
  return (
    <Heat
      label="Return of each month of each year, percent"
      corner="Year"
      heads={monthNames}
      rows={rows.map(([name, row]) => ({
        name,
        cells: monthNames.map((_, i) => returnOf(row[i])),
      }))}
    />
  )
}

/** From here on a return is tinted no stronger. */
const strongestPercent = 18

const returnOf = (percent: number | undefined) =>
  percent === undefined
    ? undefined
    : {
        text: signed(percent, 1),
        style: tint(Math.max(-1, Math.min(1, percent / strongestPercent)), 45),
      }
