import type { SpreadRow as Spread } from '../../../topics/analytics/operations/spread-row.ts'
import { RangeBar } from '../../parts/charts/range-bar.tsx'
import { dataOf, useLoaded, whereThere } from '../../parts/requests/ask.ts'
import { boot, dayAgo } from '../../parts/requests/boot.ts'
import { Move } from '../../parts/tables/move.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { formulaText, number } from '../../parts/text/format.ts'

interface Shown extends Spread {
  kind: string
}

/** Those that can be computed from the prices of this instance. */
const shownKinds = ['crack', 'basis'].filter(kind => boot.spreads.includes(kind))
export const hasSpreads = shownKinds.length > 0
const perKind = 3

/** The lowest and the highest value of a year. */
async function rangeOf({ kind, id, value }: Shown, signal: AbortSignal) {
  const days = await dataOf<{ value: number }[]>(
    `/v1/spreads/${kind}/historical?id=${id}&start_date=${dayAgo(365)}&per_page=400`,
    { signal, isLater: true },
  )
  const values = [value, ...days.map(each => each.value)]
  return { id, low: Math.min(...values), high: Math.max(...values) }
}

/** The first cracks and basis spreads, with their place in the range of a year. */
export function SpreadsNow() {
  const answer = useLoaded('spreads now', async signal => {
    const all = await Promise.all(
      shownKinds.map(async kind => {
        const path = `/v1/spreads/${kind}/all`
        // Refused where the prices of a leg are too old: the other kind has its own legs.
        const spreads = await whereThere(dataOf<Spread[]>(path, { signal, isLater: true }))
        return (spreads ?? []).slice(0, perKind).map((spread): Shown => ({ ...spread, kind }))
      }),
    )
    return all.flat()
  })
  const ranges = useLoaded(answer.data && 'spread ranges', signal =>
    Promise.all(answer.data!.map(spread => rangeOf(spread, signal))),
  )
  const rangeFor = (spread: Shown) => ranges.data?.find(({ id }) => id === spread.id)
  return (
    <Table
      caption="Cracks and spreads"
      file="spreads-now"
      of={answer}
      rows={answer.data}
      note={[...new Set(answer.data?.map(({ unit }) => unit))].join(', ')}
      empty="No spreads now."
      columns={({ column, numeric }) => [
        column('Spread', 'name', ({ kind, id, name }) => (
          <a href={`/markets/spreads?kind=${kind}&id=${id}`}>{formulaText(name)}</a>
        )),
        numeric('Value', 'value', ({ value }) => number(value, 2)),
        numeric('24 h', 'change_24h', ({ change_24h: change }) => <Move change={change} />),
        column(
          'Year',
          spread => {
            const range = rangeFor(spread)
            return range && (spread.value - range.low) / (range.high - range.low || 1)
          },
          {
            isWide: true,
            show: spread => {
              const range = rangeFor(spread)
              return range && <RangeBar {...range} value={spread.value} decimals={2} />
            },
          },
        ),
      ]}
    />
  )
}
