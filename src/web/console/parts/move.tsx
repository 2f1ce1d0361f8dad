import { signed } from './format.ts'

export interface Change {
  amount: number
  percent: number | null
}

/** A change in percent, or in the unit where a percentage means nothing. */
export function Move({ change }: { change: Change | null | undefined }) {
  if (!change) return <span class="quiet">–</span>
  const { amount, percent } = change
  const way = amount > 0 ? 'up' : amount < 0 ? 'down' : ''
  return (
    <span class={`move ${way}`}>
      {percent === null ? signed(amount) : `${signed(percent, 2)} %`}
    </span>
  )
}
