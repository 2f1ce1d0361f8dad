import type { FamilyCode } from '../../market/futures/families.ts'
import type { GuardedColumn } from '../files/dataset.ts'

/** A contract settles wherever the market is: only what no market does is doubted. */
export const futuresPrice: GuardedColumn = { percent: 0.35, mayRepeat: true }

/** Whose known months count for a family. */
export const categoryOf = (family: FamilyCode): string => {
  if (/^(WTI|BRENT)/.test(family)) return 'crude_oil'
  if (/^(NATURAL_GAS|TTF|JKM)/.test(family)) return 'natural_gas'
  return /^(EUA|UKA)/.test(family) ? 'carbon' : 'refined_products'
}
