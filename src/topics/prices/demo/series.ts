import type { Cadence } from '../../catalogue/math/catalogue.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'

/** What the world needs to know of a code of the catalogue. */
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
