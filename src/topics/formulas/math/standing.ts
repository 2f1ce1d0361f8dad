/** The reliability of a formula's value, from best to worst. */
export const formulaStatuses = ['ok', 'stale', 'held', 'quarantined', 'incomplete'] as const
export type FormulaStatus = (typeof formulaStatuses)[number]

/** The worst of several. */
export const worstOf = (statuses: readonly FormulaStatus[]): FormulaStatus =>
  formulaStatuses[Math.max(0, ...statuses.map(status => formulaStatuses.indexOf(status)))]!
