import type { Clock } from '../../../lib/time/clock.ts'
import type { Message, Outbox } from '../../../outbox/outbox.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Endpoint } from '../store/webhooks.ts'
import type { WebhookAllowance } from './allowance.ts'
import { emitBurst, type OwnEvent } from './event-burst.ts'
import { type Filtered, rejection } from './event-filters.ts'
import { createEventLimits, type EventLimits } from './event-limits.ts'
import { filteredOf, messageOf, type ServiceEvent, targetOf, typeOf } from './event-messages.ts'
import type { Webhooks } from './webhooks.ts'

export type { OwnEvent } from './event-burst.ts'
export type { ServiceEvent } from './event-messages.ts'

export interface Events {
  /**
   * Writes one webhook message for each endpoint that asked for the event, inside the caller's
   * transaction. Answers how many.
   */
  emit(event: ServiceEvent): number
  /**
   * Sends the event of one account to a target that is no endpoint, signed with the account's
   * secret: an alert's own `webhook_url`.
   */
  emitTo(url: string, event: ServiceEvent & { accountId: string }): void
  /** As `emit` and then `emitTo` for each in turn, in few statements. Answers what `emit` does. */
  emitEach(events: readonly OwnEvent[]): number[]
  /** As `emit`, to one endpoint: what only its own conditions make an event. */
  emitToEndpoint(endpoint: Endpoint, event: ServiceEvent): number
}

export interface EventsDeps {
  webhooks: Webhooks
  keys: Keyring
  catalogue: Pick<Catalogue, 'named' | 'isRestricted' | 'isVisible'>
  outbox: Pick<Outbox, 'put' | 'putAll' | 'fanOut'>
  allowance: WebhookAllowance
  clock: Clock
}

export function createEvents(deps: EventsDeps): Events {
  const { webhooks, catalogue, outbox } = deps
  const limits = createEventLimits(deps.keys, deps.allowance, deps.clock)
  const deliver = createDelivery(deps, limits)

  const emit = (event: ServiceEvent): number => {
    const type = typeOf(event)
    const { accountId } = event
    const subscribed =
      accountId === undefined ? webhooks.subscribed(type) : webhooks.subscribedOf(accountId, type)
    const endpoints = seeing(catalogue, event, subscribed)
    if (endpoints.length === 0) return 0
    const message = messageOf(event, type, accountId ?? '')
    const filtered = filteredOf(event, type, catalogue)
    let deliveries = 0
    for (const ofAccount of Map.groupBy(endpoints, endpoint => endpoint.accountId).values())
      deliveries += deliver(ofAccount, message, filtered)
    return deliveries
  }
  const emitTo = (url: string, event: ServiceEvent & { accountId: string }) => {
    const type = typeOf(event)
    const { accountId } = event
    const room = limits.roomFor(accountId, type)
    if (room === undefined || room <= 0) return
    const lane = targetOf(webhooks.list(accountId), accountId, url)
    const id = outbox.put({ ...messageOf(event, type, accountId), lane })
    if (id !== undefined) limits.count(accountId, 1)
  }
  const burst = { webhooks, outbox, catalogue, limits, emit, emitTo }
  return {
    emit,
    emitTo,
    emitEach: events => emitBurst(burst, events),
    emitToEndpoint(endpoint, event) {
      const type = typeOf(event)
      if (seeing(catalogue, event, [endpoint]).length === 0) return 0
      const message = messageOf(event, type, endpoint.id)
      return deliver([endpoint], message, filteredOf(event, type, catalogue))
    },
  }
}

/** Endpoints of accounts that see what an event is of. */
function seeing(
  catalogue: EventsDeps['catalogue'],
  { commodity }: ServiceEvent,
  endpoints: readonly Endpoint[],
): readonly Endpoint[] {
  const series =
    catalogue.isRestricted && commodity !== undefined ? catalogue.named(commodity) : undefined
  return series
    ? endpoints.filter(({ accountId }) => catalogue.isVisible(series, accountId))
    : endpoints
}

/**
 * Writes a message for the endpoints of one account that asked for an event: to those that get it,
 * and into the log of the others why they do not. Answers how many get it.
 */
const createDelivery =
  ({ outbox }: EventsDeps, limits: EventLimits) =>
  (endpoints: readonly Endpoint[], message: Omit<Message, 'lane'>, filtered: Filtered): number => {
    const { accountId } = endpoints[0]!
    const room = limits.roomFor(accountId, filtered.type)
    if (room === undefined) return 0
    const lanes: string[] = []
    for (const endpoint of endpoints) {
      const skipped =
        rejection(endpoint, filtered) ??
        (lanes.length >= room ? 'monthly_event_limit_reached' : undefined)
      if (skipped === undefined) lanes.push(endpoint.id)
      else if (limits.mayLog(endpoint.id))
        outbox.put({ ...message, accountId, lane: endpoint.id, skipped })
    }
    if (lanes.length === 0) return 0
    const { length } = outbox.fanOut(lanes, { ...message, accountId })
    limits.count(accountId, length)
    return length
  }
