import { coveredEvents, type EventType } from '../../../plans/messages/event-types.ts'
import type { Endpoint } from '../store/webhooks.ts'

const none: readonly Endpoint[] = []

/** Endpoints by id and account, and active ones by the events that they subscribe to. */
export function createEndpointIndex() {
  const ids = new Map<string, Endpoint>()
  /** A Map keeps the position of a replaced entry, so lists stay in the order of creation. */
  const accounts = new Map<string, Map<string, Endpoint>>()
  const types = new Map<EventType, Endpoint[]>()
  const codes = new Map<string, Endpoint[]>()

  const add = <K>(lists: Map<K, Endpoint[]>, name: K, endpoint: Endpoint) => {
    const list = lists.get(name)
    if (list) list.push(endpoint)
    else lists.set(name, [endpoint])
  }
  const take = <K>(lists: Map<K, Endpoint[]>, name: K, endpoint: Endpoint) => {
    const remaining = lists.get(name)?.filter(listed => listed !== endpoint) ?? []
    if (remaining.length > 0) lists.set(name, remaining)
    else lists.delete(name)
  }
  const covered = (endpoint: Endpoint): ReadonlySet<EventType> =>
    new Set(coveredEvents(endpoint.events))
  /** Applies to every list of the active that an endpoint is in. */
  const changeLists = (endpoint: Endpoint, change: typeof add | typeof take) => {
    if (!endpoint.active) return
    for (const type of covered(endpoint)) change(types, type, endpoint)
    if (!covered(endpoint).has('price.threshold')) return
    for (const code of new Set(endpoint.conditions.map(condition => condition.commodity)))
      change(codes, code, endpoint)
  }
  const remove = (endpoint: Endpoint) => {
    const stored = ids.get(endpoint.id)
    if (!stored) return
    ids.delete(stored.id)
    accounts.get(stored.accountId)!.delete(stored.id)
    changeLists(stored, take)
  }
  const put = (endpoint: Endpoint) => {
    const previous = ids.get(endpoint.id)
    if (previous) changeLists(previous, take)
    ids.set(endpoint.id, endpoint)
    const accountEndpoints = accounts.get(endpoint.accountId) ?? new Map<string, Endpoint>()
    accounts.set(endpoint.accountId, accountEndpoints.set(endpoint.id, endpoint))
    changeLists(endpoint, add)
  }
  return {
    put,
    remove,
    fill(endpoints: readonly Endpoint[]) {
      for (const map of [ids, accounts, types, codes]) map.clear()
      for (const endpoint of endpoints) put(endpoint)
    },
    byId: (id: string) => ids.get(id),
    of: (accountId: string): readonly Endpoint[] => [
      ...(accounts.get(accountId)?.values() ?? none),
    ],
    subscribed: (type: EventType): readonly Endpoint[] => types.get(type) ?? none,
    conditionedOn: (code: string): readonly Endpoint[] => codes.get(code) ?? none,
    covers: (endpoint: Endpoint, type: EventType) => covered(endpoint).has(type),
  }
}
