import type { BoardRow } from '../../../topics/prices/operations/board.ts'
import { Move } from '../tables/move.tsx'
import { ago, decimalsOf, number, unitOf } from '../text/format.ts'
import { RangeBar } from './range-bar.tsx'

/** The lowest and the highest price of a year. */
export interface Year {
  min_52w: number
  max_52w: number
}

const dots = { current: 'good', delayed: 'warn', stale: 'bad' } as const

/** The latest price of a code, its move, its place in a year and, by a dot, whether it is late. */
export function QuoteTile({ row, year }: { row: BoardRow; year: Year | undefined }) {
  const digits = decimalsOf(row.formatted)
  // The percentage of a count, as of rigs or permits, means little.
  const change =
    row.change_24h && row.currency === null ? { ...row.change_24h, percent: null } : row.change_24h
  return (
    <>
      <span class="small quiet">
        <i class={`dot ${dots[row.data_status]}`} title={row.data_status} /> {row.name}
      </span>
      <span class="row spread" title={`Observed ${ago(row.created_at)}`}>
        <b>{number(row.price, digits)}</b>
        <span class="small">
          <Move change={change} digits={digits} cadence={row.cadence} />
        </span>
      </span>
      <span class="row place">
        {year && <RangeBar low={year.min_52w} high={year.max_52w} value={row.price} />}
        <span class="small quiet">{unitOf(row.currency, row.unit)}</span>
      </span>
    </>
  )
}
