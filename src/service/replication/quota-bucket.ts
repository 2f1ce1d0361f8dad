import type { QuotaWindow } from '../../plan/quota.ts'

/** The bucket of what may be taken of quotas, by key. */
export const quotaBucket = 'wellhead-quotas'

/** What copies may take of the quota of a key, and what they ask for. */
export interface QuotaPool {
  /** The window that it is of; see `windowName`. */
  window: string
  /** Requests that the quota is charged with, and that nobody has taken. */
  pool: number
  /** Requests that somebody waits for; 0: nobody. */
  wants: number
}

export const windowName = ({ kind, startsAt }: Pick<QuotaWindow, 'kind' | 'startsAt'>): string =>
  `${kind} ${startsAt}`

export const readPool = (text: string): QuotaPool => JSON.parse(text) as QuotaPool
