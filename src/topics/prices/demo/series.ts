import type { Cadence } from '../../catalogue/math/catalogue.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'

/** The facts about a code of the catalogue that generation needs. */
export interface WorldSeries {
  code: string
  category: string
  cadence: Cadence
  /** The value around which the code moves, and its annual volatility as a fraction. */
  level: number
  volatility: number
  currency: string | null
  unit: string
  decimals: number
  available: boolean
  /** Present for a series of delivery periods. */
  delivery?: DeliveryTerms
}
