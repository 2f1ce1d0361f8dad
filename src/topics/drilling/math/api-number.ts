import { type UsState, usStates } from '../../geography/math/us-states.ts'

/** A well as the American Petroleum Institute's scheme numbers it. */
export interface ApiNumber {
  /** Fourteen digits: state (2), county (3), well (5), sidetrack (2), completion (2). */
  digits: string
  /**
   * Undefined where the scheme has no such state; offshore areas have separate numbers and no
   * state.
   */
  state: UsState | undefined
}

const pattern = /^\d{2}-?\d{3}-?\d{5}(?:-?\d{2}(?:-?\d{2})?)?$/

/**
 * Ten, twelve or fourteen digits, with or without dashes; omitted digits are zeros. Undefined for
 * anything else.
 */
export function parseApiNumber(text: string): ApiNumber | undefined {
  const trimmed = text.trim()
  if (!pattern.test(trimmed)) return undefined
  const digits = trimmed.replaceAll('-', '').padEnd(14, '0')
  const prefix = digits.slice(0, 2)
  return {
    digits,
    state: usStates.find(state => state.apiPrefix === prefix),
  }
}
