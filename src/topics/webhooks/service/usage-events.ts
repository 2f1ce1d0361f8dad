import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { quotaPeriods } from '../../../plans/plans.ts'
import { percentUsed } from '../../../plans/quota.ts'
import type { QuotaReach } from '../../keys/service/quota-notices.ts'
import type { UsageWarningStore } from '../../keys/store/usage-warnings.ts'
import type { Mail } from '../../messages/service/mail.ts'
import type { Notices } from '../../messages/service/notices.ts'
import type { Events } from './events.ts'

export interface UsageEventsDeps extends Pick<Runtime, 'db' | 'clock'> {
  warnings: UsageWarningStore
  events: Pick<Events, 'emit'>
  notices: Notices
  mail: Pick<Mail, 'post' | 'pageUrl'>
}

/**
 * Notifies the owner of a key, once per window, that 80 and that 100 percent of its requests are
 * used: by event and in the account's notifications, and by e-mail at 100 percent.
 */
export const createUsageEvents =
  ({ db, warnings, events, notices, mail, clock }: UsageEventsDeps) =>
  ({ key: state, window, used, percent }: QuotaReach): void => {
    const at = clock.now()
    const accountId = state.account.account.id
    const keyId = state.key.id
    const { period } = quotaPeriods[window.kind]
    const isSpent = percent === 100
    const data = {
      resource: 'requests',
      usage: used,
      limit: window.limit,
      percentage: percentUsed(window, used),
      period,
      key_id: keyId,
      reset_at: isoInstant(window.endsAt),
      timestamp: isoInstant(at),
    }
    transact(db, () => {
      if (!warnings.note(keyId, window.startsAt, percent)) return
      events.emit({
        type: isSpent ? 'usage.limit_exceeded' : 'usage.limit_warning',
        data: isSpent ? { ...data, exceeded_at: isoInstant(at) } : data,
        dedupe: `${keyId} ${window.kind} ${window.startsAt}`,
        accountId,
        at,
      })
      const name = state.key.name === null ? state.key.tokenHint : `"${state.key.name}"`
      const message = `The API key ${name} has used ${used} of the ${window.limit} requests of this ${period}. The quota resets at ${isoInstant(window.endsAt)}.`
      const title = isSpent ? 'The quota is used up' : `${percent}% of the quota is used`
      notices.post(
        { accountId, type: 'usage', title, message, data: { key_id: keyId, percent } },
        at,
      )
      if (!isSpent) return
      mail.post({
        to: state.account.account.email,
        subject: title,
        text: `${message}\n\nRequests are refused until then. Usage by day and key: ${mail.pageUrl('/account/usage')}\n\nA higher plan applies at once: ${mail.pageUrl('/account/plan')}\n`,
        isNotice: true,
        accountId,
        dedupe: `usage ${keyId} ${window.kind} ${window.startsAt}`,
      })
    })
  }
