import type { Ids } from '../../lib/ids.ts'
import { dayMs, hourMs, minuteMs } from '../../lib/time/instant.ts'
import { browsingLimits, type Limits } from '../../plans/limits.ts'
import { createRateTable, type RateSave, type RateTable } from '../../plans/rates/rate.ts'

export type RateClassName =
  | 'authenticated'
  | 'unauthenticated'
  | 'overQuota'
  | 'marine'
  | 'marineHistorical'
  | 'demo'
  | 'browsing'
  | 'browsingDay'

/** One rolling window of each class, keyed by API key or client address. */
export type RateTables = ReturnType<typeof createRateTables>

export type SavedRates = Partial<Record<RateClassName, RateSave>>

/**
 * Memory that anonymous clients can fill: together under 64 MB. The demo allows each address fewer
 * requests, so it needs less for as many addresses.
 */
const bytesByAddress = 53 * 2 ** 20
const bytesOfDemo = 7 * 2 ** 20
/** The size of one full log: 12 bytes for each millisecond in which a request was admitted. */
const logBytes = (limit: number, windowMs: number) => Math.min(limit, windowMs) * 12
/**
 * An operator who allows very many requests an address gets the memory that one busy address needs.
 */
const bytesByAddressMax = (limit: number, windowMs: number, bytes: number) =>
  Math.max(bytes, logBytes(limit, windowMs) * 16)
/**
 * Keys are as many as the operator made, so their tables are bounded by what one key may fill: a
 * part of a table (there are 64) must hold the whole log of a busy key with room to be copied.
 * Nothing of it is taken before it is used.
 */
const bytesByKeyMax = (limit: number, windowMs: number) =>
  Math.max(16 * 2 ** 20, 64 * logBytes(limit, windowMs) * 4)

/**
 * A random seed (52 bits) that keeps outsiders from predicting the slots of keys in the tables.
 */
export const rateSeed = (ids: Ids): number => Number.parseInt(ids.token().slice(0, 13), 16)

export function createRateTables(limits: Limits, seed: number) {
  const byKey = (limit: number, windowMs = minuteMs) =>
    createRateTable({ limit, windowMs, seed, bytesMax: bytesByKeyMax(limit, windowMs) })
  const byAddress = (limit: number, windowMs: number, bytes: number) =>
    createRateTable({ limit, windowMs, seed, bytesMax: bytesByAddressMax(limit, windowMs, bytes) })
  const tables: Record<RateClassName, RateTable> = {
    authenticated: byKey(limits.perMinute),
    unauthenticated: byAddress(limits.unauthenticated, minuteMs, bytesByAddress),
    overQuota: byKey(limits.overQuota),
    marine: byKey(limits.marine),
    marineHistorical: byKey(limits.marineHistorical),
    demo: byAddress(limits.demoPerHour, hourMs, bytesOfDemo),
    browsing: byKey(browsingLimits.perMinute),
    browsingDay: byKey(browsingLimits.perDay, dayMs),
  }
  return {
    /** Keeps outsiders from predicting the slots of keys in the tables. */
    seed,
    /** Takes a slot for an API key, a client's address or a sign-in. */
    take: (name: RateClassName, holder: string, nowMs: number, limit?: number) =>
      tables[name].take(holder, nowMs, limit),
    /** The result that `take` would have, without taking a slot. */
    peek: (name: RateClassName, holder: string, nowMs: number, limit?: number) =>
      tables[name].peek(holder, nowMs, limit),
    clear() {
      for (const table of Object.values(tables)) table.clear()
    },
    /**
     * Saves the windows at a clean stop, and restores them `downMs` later; the seed must be the
     * same.
     */
    save: (nowMs: number) =>
      Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, table.save(nowMs)])),
    load(saved: SavedRates, nowMs: number, downMs: number) {
      for (const [name, save] of Object.entries(saved))
        tables[name as RateClassName]?.load(save, nowMs, downMs)
    },
  }
}
