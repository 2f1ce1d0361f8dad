import type { Clock } from '../../lib/clock.ts'
import { isoInstant, startOfDay } from '../../lib/instant.ts'
import {
  type EventType,
  eventTypeOf,
  hasCommodityFilter,
  isPermitEvent,
} from '../../plan/event-types.ts'
import { hasFeature } from '../../plan/plans.ts'
import type { Endpoint } from '../../store/webhooks/webhooks.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { entitledNow, type Keyring } from '../keys/keyring.ts'
import type { Message, Outbox } from '../outbox/outbox.ts'
import type { WebhookAllowance } from './allowance.ts'
import { eventIdOf, type Rank } from './event-ids.ts'
import type { Webhooks } from './webhooks.ts'

export { eventIdOf } from './event-ids.ts'

/** Something happened that accounts may have asked to be told of. */
export interface ServiceEvent {
  /** As in the interface's table of event types: `price.updated`. */
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
  /** Whose it is; absent: everybody's. */
  accountId?: string
  /** The catalogue code it is about, for the endpoints' filters. */
  commodity?: string
  /** Two letters, for the filters of permit events. */
  state?: string
}

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

/** An event of one account, and the target of its own where it has one. */
export interface OwnEvent extends ServiceEvent {
  accountId: string
  url: string | null
}

/** Why an event that an endpoint asked for is logged and not sent. */
export type SkipReason =
  | 'commodity_filter'
  | 'state_filter'
  | 'conditions'
  | 'monthly_event_limit_reached'

export interface EventsDeps {
  webhooks: Webhooks
  keys: Keyring
  catalogue: Pick<Catalogue, 'named'>
  outbox: Pick<Outbox, 'put' | 'putAll' | 'fanOut'>
  allowance: WebhookAllowance
  clock: Clock
}

/** No event of a burst: what goes to a target of its own is not counted among what `emit` makes. */
const ownTarget = -1

/**
 * The body of a delivery: compact, both spellings of the type, keys in the order of the interface.
 */
export const eventBody = (
  id: string,
  type: EventType,
  at: number,
  data: ServiceEvent['data'],
): string => JSON.stringify({ id, type, event: type, created_at: isoInstant(at), data })

/** The lane of a target that is no endpoint. An endpoint's lane is its id. */
export const targetLane = (accountId: string, url: string): string => `${accountId} ${url}`

export function lanedTarget(lane: string): { accountId: string; url: string } | undefined {
  const at = lane.indexOf(' ')
  return at < 0 ? undefined : { accountId: lane.slice(0, at), url: lane.slice(at + 1) }
}

/** What the filters of endpoints look at. */
export interface Filtered {
  type: EventType
  commodity?: string | undefined
  /**
   * The futures family that the commodity is a contract of: who asked for the family asked for its
   * contracts.
   */
  family?: string | undefined
  state?: string | undefined
}

/**
 * Why an endpoint that subscribed to an event does not get it; undefined when it does. An empty
 * filter keeps nothing back.
 */
export function rejection(
  endpoint: Endpoint,
  { type, commodity, family, state }: Filtered,
): SkipReason | undefined {
  const { commodityFilters, stateFilters, conditions } = endpoint
  if (commodity !== undefined && hasCommodityFilter(type)) {
    const names = (code: string) => code === commodity || code === family
    if (commodityFilters.length > 0 && !commodityFilters.some(names)) return 'commodity_filter'
    if (
      conditions.length > 0 &&
      type.startsWith('price.') &&
      !conditions.some(condition => names(condition.commodity))
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

/**
 * Skipped events that an endpoint's log takes a day (UTC): a filter on one code turns hundreds of
 * others away every few minutes.
 */
export const skipsLoggedPerDay = 100

export function createEvents({
  webhooks,
  keys,
  catalogue,
  outbox,
  allowance,
  clock,
}: EventsDeps): Events {
  const skips = createSkipCounter(clock)
  const roomFor = createRoomFinder(keys, allowance)

  const typeOf = ({ type }: ServiceEvent): EventType => {
    const eventType = eventTypeOf(type)
    if (eventType !== type)
      throw new Error(
        `event.type: ${JSON.stringify(type)} is not a type of event that this service delivers`,
      )
    return eventType
  }
  const countEvents = (accountId: string, events: number): number => {
    if (events > 0) allowance.count(accountId, events)
    return events
  }

  /**
   * The endpoints of one account that asked for an event: those that get it, and in their log why
   * the others do not.
   */
  const deliver = (
    endpoints: readonly Endpoint[],
    message: Omit<Message, 'lane'>,
    about: Filtered,
  ): number => {
    const { accountId } = endpoints[0]!
    const room = roomFor(accountId, about.type)
    if (room === undefined) return 0
    const lanes: string[] = []
    for (const endpoint of endpoints) {
      const skipped =
        rejection(endpoint, about) ??
        (lanes.length >= room ? 'monthly_event_limit_reached' : undefined)
      if (skipped === undefined) lanes.push(endpoint.id)
      else if (skips.mayLog(endpoint.id))
        outbox.put({ ...message, accountId, lane: endpoint.id, skipped })
    }
    return lanes.length === 0
      ? 0
      : countEvents(accountId, outbox.fanOut(lanes, { ...message, accountId }).length)
  }

  const messageOf = (
    { at, data, dedupe, rank, accountId }: ServiceEvent,
    type: EventType,
    scope: string,
  ): Omit<Message, 'lane'> => {
    const eventId = eventIdOf(`${type}\n${scope}\n${dedupe}`, rank)
    return {
      kind: 'webhook',
      accountId: accountId ?? null,
      eventId,
      eventType: type,
      body: eventBody(eventId, type, at, data),
    }
  }
  const filtered = ({ commodity, state }: ServiceEvent, type: EventType): Filtered => {
    const family =
      commodity === undefined ? undefined : (catalogue.named(commodity)?.contractOf ?? undefined)
    return { type, commodity, family, state }
  }

  const emit = (event: ServiceEvent): number => {
    const type = typeOf(event)
    const { accountId } = event
    const endpoints =
      accountId === undefined ? webhooks.subscribed(type) : webhooks.subscribedOf(accountId, type)
    if (endpoints.length === 0) return 0
    const message = messageOf(event, type, accountId ?? '')
    const about = filtered(event, type)
    let deliveries = 0
    for (const accountEndpoints of Map.groupBy(endpoints, endpoint => endpoint.accountId).values())
      deliveries += deliver(accountEndpoints, message, about)
    return deliveries
  }
  const emitTo = (url: string, event: ServiceEvent & { accountId: string }) => {
    const type = typeOf(event)
    const { accountId } = event
    const room = roomFor(accountId, type)
    if (room === undefined || room <= 0) return
    const message = {
      ...messageOf(event, type, accountId),
      lane: targetOf(webhooks.list(accountId), accountId, url),
    }
    if (outbox.put(message) !== undefined) countEvents(accountId, 1)
  }

  return {
    emit,
    emitTo,
    emitEach: events =>
      emitBurst(
        {
          webhooks,
          outbox,
          skips,
          roomFor,
          countEvents,
          typeOf,
          messageOf,
          filtered,
          emit,
          emitTo,
        },
        events,
      ),
    emitToEndpoint(endpoint, event) {
      const type = typeOf(event)
      return deliver([endpoint], messageOf(event, type, endpoint.id), filtered(event, type))
    },
  }
}

/** What one account may have and has asked for, looked up once in a burst. */
interface BurstAccount {
  endpoints: readonly Endpoint[]
  room: Map<EventType, number | undefined>
  subscribed: Map<EventType, readonly Endpoint[]>
  /** Messages at most that wait to be written. */
  waiting: number
}

/** What the ways of emitting have in common. */
interface Emitting
  extends Pick<EventsDeps, 'webhooks' | 'outbox'>,
    Pick<Events, 'emit' | 'emitTo'> {
  skips: ReturnType<typeof createSkipCounter>
  roomFor: ReturnType<typeof createRoomFinder>
  countEvents(accountId: string, events: number): number
  typeOf(event: ServiceEvent): EventType
  messageOf(event: ServiceEvent, type: EventType, scope: string): Omit<Message, 'lane'>
  filtered(event: ServiceEvent, type: EventType): Filtered
}

/** Writes the messages of many events at once; answers how many endpoints get each. */
function emitBurst(emitting: Emitting, events: readonly OwnEvent[]): number[] {
  const {
    webhooks,
    outbox,
    skips,
    roomFor,
    countEvents,
    typeOf,
    messageOf,
    filtered,
    emit,
    emitTo,
  } = emitting
  const deliveries = events.map(() => 0)
  const accounts = new Map<string, BurstAccount>()
  const messages: Message[] = []
  /** Which event each of them counts for; none for targets of their own. */
  const places: number[] = []
  const write = () => {
    for (const [i, id] of outbox.putAll(messages).entries()) {
      const { accountId, skipped } = messages[i]!
      if (id === undefined || skipped !== undefined) continue
      if (places[i] !== ownTarget) deliveries[places[i]!]! += 1
      countEvents(accountId!, 1)
    }
    messages.length = 0
    places.length = 0
    accounts.clear()
  }
  const accountOf = (accountId: string, type: EventType): BurstAccount => {
    const account = accounts.get(accountId) ?? {
      endpoints: webhooks.list(accountId),
      room: new Map(),
      subscribed: new Map(),
      waiting: 0,
    }
    accounts.set(accountId, account)
    if (account.room.has(type)) return account
    account.room.set(type, roomFor(accountId, type))
    account.subscribed.set(type, webhooks.subscribedOf(accountId, type))
    return account
  }
  const add = (
    message: Omit<Message, 'lane'>,
    lane: string,
    place: number,
    skipped?: SkipReason,
  ) => {
    messages.push(skipped === undefined ? { ...message, lane } : { ...message, lane, skipped })
    places.push(place)
  }
  for (const [place, event] of events.entries()) {
    const { accountId, url } = event
    const type = typeOf(event)
    const account = accountOf(accountId, type)
    const room = account.room.get(type)
    const subscribed = account.subscribed.get(type)!
    const messagesMax = subscribed.length + Number(url !== null)
    if (room === undefined || messagesMax === 0) continue
    // Near the end of the allowance each message decides about the next.
    if (room - account.waiting < messagesMax) {
      write()
      deliveries[place] = emit(event)
      if (url !== null) emitTo(url, event)
      continue
    }
    account.waiting += messagesMax
    const message = messageOf(event, type, accountId)
    if (subscribed.length > 0) {
      const about = filtered(event, type)
      for (const endpoint of subscribed) {
        const skipped = rejection(endpoint, about)
        if (skipped === undefined || skips.mayLog(endpoint.id))
          add(message, endpoint.id, place, skipped)
      }
    }
    if (url !== null) add(message, targetOf(account.endpoints, accountId, url), ownTarget)
  }
  write()
  return deliveries
}

/**
 * Where what an account sends to an address stands: with its endpoint of that address, if it has an
 * active one.
 */
const targetOf = (endpoints: readonly Endpoint[], accountId: string, url: string): string =>
  endpoints.find(endpoint => endpoint.active && endpoint.url === url)?.id ??
  targetLane(accountId, url)

/**
 * How many more events an account may have this month; undefined: its plan has none of the type.
 */
const createRoomFinder = (keys: Keyring, allowance: WebhookAllowance) => {
  return (accountId: string, type: EventType): number | undefined => {
    const entitled = entitledNow(keys, accountId)
    if (
      !entitled ||
      !hasFeature(entitled, 'webhooks') ||
      (isPermitEvent(type) && !hasFeature(entitled, 'well_permits'))
    )
      return undefined
    return (entitled.webhookEventsPerMonth ?? Number.POSITIVE_INFINITY) - allowance.used(accountId)
  }
}

/** How many skipped events each endpoint's log has taken today. */
function createSkipCounter(clock: Clock) {
  let dayAt = Number.NaN
  const counts = new Map<string, number>()
  return {
    mayLog(endpointId: string): boolean {
      const today = startOfDay(clock.now())
      if (today !== dayAt) counts.clear()
      dayAt = today
      const count = counts.get(endpointId) ?? 0
      if (count >= skipsLoggedPerDay) return false
      counts.set(endpointId, count + 1)
      return true
    },
  }
}
