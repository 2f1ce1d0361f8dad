import { objectIn } from '../../lib/text/json.ts'
import type { QuotaWindow } from '../../plans/quota.ts'
import type { Stored } from './foreign.ts'

/** The available and requested parts of a key's quota. */
export interface QuotaPool {
  /** The window that it is of; see `windowName`. */
  window: string
  /** Requests that the quota is charged with, and that no one has taken. */
  pool: number
  /** Requests that someone waits for; 0: no one. */
  wants: number
}

export const windowName = ({ kind, startsAt }: Pick<QuotaWindow, 'kind' | 'startsAt'>): string =>
  `${kind} ${startsAt}`

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0

/** Parses a pool; any other text counts as an empty one. */
export function readPool(text: string): QuotaPool {
  const pool: Stored<QuotaPool> = objectIn(text)
  const isPool = typeof pool?.window === 'string' && isCount(pool.pool) && isCount(pool.wants)
  return isPool ? (pool as QuotaPool) : { window: '', pool: 0, wants: 0 }
}
