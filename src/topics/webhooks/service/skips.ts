import type { Log } from '../../../lib/log/log.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { startOfDay } from '../../../lib/time/instant.ts'
import {
  type EventType,
  hasCommodityFilter,
  isPermitEvent,
} from '../../../plans/messages/event-types.ts'
import { hasFeature } from '../../../plans/plans.ts'
import { entitledNow, type Keyring } from '../../keys/service/keyring.ts'
import type { Endpoint } from '../store/webhooks.ts'
import type { WebhookAllowance } from './allowance.ts'

/**
 * Skipped events that an endpoint's log takes a day (UTC): a filter on one code turns hundreds of
 * others away every few minutes.
 */
export const skipsLoggedPerDay = 100

/** Why an event that an endpoint has subscribed to is logged and not sent. */
export const skipReasons = [
  'commodity_filter',
  'state_filter',
  'conditions',
  'monthly_event_limit_reached',
  'feature_not_in_plan',
  'series_not_visible',
] as const
export type SkipReason = (typeof skipReasons)[number]

/** The fields that the filters of endpoints use. */
export interface Filtered {
  type: EventType
  commodity?: string | undefined
  /** The futures family of the contract: a subscription to the family includes its contracts. */
  family?: string | undefined
  state?: string | undefined
  /** Whether the conditions of an endpoint hold, for the events of prices that they filter. */
  conditionsHold?: ((endpoint: Endpoint) => boolean) | undefined
}

/**
 * Why an endpoint that subscribed to an event does not get it; undefined when it does. An empty
 * filter keeps nothing back.
 */
export function rejection(
  endpoint: Endpoint,
  { type, commodity, family, state, conditionsHold }: Filtered,
): SkipReason | undefined {
  const { commodityFilters, stateFilters, conditions } = endpoint
  if (commodity !== undefined && hasCommodityFilter(type)) {
    const names = (code: string) => code === commodity || code === family
    if (commodityFilters.length > 0 && !commodityFilters.some(names)) return 'commodity_filter'
    if (
      conditions.length > 0 &&
      type.startsWith('price.') &&
      !(conditionsHold?.(endpoint) ?? conditions.some(each => names(each.commodity)))
    )
      return 'conditions'
  }
  if (
    state !== undefined &&
    isPermitEvent(type) &&
    stateFilters.length > 0 &&
    !stateFilters.includes(state)
  )
    return 'state_filter'
  return undefined
}

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

/** The last entry of a day in the log of an endpoint: later skipped events are only counted. */
export const logLimitReached = 'daily_skip_log_limit_reached'

const withheld: ReadonlySet<string> = new Set<string>([
  'feature_not_in_plan' satisfies SkipReason,
  'series_not_visible' satisfies SkipReason,
  logLimitReached,
])

/**
 * Whether entries with this reason have no data, because the plan or the operator withholds it from
 * the account. Such an entry cannot be sent later.
 */
export const isWithheld = (reason: string): boolean => withheld.has(reason)

export interface Skipped {
  accountId: string
  lane: string
  type: EventType
  reason: SkipReason
}

/** The events that are not sent: each is counted, and ends in a log. */
export type Skips = ReturnType<typeof createSkips>

/** The log entries of a lane on the current day. */
interface Day {
  logged: number
  reported: Set<string>
}

/** Customers choose their filters; the operator's log has the other reasons. */
const filters: ReadonlySet<string> = new Set<SkipReason>([
  'commodity_filter',
  'state_filter',
  'conditions',
])

export function createSkips({ clock, log }: { clock: Clock; log: Pick<Log, 'info'> }) {
  const counts = new Map<SkipReason, number>(skipReasons.map(reason => [reason, 0]))
  const days = new Map<string, Day>()
  let dayAt = Number.NaN

  const dayOf = (lane: string): Day => {
    const today = startOfDay(clock.now())
    if (today !== dayAt) days.clear()
    dayAt = today
    const day = days.get(lane) ?? { logged: 0, reported: new Set() }
    days.set(lane, day)
    return day
  }
  /** The first of a reason, lane and day goes into the log of the process. */
  const report = (day: Day, { accountId, lane, type }: Skipped, reason: string): boolean => {
    if (filters.has(reason) || day.reported.has(reason)) return false
    day.reported.add(reason)
    // The lane of a target URL contains the URL, in which receivers put tokens.
    const endpoint = lane.includes(' ') ? undefined : lane
    log.info('webhook_event_skipped', { account: accountId, endpoint, type, reason })
    return true
  }
  const count = (reason: SkipReason) => counts.set(reason, counts.get(reason)! + 1)
  return {
    /**
     * Counts a skipped event. Returns the reason for the delivery log of its lane; undefined when
     * the log takes no more of them today.
     */
    note(skipped: Skipped): string | undefined {
      const { lane, reason } = skipped
      const day = dayOf(lane)
      count(reason)
      report(day, skipped, reason)
      day.logged += 1
      if (day.logged <= skipsLoggedPerDay) return reason
      return report(day, skipped, logLimitReached) ? logLimitReached : undefined
    },
    /** As `note`, for reasons that the delivery log records once a day. */
    noteDaily(skipped: Skipped): string | undefined {
      count(skipped.reason)
      return report(dayOf(skipped.lane), skipped, skipped.reason) ? skipped.reason : undefined
    },
    /** Skipped events since the start. */
    counts: (): ReadonlyMap<SkipReason, number> => counts,
  }
}
