import { type EventType, isPermitEvent } from '../../../plans/event-types.ts'
import { hasFeature } from '../../../plans/plans.ts'
import { entitledNow, type Keyring } from '../../keys/service/keyring.ts'
import type { WebhookAllowance } from './allowance.ts'

/** How many events an account may have. */
export type EventLimits = ReturnType<typeof createEventLimits>

export const createEventLimits = (keys: Keyring, allowance: WebhookAllowance) => ({
  /** Events left of the account's month; undefined: its plan has none of the type. */
  roomFor(accountId: string, type: EventType) {
    const entitled = entitledNow(keys, accountId)
    if (
      !entitled ||
      !hasFeature(entitled, 'webhooks') ||
      (isPermitEvent(type) && !hasFeature(entitled, 'well_permits'))
    )
      return undefined
    return (entitled.webhookEventsPerMonth ?? Number.POSITIVE_INFINITY) - allowance.used(accountId)
  },
  /** Counts events of the month. */
  count(accountId: string, events: number) {
    if (events > 0) allowance.count(accountId, events)
  },
})
