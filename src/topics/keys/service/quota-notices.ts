import type { QuotaWindow } from '../../../plans/quota.ts'
import type { Keyring, KeyState } from './keyring.ts'
import { type Count, nextNoticeAt, noticePercents, type RunningCount } from './meter-counts.ts'

/** A key whose requests have reached a share of their quota. */
export interface QuotaReach {
  key: KeyState
  window: QuotaWindow
  used: number
  percent: number
}

/** Notifies listeners of the shares of a quota that a key has reached. */
export function createQuotaNotices(
  keys: Keyring,
  usedOf: (key: KeyState, count: RunningCount) => number,
) {
  const listeners: ((reach: QuotaReach) => void)[] = []
  return {
    listen: (listener: (reach: QuotaReach) => void) => void listeners.push(listener),
    written(count: Count) {
      const { period } = count
      if (!period || listeners.length === 0) return
      const key = keys.byId(count.keyId)
      if (!key) return
      const used = usedOf(key, count as RunningCount)
      while (used >= period.nextNoticeAt) {
        const percent = noticePercents[period.noticesGiven]!
        for (const listener of listeners) listener({ key, window: period.window, used, percent })
        period.noticesGiven += 1
        period.nextNoticeAt = nextNoticeAt(period.window, period.noticesGiven)
      }
    },
  }
}
