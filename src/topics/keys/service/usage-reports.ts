import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs, hourMs, startOfDay } from '../../../lib/time/instant.ts'
import type { DayUsage } from '../../../plans/efficiency.ts'
import type { UsageStore } from '../store/usage.ts'
import type { UsageHour } from '../store/usage-batch.ts'
import { type AccountState, countedKeys, type KeyState } from './keyring.ts'
import type { RunningCounts } from './running-counts.ts'

/** Usage reports by key and by account. `settle` writes the pending counts of keys. */
export function createUsageReports(
  store: UsageStore,
  counts: RunningCounts,
  clock: Clock,
  settle: (keyIds: readonly string[]) => void,
) {
  const metered = (keyIds: readonly string[], from: number, to: number) => {
    settle(keyIds)
    return store.meteredByDay(keyIds, from, to)
  }
  const idsOf = (account: AccountState) => countedKeys(account).map(key => key.key.id)
  const sum = (days: readonly { requests: number }[]) =>
    days.reduce((total, day) => total + day.requests, 0)
  return {
    /** The key's requests of the running day, for the report of efficiency. */
    day(state: KeyState): DayUsage {
      const keyId = state.key.id
      const { tally } = counts.running(state, clock.now())
      const from = startOfDay(clock.now())
      const { etags, batchable, cacheable } =
        tally.dayAt === from ? tally : counts.tallyOf(keyId, from)
      return {
        requests: sum(metered([keyId], from, from + dayMs)),
        distinctCodes: etags.size,
        batchable,
        cacheable,
      }
    },
    /** Requests of the account that counted since the start of the month. */
    monthly: (account: AccountState, from: number) =>
      sum(metered(idsOf(account), from, clock.now() + hourMs)),
    /** Requests of the account that counted, per UTC day with any, oldest first. */
    daily: (
      account: AccountState,
      from: number,
      to: number,
    ): { dayAt: number; requests: number }[] => metered(idsOf(account), from, to),
    hours(states: readonly KeyState[], from: number, to: number): UsageHour[] {
      const keyIds = states.map(state => state.key.id)
      settle(keyIds)
      return store.hours(keyIds, from, to)
    },
  }
}
