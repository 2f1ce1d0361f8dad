import type { Clock } from '../../../lib/time/clock.ts'
import { startOfMonth, startOfNextMonth } from '../../../lib/time/instant.ts'
import type { WebhookMonthStore } from '../store/months.ts'

/**
 * Counts the events of each account in the current month in memory, and stores them later: after a
 * crash the customer has some more.
 */
export type WebhookAllowance = ReturnType<typeof createWebhookAllowance>

interface Count {
  startsAt: number
  events: number
}

export function createWebhookAllowance(store: WebhookMonthStore, clock: Clock) {
  const counts = new Map<string, Count>()
  const dirty = new Map<string, Count>()
  let month = { startsAt: Number.NaN, endsAt: Number.NaN }

  const running = (): number => {
    const now = clock.now()
    if (!(now >= month.startsAt && now < month.endsAt))
      month = { startsAt: startOfMonth(now), endsAt: startOfNextMonth(now) }
    return month.startsAt
  }
  const current = (accountId: string): Count => {
    const startsAt = running()
    const cached = counts.get(accountId)
    if (cached?.startsAt === startsAt) return cached
    const fresh = { startsAt, events: store.count(accountId, startsAt) }
    counts.set(accountId, fresh)
    return fresh
  }
  return {
    /** Events made for the account this month. */
    used: (accountId: string) => current(accountId).events,
    count(accountId: string, events: number) {
      const monthCount = current(accountId)
      monthCount.events += events
      dirty.set(accountId, monthCount)
    },
    /** Writes everything that waits. */
    flush() {
      if (dirty.size === 0) return
      store.write([...dirty].map(([accountId, monthCount]) => ({ accountId, ...monthCount })))
      dirty.clear()
    },
  }
}
