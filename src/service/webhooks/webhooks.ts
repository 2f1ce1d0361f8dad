import type { Database } from 'bun:sqlite'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { coveredEvents, type EventType } from '../../plan/event-types.ts'
import { transact } from '../../store/database.ts'
import type {
  Endpoint,
  EndpointRecord,
  EndpointSettings,
  WebhookStore,
} from '../../store/webhooks/webhooks.ts'
import type { AccountState, Keyring } from '../keys/keyring.ts'
import type { Vault } from '../keys/vault.ts'

export interface EndpointWithSecret {
  endpoint: Endpoint
  /** The whole secret, for the answer that shows it. */
  secret: string
}

/** The account has as many endpoints as its plan allows. */
export interface EndpointRefusal {
  refused: 'limit'
  limit: number
  count: number
}

export interface Rotation {
  /** The caller's own; made here when absent. */
  secret?: string
  /** How long the old secret signs beside the new one. */
  overlapMs: number
}

/** Why the service switched an endpoint off. */
export type DisabledReason = 'consecutive_failures'

/**
 * The endpoints of all accounts in memory, found by what they subscribed to. What changes is stored
 * before it changes here.
 */
export interface Webhooks {
  /** Newest first, disabled ones too. */
  list(accountId: string): readonly Endpoint[]
  byId(id: string): Endpoint | undefined
  /**
   * Active endpoints of every account that asked for a type. Costs nothing where there are none.
   */
  subscribed(type: EventType): readonly Endpoint[]
  /** Active endpoints that asked to be told of conditions and have one on this code. */
  conditionedOn(code: string): readonly Endpoint[]
  /** Active endpoints of one account that asked for a type. */
  subscribedOf(accountId: string, type: EventType): readonly Endpoint[]
  records(accountId: string): Map<string, EndpointRecord>
  create(
    account: AccountState,
    settings: EndpointSettings,
    options?: { id?: string; secret?: string },
  ): EndpointWithSecret | EndpointRefusal
  /** What the change does not name stays. Active again, an endpoint starts without failures. */
  change(endpoint: Endpoint, change: Partial<EndpointSettings>, secret?: string): Endpoint
  remove(endpoint: Endpoint): void
  rotate(endpoint: Endpoint, rotation: Rotation): EndpointWithSecret
  /**
   * Switches an active endpoint off on the service's own account, inside the caller's transaction;
   * false when it is off already.
   */
  disable(id: string, reason: DisabledReason): boolean
  /**
   * Counts a delivery that ended, inside the caller's transaction; answers how many ended failed in
   * a row.
   */
  settle: WebhookStore['settle']
  /** The secrets that sign now, the current one first. */
  secrets(endpoint: Endpoint): string[]
  /** Forgets what is in memory and reads the store again. */
  reload(): void
}

export interface WebhooksDeps {
  db: Database
  store: WebhookStore
  keys: Keyring
  vault: Vault
  clock: Clock
  ids: Ids
  /** A lane has other rules now. */
  wake(lane: string): void
}

const secretPrefix = 'whsec_'
const secretCharacters = 48

export const newWebhookSecret = (ids: Ids): string =>
  secretPrefix + ids.token().slice(0, secretCharacters)

/** The last four characters, by which people recognise a secret. */
export const hintOf = (secret: string): string =>
  `${secret.startsWith(secretPrefix) ? secretPrefix : ''}…${secret.slice(-4)}`

/** What the vault seals it under. */
export const contextOf = (id: string) => `webhook ${id}`

export function createWebhooks({
  db,
  store,
  keys,
  vault,
  clock,
  ids,
  wake,
}: WebhooksDeps): Webhooks {
  const index = createEndpointIndex()
  const { sealed, open } = createEndpointSecrets(vault)
  const reload = () => index.fill(store.all())
  reload()

  const keep = (endpoint: Endpoint): Endpoint => {
    store.put(endpoint)
    index.put(endpoint)
    return endpoint
  }
  const refresh = (id: string) => {
    const stored = store.find(id)
    if (stored) index.put(stored)
  }
  const withoutPrevious = { previousSecret: null, previousSecretUntil: null }

  return {
    list: accountId => index.of(accountId).toReversed(),
    byId: index.byId,
    subscribed: index.subscribed,
    conditionedOn: index.conditionedOn,
    subscribedOf: (accountId, type) =>
      index.of(accountId).filter(endpoint => endpoint.active && index.covers(endpoint, type)),
    records: store.records,
    create(account, settings, { id = ids.uuid(), secret = newWebhookSecret(ids) } = {}) {
      const { id: accountId } = account.account
      const limit = keys.entitlements(account).webhookEndpoints
      const count = index.of(accountId).length
      if (limit !== null && count >= limit) return { refused: 'limit', limit, count }
      const now = clock.now()
      const own = { id, accountId, disabledReason: null, createdAt: now, updatedAt: now }
      return {
        endpoint: keep({ ...settings, ...own, ...sealed(id, secret), ...withoutPrevious }),
        secret,
      }
    },
    change(endpoint, change, secret) {
      const next = {
        ...endpoint,
        ...change,
        ...(change.active !== undefined && { disabledReason: null }),
        ...(secret !== undefined && { ...sealed(endpoint.id, secret), ...withoutPrevious }),
        updatedAt: clock.now(),
      }
      transact(db, () => {
        store.put(next)
        if (change.active === true) store.forgive(endpoint.id)
      })
      index.put(next)
      wake(endpoint.id)
      return next
    },
    remove(endpoint) {
      store.remove(endpoint.id)
      index.remove(endpoint)
      wake(endpoint.id)
    },
    rotate(endpoint, { secret = newWebhookSecret(ids), overlapMs }) {
      const now = clock.now()
      const previous =
        overlapMs > 0
          ? { previousSecret: endpoint.secret, previousSecretUntil: now + overlapMs }
          : withoutPrevious
      return {
        endpoint: keep({
          ...endpoint,
          ...sealed(endpoint.id, secret),
          ...previous,
          updatedAt: now,
        }),
        secret,
      }
    },
    disable(id, reason) {
      const disabled = store.disable(id, reason, clock.now())
      // Read again once the transaction has ended, whichever way it ends.
      if (disabled) queueMicrotask(() => refresh(id))
      return disabled
    },
    settle: store.settle,
    secrets(endpoint) {
      const { current, previous } = open(endpoint)
      return previous !== undefined && clock.now() < (endpoint.previousSecretUntil ?? 0)
        ? [current, previous]
        : [current]
    },
    reload,
  }
}

/** What of a secret stands in a row, and back. */
function createEndpointSecrets(vault: Vault) {
  // Opened once for each state of an endpoint: every attempt of a delivery asks.
  const opened = new WeakMap<Endpoint, { current: string; previous: string | undefined }>()
  return {
    sealed: (id: string, secret: string) => ({
      secret: vault.seal(contextOf(id), secret),
      secretHint: hintOf(secret),
    }),
    open(endpoint: Endpoint) {
      const { id, secret, previousSecret } = endpoint
      const openSecrets = opened.get(endpoint) ?? {
        current: vault.open(contextOf(id), secret),
        previous: previousSecret === null ? undefined : vault.open(contextOf(id), previousSecret),
      }
      opened.set(endpoint, openSecrets)
      return openSecrets
    },
  }
}

const none: readonly Endpoint[] = []

/** Endpoints by id and account, and the active ones by what they want to hear of. */
function createEndpointIndex() {
  const ids = new Map<string, Endpoint>()
  /** A Map keeps the place of what is set again: lists stay in the order of creation. */
  const accounts = new Map<string, Map<string, Endpoint>>()
  const types = new Map<EventType, Endpoint[]>()
  const codes = new Map<string, Endpoint[]>()
  const coveredTypes = new WeakMap<Endpoint, ReadonlySet<EventType>>()

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
  const covered = (endpoint: Endpoint): ReadonlySet<EventType> => {
    const eventTypes = coveredTypes.get(endpoint) ?? new Set(coveredEvents(endpoint.events))
    coveredTypes.set(endpoint, eventTypes)
    return eventTypes
  }
  /** Applies to every list of the active that an endpoint stands in. */
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
