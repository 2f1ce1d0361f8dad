import type { ByBasin as Basin } from '../../../topics/drilling/operations/energy-rig-counts.ts'
import type { RigCountWeek } from '../../../topics/drilling/operations/national-rig-counts.ts'
import { Empty, Figure, noData, Shown } from '../../parts/bits.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { overTime } from '../../parts/charts/lines.ts'
import { useAnswer, useLoaded } from '../../parts/requests/ask.ts'
import { allRows } from '../../parts/requests/pages.ts'
import { Move } from '../../parts/tables/move.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { number, orDash, signed, words } from '../../parts/text/format.ts'

/** Active rigs in the United States, by week and by basin. */
export function Rigs() {
  const weeks = useLoaded('rigs', signal =>
    allRows<RigCountWeek>('/v1/rig-counts/historical?period=5y', 'data', signal),
  )
  const basins = useAnswer<{ data: Basin[] }>(
    weeks.data?.length ? '/v1/ei/rig_counts/by_basin' : undefined,
  )
  return (
    <>
      <section class="card" aria-labelledby="rigs">
        <h2 id="rigs">Active rigs in the United States</h2>
        <Shown of={weeks} what="rigs">
          {newestFirst => {
            const [last, before, yearBefore] = [newestFirst[0], newestFirst[1], newestFirst[52]]
            if (!last) return <Empty>{noData('No rig counts yet.')}</Empty>
            return (
              <>
                <div class="figures">
                  <Figure label={`Week of ${last.date}`}>{number(last.total)}</Figure>
                  {before && (
                    <Figure label="Weekly change">{signed(last.total - before.total, 0)}</Figure>
                  )}
                  {yearBefore && (
                    <Figure label="Yearly change">
                      {signed(last.total - yearBefore.total, 0)}
                    </Figure>
                  )}
                  <Figure label="Oil">{orDash(number)(last.oil)}</Figure>
                  <Figure label="Gas">{orDash(number)(last.gas)}</Figure>
                </div>
                <Chart
                  title="Rigs by week"
                  decimals={0}
                  {...overTime(
                    newestFirst,
                    ['All', ({ total }) => total],
                    ['Oil', ({ oil }) => oil],
                    ['Gas', ({ gas }) => gas],
                  )}
                />
              </>
            )
          }}
        </Shown>
      </section>
      {weeks.data && weeks.data.length > 0 && (
        <Table
          caption="By basin"
          file="rigs-by-basin"
          of={basins}
          rows={basins.data?.data}
          empty="No rig counts by basin yet. The operator imports them or enables the feed."
          note={basins.data?.data[0] && `Week of ${basins.data.data[0].date}.`}
          columns={({ column, numeric }) => [
            column('Basin', ({ basin }) => basinName(basin)),
            numeric('Rigs', 'rig_count'),
            numeric('Week', 'change', row => <Move change={row.change} digits={0} />),
            numeric('Year', 'year_change', row => <Move change={row.year_change} digits={0} />),
          ]}
        />
      )}
    </>
  )
}

/** Basins are places, with capitals; `dj_niobrara` has initials. */
const basinName = (basin: string): string =>
  basin
    .split('_')
    .map(word => (word.length < 3 ? word.toUpperCase() : words(word)))
    .join(' ')
