import { signed } from '../text/format.ts'

export interface Change {
  amount: number
  percent: number | null
}

interface MoveProps {
  /** A number is an amount. */
  change: Change | number | null | undefined
  /** The decimals of an absolute change. */
  digits?: number
}

/** A change in percent, or in the unit where a percentage means nothing. */
export function Move({ change, digits = 2 }: MoveProps) {
  if (change === null || change === undefined) return <span class="quiet">–</span>
  const { amount, percent } =
    typeof change === 'number' ? { amount: change, percent: null } : change
  const way = amount > 0 ? 'up' : amount < 0 ? 'down' : ''
  return (
    <span class={`move ${way}`}>
      {percent === null ? signed(amount, digits) : `${signed(percent, 2)}%`}
    </span>
  )
}
