/** The reliability of a formula's value, from best to worst. */
export const formulaStatuses = ['ok', 'stale', 'held', 'quarantined', 'incomplete'] as const
export type FormulaStatus = (typeof formulaStatuses)[number]

/** Those of a formula of an account, too: of hidden legs, or beyond the limit of the plan. */
export const ownStatuses = [...formulaStatuses, 'not_visible', 'suspended'] as const

/** Why a range has no value: no leg has one, a divisor is zero, or anything else. */
export const noValueReasons = ['no_times', 'division_by_zero', 'no_value'] as const
export type NoValueReason = (typeof noValueReasons)[number]

/** The worst of several. */
export const worstOf = (statuses: readonly FormulaStatus[]): FormulaStatus =>
  formulaStatuses[Math.max(0, ...statuses.map(status => formulaStatuses.indexOf(status)))]!
