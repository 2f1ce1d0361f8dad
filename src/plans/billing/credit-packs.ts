import { thousands } from '../../lib/text/text.ts'
/** Requests that are sold alongside a plan. */
export interface CreditPack {
  id: string
  name: string
  requests: number
  priceCents: number
  /** Null: they do not expire. */
  expiresAfterDays: number | null
}

const pattern = /^(pack_[a-z0-9_]{1,40}):([1-9]\d{0,11}):(0|[1-9]\d{0,11})(?::([1-9]\d{0,4}))?$/

/**
 * Reads `pack_10k:10000:900:365`: id, requests, price in minor units, days until they expire
 * (absent: never). Undefined for anything else.
 */
export function creditPackOf(text: string): CreditPack | undefined {
  const parts = pattern.exec(text)
  if (!parts) return undefined
  const requests = Number(parts[2])
  return {
    id: parts[1]!,
    requests,
    priceCents: Number(parts[3]),
    expiresAfterDays: parts[4] === undefined ? null : Number(parts[4]),
    name: `${thousands(String(requests))} requests`,
  }
}
