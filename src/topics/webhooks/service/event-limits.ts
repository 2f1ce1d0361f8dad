import type { Clock } from '../../../lib/time/clock.ts'
import { startOfDay } from '../../../lib/time/instant.ts'
import { type EventType, isPermitEvent } from '../../../plans/event-types.ts'
import { hasFeature } from '../../../plans/plans.ts'
import { entitledNow, type Keyring } from '../../keys/service/keyring.ts'
import type { WebhookAllowance } from './allowance.ts'

/**
 * Skipped events that an endpoint's log takes a day (UTC): a filter on one code turns hundreds of
 * others away every few minutes.
 */
export const skipsLoggedPerDay = 100

/** How many events an account may have, and how many skipped ones an endpoint's log. */
export interface EventLimits {
  /** Events left of the account's month; undefined: its plan has none of the type. */
  roomFor(accountId: string, type: EventType): number | undefined
  /** Counts events of the month. */
  count(accountId: string, events: number): void
  /** Whether the endpoint's log takes another skipped event today; counts it if so. */
  mayLog(endpointId: string): boolean
}

export const createEventLimits = (
  keys: Keyring,
  allowance: WebhookAllowance,
  clock: Clock,
): EventLimits => ({
  roomFor(accountId, type) {
    const entitled = entitledNow(keys, accountId)
    if (
      !entitled ||
      !hasFeature(entitled, 'webhooks') ||
      (isPermitEvent(type) && !hasFeature(entitled, 'well_permits'))
    )
      return undefined
    return (entitled.webhookEventsPerMonth ?? Number.POSITIVE_INFINITY) - allowance.used(accountId)
  },
  count(accountId, events) {
    if (events > 0) allowance.count(accountId, events)
  },
  mayLog: createSkipCounter(clock),
})

/** How many skipped events each endpoint's log has taken today. */
function createSkipCounter(clock: Clock): EventLimits['mayLog'] {
  let dayAt = Number.NaN
  const counts = new Map<string, number>()
  return endpointId => {
    const today = startOfDay(clock.now())
    if (today !== dayAt) counts.clear()
    dayAt = today
    const count = counts.get(endpointId) ?? 0
    if (count >= skipsLoggedPerDay) return false
    counts.set(endpointId, count + 1)
    return true
  }
}
