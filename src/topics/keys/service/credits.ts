import type { Clock } from '../../../lib/time/clock.ts'
import type { QuotaWindow } from '../../../plans/quota.ts'
import type { CreditLot, CreditStore } from '../store/credits.ts'
import type { KeyState } from './keyring.ts'

/** A bought request that was taken, so that it can be given back. */
export interface TakenCredit {
  accountId: string
  purchaseId: string
  expiresAt: number | null
}

/**
 * Bought requests, in memory and written asynchronously like the counters of quotas. They are read
 * only when a quota is used up, so that all other requests pay nothing for them.
 */
export type Credits = ReturnType<typeof createCredits>

export function createCredits(store: CreditStore, clock: Clock) {
  const lotsByAccount = new Map<string, CreditLot[]>()
  const dirty = new Set<CreditLot>()

  const lotsOf = (accountId: string): CreditLot[] => {
    const cached = lotsByAccount.get(accountId)
    if (cached) return cached
    const lots = store.lots(accountId)
    lotsByAccount.set(accountId, lots)
    return lots
  }
  const isGood = ({ remaining, expiresAt }: CreditLot, now: number) =>
    remaining > 0 && (expiresAt === null || now < expiresAt)

  return {
    remaining(accountId: string) {
      const lots = lotsOf(accountId)
      if (lots.length === 0) return 0
      const now = clock.now()
      return lots.reduce((sum, lot) => (isGood(lot, now) ? sum + lot.remaining : sum), 0)
    },
    /** The lots that are good, those that are used first in front. */
    left(accountId: string): readonly CreditLot[] {
      const now = clock.now()
      return lotsOf(accountId).filter(lot => isGood(lot, now))
    },
    /** Takes one, of those that expire first; undefined when there is none. */
    take(accountId: string): TakenCredit | undefined {
      const now = clock.now()
      const lot = lotsOf(accountId).find(candidate => isGood(candidate, now))
      if (!lot) return undefined
      lot.remaining -= 1
      dirty.add(lot)
      return { accountId, purchaseId: lot.purchaseId, expiresAt: lot.expiresAt }
    },
    giveBack({ accountId, purchaseId, expiresAt }: TakenCredit) {
      const lots = lotsOf(accountId)
      let lot = lots.find(candidate => candidate.purchaseId === purchaseId)
      if (!lot) {
        // It was the last one of its lot, and the lots have been read again since.
        lot = { purchaseId, expiresAt, remaining: 0 }
        lots.unshift(lot)
      }
      lot.remaining += 1
      dirty.add(lot)
    },
    /**
     * Reads an account's lots again, after one was added or has lapsed. Inside the transaction that
     * changed them; `flush` comes first.
     */
    reload: (accountId: string) => void lotsByAccount.delete(accountId),
    /** Writes the credits that were taken. */
    flush() {
      if (dirty.size === 0) return
      store.write([...dirty])
      dirty.clear()
    },
    /** Drops what is in memory without writing it. */
    reset() {
      lotsByAccount.clear()
      dirty.clear()
    },
  }
}

/** Requests that were bought: which one stands behind a window that was answered for one. */
export function createBoughtRequests(credits: Credits | undefined) {
  const creditByWindow = new WeakMap<QuotaWindow, TakenCredit>()
  return {
    /** A new window object, so that the request can be given back; undefined: none is left. */
    take({ account }: KeyState, window: QuotaWindow): QuotaWindow | undefined {
      const credit = credits?.take(account.account.id)
      if (!credit) return undefined
      const copy = { ...window }
      creditByWindow.set(copy, credit)
      return copy
    },
    /** False: the window is that of a quota. */
    giveBack(window: QuotaWindow): boolean {
      const credit = creditByWindow.get(window)
      if (!credit) return false
      creditByWindow.delete(window)
      credits?.giveBack(credit)
      return true
    },
  }
}
