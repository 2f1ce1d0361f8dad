export interface ChartAnswer {
  code: string
  name: string
  category: string
  currency: string | null
  unit: string
  cadence: string
  decimals: number
  interval: string
  from: string
  to: string
  as_of: string | null
  truncated: boolean
  times: number[]
  close: number[]
  open?: number[]
  high?: number[]
  low?: number[]
  volume?: (number | null)[]
  held_days: string[]
  quarantined_days: string[]
}

/** A stock, a count or an index has no currency, and none of the words of a price. */
export const isPrice = ({ currency }: Pick<ChartAnswer, 'currency'>): boolean => currency !== null
