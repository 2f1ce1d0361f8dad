/** Why a replica answers what may be old: how it names that in a header and a metric. */
export type StaleReason = 'behind' | 'cannot_apply' | 'gap' | 'other_lineage'

export const staleReasons: readonly StaleReason[] = [
  'behind',
  'cannot_apply',
  'gap',
  'other_lineage',
]
