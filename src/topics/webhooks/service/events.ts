import type { Message, Outbox } from '../../../outbox/outbox.ts'
import type { EventType } from '../../../plans/messages/event-types.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Endpoint } from '../store/webhooks.ts'
import type { WebhookAllowance } from './allowance.ts'
import { emitBurst, type OwnEvent } from './event-burst.ts'
import {
  filteredOf,
  messageOf,
  type ServiceEvent,
  targetOf,
  typeOf,
  withoutData,
} from './event-messages.ts'
import {
  createEventLimits,
  type EventLimits,
  isWithheld,
  rejection,
  type SkipReason,
  type Skips,
} from './skips.ts'
import type { Webhooks } from './webhooks.ts'

export type { OwnEvent } from './event-burst.ts'
export type { ServiceEvent } from './event-messages.ts'

export type Events = ReturnType<typeof createEvents>

export interface EventsDeps {
  webhooks: Webhooks
  keys: Keyring
  catalogue: Pick<Catalogue, 'named' | 'isRestricted' | 'isVisible'>
  outbox: Pick<Outbox, 'put' | 'putAll' | 'fanOut'>
  allowance: WebhookAllowance
  skips: Skips
}

export function createEvents(deps: EventsDeps) {
  const { webhooks, catalogue, outbox, skips } = deps
  const limits = createEventLimits(deps.keys, deps.allowance)
  const deliver = createDelivery(deps, limits)

  const emit = (event: ServiceEvent): number => {
    const type = typeOf(event)
    const { accountId } = event
    const subscribed =
      accountId === undefined ? webhooks.subscribed(type) : webhooks.subscribedOf(accountId, type)
    if (subscribed.length === 0) return 0
    const outgoing = outgoingOf(catalogue, event, type, accountId ?? '')
    let deliveries = 0
    for (const ofAccount of Map.groupBy(subscribed, endpoint => endpoint.accountId).values())
      deliveries += deliver(ofAccount, outgoing)
    return deliveries
  }
  const emitTo = (url: string, event: ServiceEvent & { accountId: string }) => {
    const type = typeOf(event)
    const { accountId } = event
    const lane = targetOf(webhooks.list(accountId), accountId, url)
    const room = limits.roomFor(accountId, type)
    if (room === undefined || room <= 0) {
      const reason = room === undefined ? 'feature_not_in_plan' : 'monthly_event_limit_reached'
      const skipped = skips.note({ accountId, lane, type, reason })
      if (skipped === undefined) return
      const logged = isWithheld(skipped) ? withoutData(event) : event
      outbox.put({ ...messageOf(logged, type, accountId), lane, skipped })
      return
    }
    const id = outbox.put({ ...messageOf(event, type, accountId), lane })
    if (id !== undefined) limits.count(accountId, 1)
  }
  const burst = { webhooks, outbox, catalogue, limits, skips, emit, emitTo }
  return {
    /**
     * Writes one webhook message for each endpoint that is subscribed to the event, inside the
     * caller's transaction. Returns how many.
     */
    emit,
    /**
     * Sends the event of one account to a target URL, signed with the account's secret: an alert's
     * `webhook_url`.
     */
    emitTo,
    /** Does `emit` and then `emitTo` for each, in few statements. Returns the counts of `emit`. */
    emitEach: (events: readonly OwnEvent[]) => emitBurst(burst, events),
    /** As `emit`, to one endpoint: what only its own conditions make an event. */
    emitToEndpoint(endpoint: Endpoint, event: ServiceEvent) {
      const type = typeOf(event)
      return deliver([endpoint], outgoingOf(catalogue, event, type, endpoint.id))
    },
  }
}

/** An event with the facts that decide who gets it. */
type Outgoing = ReturnType<typeof outgoingOf>

function outgoingOf(
  catalogue: EventsDeps['catalogue'],
  event: ServiceEvent,
  type: EventType,
  scope: string,
) {
  const { commodity } = event
  const series =
    catalogue.isRestricted && commodity !== undefined
      ? (event.series ?? catalogue.named(commodity, event.accountId))
      : undefined
  return {
    message: messageOf(event, type, scope),
    /** The message without data, for a log whose owner may not read the data. */
    bare: (): Omit<Message, 'lane'> => messageOf(withoutData(event), type, scope),
    filtered: filteredOf(event, type, catalogue),
    /** Whether an account sees the series that the event is about. */
    isVisible: (accountId: string) => !series || catalogue.isVisible(series, accountId),
  }
}

/**
 * Writes a message for the endpoints of one account that are subscribed to an event: to those that
 * get it, and into the log of the others why they do not. Returns how many get it.
 */
function createDelivery({ outbox, skips }: EventsDeps, limits: EventLimits) {
  const skip = (
    { id: lane, accountId }: Endpoint,
    { message, bare, filtered: { type } }: Outgoing,
    reason: SkipReason,
  ) => {
    const skipped = skips.note({ accountId, lane, type, reason })
    if (skipped === undefined) return
    const logged = isWithheld(skipped) ? bare() : message
    outbox.put({ ...logged, accountId, lane, skipped })
  }
  /**
   * The times at which a hidden series changes are hidden too: it has one entry a day, and only for
   * an endpoint that names the series.
   */
  const hide = ({ id: lane, accountId, commodityFilters }: Endpoint, event: Outgoing) => {
    const { type, commodity, family } = event.filtered
    const skipped = skips.noteDaily({ accountId, lane, type, reason: 'series_not_visible' })
    if (skipped && commodityFilters.some(code => code === commodity || code === family))
      outbox.put({ ...event.bare(), accountId, lane, skipped })
  }
  return (endpoints: readonly Endpoint[], event: Outgoing): number => {
    const { accountId } = endpoints[0]!
    const { message, filtered } = event
    if (!event.isVisible(accountId)) {
      for (const endpoint of endpoints) hide(endpoint, event)
      return 0
    }
    const room = limits.roomFor(accountId, filtered.type)
    if (room === undefined) {
      for (const endpoint of endpoints) skip(endpoint, event, 'feature_not_in_plan')
      return 0
    }
    const lanes: string[] = []
    for (const endpoint of endpoints) {
      const reason =
        rejection(endpoint, filtered) ??
        (lanes.length >= room ? 'monthly_event_limit_reached' : undefined)
      if (reason === undefined) lanes.push(endpoint.id)
      else skip(endpoint, event, reason)
    }
    if (lanes.length === 0) return 0
    const { length } = outbox.fanOut(lanes, { ...message, accountId })
    limits.count(accountId, length)
    return length
  }
}
