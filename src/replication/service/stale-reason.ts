/** Why a replica may return old data, as named in a header and a metric. */
export type StaleReason = 'behind' | 'cannot_apply' | 'gap' | 'other_lineage'

export const staleReasons: readonly StaleReason[] = [
  'behind',
  'cannot_apply',
  'gap',
  'other_lineage',
]
