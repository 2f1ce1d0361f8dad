import type { AllRow as Priced } from '../../topics/catalogue/operations/price-lists.ts'
import { useData } from '../parts/requests/ask.ts'
import type { Code } from '../parts/requests/codes.ts'
import { aside, seriesLink } from '../parts/tables/columns.tsx'
import { Move } from '../parts/tables/move.tsx'
import { Table } from '../parts/tables/table.tsx'
import { ago, decimalsOf, number, unitOf, words } from '../parts/text/format.ts'

/** A value and its change are written with the same digits; a count, as of wells, has none. */
const digitsOf = ({ price, currency, change_24h: change }: Priced): number =>
  Math.max(currency === null ? 0 : 2, decimalsOf(price), decimalsOf(change ?? 0))

/** Every series with its newest value; search results are sorted by relevance. */
export function Catalogue({
  codes: listed,
  isSearch,
  isTall = false,
}: {
  codes: readonly Code[]
  isSearch: boolean
  isTall?: boolean
}) {
  const prices = useData<{ prices: Record<string, Priced> }>('/v1/prices/all')
  const priceOf = ({ code }: Code): Priced | undefined => prices.data?.prices[code]
  return (
    <Table
      caption="All series"
      file="series"
      of={{ isLoading: false, refusal: prices.refusal }}
      rows={listed}
      keyOf={({ code }) => code}
      empty="No series."
      isTall={isTall}
      // The page of all series already has a search.
      hasSearch={!isTall}
      groupOf={isSearch ? undefined : ({ category }) => words(category)}
      columns={({ column, numeric }) => [
        column('Name', 'name', ({ code, name }) => seriesLink(code, name)),
        column('Code', 'code', { className: 'code', isWide: true }),
        {
          name: 'Category',
          isWide: true,
          // The headings between the rows have it already.
          isFileOnly: !isSearch,
          className: 'quiet',
          value: ({ category }) => words(category),
        },
        numeric('Last', code => priceOf(code)?.price, {
          show: code => {
            const price = priceOf(code)
            if (!price) return '–'
            return number(price.price, digitsOf(price))
          },
        }),
        column(
          'Unit',
          code => {
            const price = priceOf(code)
            return price && unitOf(price.currency, price.unit)
          },
          { isWide: true, className: 'quiet' },
        ),
        numeric('Change', code => priceOf(code)?.change_24h_percent, {
          fileName: 'change_percent',
          show: code => {
            const price = priceOf(code)
            const amount = price?.change_24h ?? null
            return (
              <Move
                change={
                  price && amount !== null
                    ? { amount, percent: price.currency === null ? null : price.change_24h_percent }
                    : null
                }
                digits={price ? digitsOf(price) : 2}
              />
            )
          },
        }),
        numeric('Observed', code => priceOf(code)?.created_at, {
          ...aside,
          fileName: 'observed_at',
          write: (observed: string | undefined) => (prices.data ? ago(observed) : '–'),
        }),
      ]}
    />
  )
}
