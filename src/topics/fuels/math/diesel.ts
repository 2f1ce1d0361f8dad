import { usStates } from '../../geography/math/us-states.ts'
import { changePercent } from '../../prices/math/change.ts'
import { roundTo } from '../../prices/math/format.ts'

export const dieselStates = usStates.map(state => state.code)

const stateCodes = new Set(dieselStates)

/** The average of the country. */
export const nationalDieselCode = 'DIESEL_US_NATIONAL_USD'

/** The series of a state's average pump price, by its two letters. */
export const dieselCode = (state: string): string => `DIESEL_${state}_USD`

/** The two letters of a state in any case; undefined for anything else. */
export function stateCode(text: string): string | undefined {
  const code = text.trim().toUpperCase()
  return stateCodes.has(code) ? code : undefined
}

export const metersAMile = 1609.344

/** The position of a price relative to the average of its region. */
export interface AgainstAverage {
  /** Price minus average, USD per gallon, to a tenth of a cent. */
  delta: number
  /** For people: `2.1% below average`. */
  text: string
}

export function againstAverage(price: number, average: number): AgainstAverage {
  const percent = roundTo(changePercent(average, price) ?? 0, 1)
  const text =
    percent === 0
      ? 'at average'
      : `${Math.abs(percent).toFixed(1)}% ${percent > 0 ? 'above' : 'below'} average`
  return { delta: roundTo(price - average, 3), text }
}
