import { isoInstant } from '../../../lib/time/instant.ts'
import type { Message } from '../../../outbox/outbox.ts'
import { type EventType, eventTypeOf } from '../../../plans/messages/event-types.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Endpoint } from '../store/webhooks.ts'
import { eventIdOf, type Rank } from './event-ids.ts'
import type { Filtered } from './skips.ts'

/** An event of which accounts may have requested notifications. */
export interface ServiceEvent {
  /** As in the API's table of event types: `price.updated`. */
  type: string
  /** The `data` of the envelope, in wire form and wire order. */
  data: Readonly<Record<string, unknown>>
  at: number
  /**
   * Two events of one type and account with the same text, and the same rank where they have one,
   * are the same event: it is emitted once.
   */
  dedupe: string
  rank?: Rank
  /** The account that receives it; absent: every account. */
  accountId?: string
  /** The catalogue code it is about, for the endpoints' filters. */
  commodity?: string
  /** Its series; absent: that of the code. */
  series?: Series
  /** Two letters, for the filters of permit events. */
  state?: string
  /** Whether the conditions of an endpoint hold; absent: what they are on decides. */
  conditionsHold?: (endpoint: Endpoint) => boolean
}

/**
 * The body of a delivery: compact, both spellings of the type, keys in the order of the API.
 */
export const eventBody = (
  id: string,
  type: EventType,
  at: number,
  data: ServiceEvent['data'],
): string => JSON.stringify({ id, type, event: type, created_at: isoInstant(at), data })

/** The lane of a target URL. An endpoint's lane is its id. */
export const targetLane = (accountId: string, url: string): string => `${accountId} ${url}`

export function lanedTarget(lane: string): { accountId: string; url: string } | undefined {
  const at = lane.indexOf(' ')
  return at < 0 ? undefined : { accountId: lane.slice(0, at), url: lane.slice(at + 1) }
}

/**
 * Where what an account sends to an address stands: with its endpoint of that address, if it has an
 * active one.
 */
export const targetOf = (endpoints: readonly Endpoint[], accountId: string, url: string): string =>
  endpoints.find(endpoint => endpoint.active && endpoint.url === url)?.id ??
  targetLane(accountId, url)

/** The type of an event; throws for one that this service does not deliver. */
export function typeOf({ type }: ServiceEvent): EventType {
  const eventType = eventTypeOf(type)
  if (eventType !== type)
    throw new Error(
      `event.type: ${JSON.stringify(type)} is not a type of event that this service delivers`,
    )
  return eventType
}

/** An event as a message; `scope` distinguishes the same event for different receivers. */
export function messageOf(
  { at, data, dedupe, rank, accountId }: ServiceEvent,
  type: EventType,
  scope: string,
): Omit<Message, 'lane'> {
  const eventId = eventIdOf(`${type}\n${scope}\n${dedupe}`, rank)
  return {
    kind: 'webhook',
    accountId: accountId ?? null,
    eventId,
    eventType: type,
    body: eventBody(eventId, type, at, data),
  }
}

/** The event without data, for a log whose owner may not read the data. */
export const withoutData = <E extends ServiceEvent>(event: E): E => ({ ...event, data: {} })

/** The fields of an event that the filters of endpoints use. */
export function filteredOf(
  { commodity, series, state, conditionsHold }: ServiceEvent,
  type: EventType,
  catalogue: Pick<Catalogue, 'named'>,
): Filtered {
  const about = series ?? (commodity === undefined ? undefined : catalogue.named(commodity))
  const family = about?.contractOf ?? undefined
  return { type, commodity, family, state, conditionsHold }
}
