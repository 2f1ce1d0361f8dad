import type { BoardRow } from '../../../topics/prices/operations/board.ts'
import { ago, decimalsOf, number, unitOf } from '../text/format.ts'
import { type Column, column, numeric, seriesLink } from './columns.tsx'
import { Move } from './move.tsx'

export const digitsOf = ({ formatted }: BoardRow): number => decimalsOf(formatted)

/** The columns of every list of prices; a page adds its own ones. */
export const priceColumns: Readonly<Record<'name' | 'last' | 'day', Column<BoardRow>>> = {
  name: column('Name', 'name', {
    fileName: 'name',
    show: ({ code, name }) => seriesLink(code, name),
  }),
  last: numeric('Last', 'price', {
    fileName: 'price',
    show: row => (
      <span class="strong" title={`Observed ${ago(row.created_at)}`}>
        {number(row.price, digitsOf(row))}
      </span>
    ),
  }),
  day: numeric('24 h', row => row.change_24h?.percent, {
    fileName: 'change_24h_percent',
    show: row => <Move change={row.change_24h} digits={digitsOf(row)} cadence={row.cadence} />,
  }),
}

/** What a file of prices has besides them. */
export const priceFileColumns: readonly Column<BoardRow>[] = [
  column('code', 'code', { isFileOnly: true }),
  column('unit', row => unitOf(row.currency, row.unit), { isFileOnly: true }),
]
