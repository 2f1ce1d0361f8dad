import { signed } from '../text/format.ts'
import { periodText } from '../text/writing.ts'

export interface Change {
  amount: number
  percent: number | null
}

interface MoveProps {
  /** A number is an amount. */
  change: Change | number | null | undefined
  /** The decimals of an absolute change. */
  digits?: number
  /** That of a code whose change may be longer than a day. */
  cadence?: string
}

/** A change in percent, or in the unit where a percentage means nothing. */
export function Move({ change, digits = 2, cadence }: MoveProps) {
  if (change === null || change === undefined) return <span class="quiet">–</span>
  const { amount, percent } =
    typeof change === 'number' ? { amount: change, percent: null } : change
  const way = amount > 0 ? 'up' : amount < 0 ? 'down' : ''
  return (
    <span class={`move ${way}`}>
      {percent === null ? signed(amount, digits) : `${signed(percent, 2)}%`}
      {periodText(cadence)}
    </span>
  )
}
