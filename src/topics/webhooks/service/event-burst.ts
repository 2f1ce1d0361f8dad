import type { Message, Outbox } from '../../../outbox/outbox.ts'
import type { EventType } from '../../../plans/messages/event-types.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Endpoint } from '../store/webhooks.ts'
import {
  filteredOf,
  messageOf,
  type ServiceEvent,
  targetOf,
  typeOf,
  withoutData,
} from './event-messages.ts'
import { type EventLimits, isWithheld, rejection, type Skips } from './skips.ts'
import type { Webhooks } from './webhooks.ts'

/** An event of one account, with a target URL where it does not go to endpoints. */
export interface OwnEvent extends ServiceEvent {
  accountId: string
  url: string | null
}

/** The limits and endpoints of one account, looked up once in a burst. */
interface BurstAccount {
  endpoints: readonly Endpoint[]
  room: Map<EventType, number | undefined>
  subscribed: Map<EventType, readonly Endpoint[]>
  /** Messages at most that wait to be written. */
  waiting: number
}

export interface BurstDeps {
  webhooks: Webhooks
  catalogue: Pick<Catalogue, 'named'>
  outbox: Pick<Outbox, 'putAll'>
  limits: EventLimits
  skips: Skips
  emit(event: ServiceEvent): number
  emitTo(url: string, event: OwnEvent): void
}

/** Writes the messages of many events at once; returns how many endpoints get each. */
export function emitBurst(deps: BurstDeps, events: readonly OwnEvent[]): number[] {
  const { catalogue, skips, emit, emitTo } = deps
  const deliveries = events.map(() => 0)
  const accounts = createBurstAccounts(deps)
  const batch = createBatch(deps, deliveries)
  const write = () => {
    batch.write()
    accounts.clear()
  }
  for (const [place, event] of events.entries()) {
    const { accountId, url } = event
    const type = typeOf(event)
    const account = accounts.of(accountId, type)
    const room = account.room.get(type)
    const subscribed = account.subscribed.get(type)!
    const messagesMax = subscribed.length + Number(url !== null)
    if (messagesMax === 0) continue
    // Near the end of the allowance each message decides about the next; a plan without the feature
    // has only entries in logs.
    if (room === undefined || room - account.waiting < messagesMax) {
      if (room !== undefined) write()
      deliveries[place] = emit(event)
      if (url !== null) emitTo(url, event)
      continue
    }
    account.waiting += messagesMax
    const message = messageOf(event, type, accountId)
    if (subscribed.length > 0) {
      const filtered = filteredOf(event, type, catalogue)
      for (const endpoint of subscribed) {
        const lane = endpoint.id
        const reason = rejection(endpoint, filtered)
        const skipped = reason && skips.note({ accountId, lane, type, reason })
        if (reason !== undefined && skipped === undefined) continue
        const logged =
          skipped && isWithheld(skipped) ? messageOf(withoutData(event), type, accountId) : message
        batch.add(logged, lane, place, skipped)
      }
    }
    if (url !== null) batch.add(message, targetOf(account.endpoints, accountId, url), ownTarget)
  }
  write()
  return deliveries
}

function createBurstAccounts({ webhooks, limits }: BurstDeps) {
  const accounts = new Map<string, BurstAccount>()
  return {
    clear: () => accounts.clear(),
    of(accountId: string, type: EventType): BurstAccount {
      const account = accounts.get(accountId) ?? {
        endpoints: webhooks.list(accountId),
        room: new Map(),
        subscribed: new Map(),
        waiting: 0,
      }
      accounts.set(accountId, account)
      if (account.room.has(type)) return account
      account.room.set(type, limits.roomFor(accountId, type))
      account.subscribed.set(type, webhooks.subscribedOf(accountId, type))
      return account
    },
  }
}

/** Marks a message to a separate target, which does not count among the messages of `emit`. */
const ownTarget = -1

/** Messages that wait to be written; adds what is new to the deliveries of their events. */
function createBatch({ outbox, limits }: BurstDeps, deliveries: number[]) {
  const messages: Message[] = []
  /** The event that each message counts for; none for target URLs. */
  const places: number[] = []
  return {
    add(message: Omit<Message, 'lane'>, lane: string, place: number, skipped?: string) {
      messages.push(skipped === undefined ? { ...message, lane } : { ...message, lane, skipped })
      places.push(place)
    },
    write() {
      for (const [i, id] of outbox.putAll(messages).entries()) {
        const { accountId, skipped } = messages[i]!
        if (id === undefined || skipped !== undefined) continue
        if (places[i] !== ownTarget) deliveries[places[i]!]! += 1
        limits.count(accountId!, 1)
      }
      messages.length = 0
      places.length = 0
    },
  }
}
