/**
 * Every route of the API: who may call it, what it costs, a request that must be answered and
 * how.
 */
import listed from '../../operations/interface.json'

export interface Row {
  method: string
  path: string
  access: 'key' | 'key-header-only' | 'keyless' | 'operator'
  /** One of these features, comma-separated; null for every plan. */
  feature: string | null
  metered: boolean
  success: number
  sample: string | null
  body?: unknown
}

/** A new phone number takes the place of the verified one. */
const takesAway = ({ method, path }: Row) =>
  method === 'DELETE' || (method === 'POST' && path === '/v1/phone')

/** What deletes or replaces comes last: the samples of the others need what it takes away. */
export const interfaceRows = (listed as Row[]).toSorted(
  (a, b) => Number(takesAway(a)) - Number(takesAway(b)),
)
