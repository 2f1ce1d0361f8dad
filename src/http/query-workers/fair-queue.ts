import type { QueryWorkerOutcome, QueryWorkerRequest } from './messages.ts'

export interface Waiting {
  account: string
  question: Omit<QueryWorkerRequest, 'id'>
  settle(outcome: QueryWorkerOutcome): void
  /** When it began to wait, milliseconds of the monotonic clock. */
  since: number
}

/**
 * Requests are taken from accounts in rotation, so that an account with many only delays itself.
 */
export function createFairQueue(perAccountMax: number) {
  // A Map keeps the order of insertion: an account just served goes to the end.
  const accounts = new Map<string, Waiting[]>()
  let size = 0
  return {
    add(waiting: Waiting): boolean {
      const accountQueue = accounts.get(waiting.account) ?? []
      if (accountQueue.length >= perAccountMax) return false
      accountQueue.push(waiting)
      accounts.set(waiting.account, accountQueue)
      size += 1
      return true
    },
    take(): Waiting | undefined {
      const [first] = accounts
      if (!first) return undefined
      const [account, own] = first
      const next = own.shift()!
      accounts.delete(account)
      if (own.length > 0) accounts.set(account, own)
      size -= 1
      return next
    },
    /** Takes out what began to wait at `since` or before. */
    olderThan(since: number): Waiting[] {
      const old: Waiting[] = []
      for (const [account, own] of accounts) {
        while (own[0] && own[0].since <= since) old.push(own.shift()!)
        if (own.length === 0) accounts.delete(account)
      }
      size -= old.length
      return old
    },
    drain(): Waiting[] {
      const all = [...accounts.values()].flat()
      accounts.clear()
      size = 0
      return all
    },
    size: () => size,
  }
}
