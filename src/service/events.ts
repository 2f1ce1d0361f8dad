import type { Clock } from '../lib/clock.ts'
import { isoInstant, startOfDay } from '../lib/instant.ts'
import { type EventType, eventTypeOf, hasCommodityFilter, isPermitEvent } from '../plan/event-types.ts'
import { hasFeature } from '../plan/plans.ts'
import type { Endpoint } from '../store/webhooks.ts'
import type { Catalogue } from './catalogue.ts'
import type { Keyring } from './keyring.ts'
import type { Message, Outbox } from './outbox.ts'
import type { WebhookAllowance } from './webhook-allowance.ts'
import type { Webhooks } from './webhooks.ts'

/** Something happened that accounts may have asked to be told of. */
export interface HouseEvent {
  /** As in the interface's table of event types: `price.updated`. */
  type: string
  /** The `data` of the envelope, in wire form and wire order. */
  data: Readonly<Record<string, unknown>>
  at: number
  /** Two events of one type and account with the same text are the same event: it is emitted once. */
  dedupe: string
  /** Whose it is; absent: everybody's. */
  accountId?: string
  /** The catalogue code it is about, for the endpoints' filters. */
  commodity?: string
  /** Two letters, for the filters of permit events. */
  state?: string
}

export interface Events {
  /** Writes one webhook message for each endpoint that asked for the event, inside the caller's transaction. Answers how many. */
  emit(event: HouseEvent): number
  /** Sends the event of one account to a target that is no endpoint, signed with the account's secret: an alert's own `webhook_url`. */
  emitTo(url: string, event: HouseEvent & { accountId: string }): void
  /** As `emit`, to one endpoint: what only its own conditions make an event. */
  emitToEndpoint(endpoint: Endpoint, event: HouseEvent): number
}

/** Why an event that an endpoint asked for is logged and not sent. */
export type SkipReason = 'commodity_filter' | 'state_filter' | 'conditions' | 'monthly_event_limit_reached'

export interface EventsDeps {
  webhooks: Webhooks
  keys: Keyring
  catalogue: Pick<Catalogue, 'named'>
  outbox: Pick<Outbox, 'put' | 'fanOut'>
  allowance: WebhookAllowance
  clock: Clock
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const idCharacters = 26

/** `evt_` and 26 characters drawn from a text: the same event has the same id, however often it is made. */
export function eventIdOf(text: string): string {
  const hash = Bun.SHA256.hash(text) as Uint8Array
  let id = 'evt_'
  for (let i = 0; i < idCharacters; i += 1) id += alphabet[hash[i]! & 31]
  return id
}

/** The body of a delivery: compact, both spellings of the type, keys in the order of the interface. */
export const eventBody = (id: string, type: EventType, at: number, data: HouseEvent['data']): string =>
  JSON.stringify({ id, type, event: type, created_at: isoInstant(at), data })

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
  /** The futures family that the commodity is a contract of: who asked for the family asked for its contracts. */
  family?: string | undefined
  state?: string | undefined
}

/** Why an endpoint that subscribed to an event does not get it; undefined when it does. An empty filter keeps nothing back. */
export function rejection(endpoint: Endpoint, { type, commodity, family, state }: Filtered): SkipReason | undefined {
  const { commodityFilters, stateFilters, conditions } = endpoint
  if (commodity !== undefined && hasCommodityFilter(type)) {
    const names = (code: string) => code === commodity || code === family
    if (commodityFilters.length > 0 && !commodityFilters.some(names)) return 'commodity_filter'
    if (conditions.length > 0 && type.startsWith('price.') && !conditions.some(one => names(one.commodity))) return 'conditions'
  }
  if (state !== undefined && isPermitEvent(type) && stateFilters.length > 0 && !stateFilters.includes(state)) return 'state_filter'
  return undefined
}

/** Skipped events that an endpoint's log takes a day (UTC): a filter on one code turns hundreds of others away every few minutes. */
export const skipsLoggedPerDay = 100

export function events({ webhooks, keys, catalogue, outbox, allowance, clock }: EventsDeps): Events {
  const skips = skipCounter(clock)
  const roomFor = roomFinder(keys, allowance)

  const typeOf = ({ type }: HouseEvent): EventType => {
    const known = eventTypeOf(type)
    if (known !== type) throw new Error(`event.type: ${JSON.stringify(type)} is not a type of event that this service delivers`)
    return known
  }
  const counted = (accountId: string, made: number): number => {
    if (made > 0) allowance.count(accountId, made)
    return made
  }

  /** The endpoints of one account that asked for an event: those that get it, and in their log why the others do not. */
  const deliver = (endpoints: readonly Endpoint[], message: Omit<Message, 'lane'>, about: Filtered): number => {
    const { accountId } = endpoints[0]!
    const room = roomFor(accountId, about.type)
    if (room === undefined) return 0
    const lanes: string[] = []
    for (const endpoint of endpoints) {
      const skipped = rejection(endpoint, about) ?? (lanes.length >= room ? 'monthly_event_limit_reached' : undefined)
      if (skipped === undefined) lanes.push(endpoint.id)
      else if (skips.mayLog(endpoint.id)) outbox.put({ ...message, accountId, lane: endpoint.id, skipped })
    }
    return lanes.length === 0 ? 0 : counted(accountId, outbox.fanOut(lanes, { ...message, accountId }).length)
  }

  const messageOf = ({ at, data, dedupe }: HouseEvent, type: EventType, scope: string) => {
    const eventId = eventIdOf(`${type}\n${scope}\n${dedupe}`)
    return { kind: 'webhook', accountId: null, eventId, eventType: type, body: eventBody(eventId, type, at, data) } as const
  }
  const filtered = ({ commodity, state }: HouseEvent, type: EventType): Filtered => {
    const family = commodity === undefined ? undefined : (catalogue.named(commodity)?.contractOf ?? undefined)
    return { type, commodity, family, state }
  }

  return {
    emit(event) {
      const type = typeOf(event)
      const { accountId } = event
      const endpoints = accountId === undefined ? webhooks.subscribed(type) : webhooks.subscribedOf(accountId, type)
      if (endpoints.length === 0) return 0
      const message = messageOf(event, type, accountId ?? '')
      const about = filtered(event, type)
      let made = 0
      for (const own of Map.groupBy(endpoints, one => one.accountId).values()) made += deliver(own, message, about)
      return made
    },
    emitToEndpoint(endpoint, event) {
      const type = typeOf(event)
      return deliver([endpoint], messageOf(event, type, endpoint.id), filtered(event, type))
    },
    emitTo(url, event) {
      const type = typeOf(event)
      const { accountId } = event
      const room = roomFor(accountId, type)
      if (room === undefined || room <= 0) return
      const endpoint = webhooks.list(accountId).find(one => one.active && one.url === url)
      const message = { ...messageOf(event, type, accountId), accountId, lane: endpoint?.id ?? targetLane(accountId, url) }
      if (outbox.put(message) !== undefined) counted(accountId, 1)
    },
  }
}

/** How many more events an account may have this month; undefined: its plan has none of the type. */
const roomFinder = (keys: Keyring, allowance: WebhookAllowance) => {
  return (accountId: string, type: EventType): number | undefined => {
    const account = keys.account(accountId)
    if (!account || account.account.suspendedAt !== null) return undefined
    const entitled = keys.entitlements(account)
    if (!hasFeature(entitled, 'webhooks') || (isPermitEvent(type) && !hasFeature(entitled, 'well_permits'))) return undefined
    return (entitled.webhookEventsPerMonth ?? Number.POSITIVE_INFINITY) - allowance.used(accountId)
  }
}

/** How many skipped events each endpoint's log has taken today. */
function skipCounter(clock: Clock) {
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
