import type { Clock } from '../../lib/clock.ts'
import { startOfMonth, startOfNextMonth } from '../../lib/instant.ts'
import type { WebhookMonthStore } from '../../store/webhooks/months.ts'

/**
 * The events of each account in the running month, counted in memory and written behind: a crash
 * loses what was not flushed, in the customer's favour.
 */
export interface WebhookAllowance {
  /** Events made for the account this month. */
  used(accountId: string): number
  count(accountId: string, events: number): void
  /** Writes everything that waits, in the caller's transaction or one each. */
  flush(): void
}

interface Count {
  startsAt: number
  events: number
}

export function createWebhookAllowance(store: WebhookMonthStore, clock: Clock): WebhookAllowance {
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
    const held = counts.get(accountId)
    if (held?.startsAt === startsAt) return held
    const made = { startsAt, events: store.count(accountId, startsAt) }
    counts.set(accountId, made)
    return made
  }
  return {
    used: accountId => current(accountId).events,
    count(accountId, events) {
      const one = current(accountId)
      one.events += events
      dirty.set(accountId, one)
    },
    flush() {
      for (const [accountId, one] of dirty) store.put({ accountId, ...one })
      dirty.clear()
    },
  }
}
