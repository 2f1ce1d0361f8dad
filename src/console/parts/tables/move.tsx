import { signed } from '../text/format.ts'

export interface Change {
  amount: number
  percent: number | null
}

/** A change in percent, or in the unit where a percentage means nothing. */
export function Move({
  change,
  digits = 2,
}: {
  change: Change | null | undefined
  /** The decimals of an absolute change. */
  digits?: number
}) {
  if (!change) return <span class="quiet">–</span>
  const { amount, percent } = change
  const way = amount > 0 ? 'up' : amount < 0 ? 'down' : ''
  return (
    <span class={`move ${way}`}>
      {percent === null ? signed(amount, digits) : `${signed(percent, 2)}%`}
    </span>
  )
}
