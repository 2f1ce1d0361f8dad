/**
 * Every route of the API: its permitted callers, its cost, a request that must succeed and its
 * response.
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

/** Operations that delete or replace come last, because other samples need their objects. */
export const interfaceRows = (listed as Row[]).toSorted(
  (a, b) => Number(takesAway(a)) - Number(takesAway(b)),
)
