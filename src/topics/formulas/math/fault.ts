export const faultReasons = [
  'syntax',
  'unknown_code',
  'unknown_function',
  'unknown_unit',
  'unknown_currency',
  'units',
  'currency',
  'arguments',
  'cycle',
  'too_long',
  'too_deep',
] as const
export type FaultReason = (typeof faultReasons)[number]

/** A place in the text of a formula; columns count characters from 1. */
export interface Spot {
  column: number
  length: number
}

/** Why a formula cannot be computed, and the position in its text. */
export class FormulaFault extends Error {
  constructor(
    readonly reason: FaultReason,
    readonly spot: Spot,
    message: string,
    /** The codes of a cycle, from the series back to it. */
    readonly path?: readonly string[],
  ) {
    super(message)
  }
}

/** The whole of a formula. */
export const whole: Spot = { column: 1, length: 1 }
