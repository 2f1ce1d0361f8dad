import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import type { LimitReached } from '../../../plans/limits.ts'
import type { EventType } from '../../../plans/messages/event-types.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type { Endpoint, EndpointSettings, WebhookStore } from '../store/webhooks.ts'
import { createEndpointIndex } from './endpoint-index.ts'
import { createEndpointSecrets, newWebhookSecret } from './endpoint-secrets.ts'

export interface EndpointWithSecret {
  endpoint: Endpoint
  /** The complete secret, for the one response that contains it. */
  secret: string
}

export interface Rotation {
  /** The caller's own; made here when absent. */
  secret?: string
  /** How long the old secret signs alongside the new one. */
  overlapMs: number
}

/** Why the service disabled an endpoint. */
export type DisabledReason = 'consecutive_failures'

/**
 * The endpoints of all accounts in memory, found by what they subscribed to. What changes is stored
 * before it changes here.
 */
export type Webhooks = ReturnType<typeof createWebhooks>

export interface WebhooksDeps extends Pick<Runtime, 'db' | 'ids' | 'clock'> {
  store: WebhookStore
  keys: Keyring
  vault: Vault
  /** Notifies the outbox that the rules of a lane have changed. */
  wake(lane: string): void
}

export function createWebhooks({ db, store, keys, vault, clock, ids, wake }: WebhooksDeps) {
  const index = createEndpointIndex()
  const { sealed, open } = createEndpointSecrets(vault)
  /** Replaces the cached endpoints by the stored ones. */
  const reload = () => index.fill(store.all())
  reload()

  const save = (endpoint: Endpoint): Endpoint => {
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
    /** Counts endpoints by state; failing: active, and the last delivery failed. */
    tally: store.tally,
    /** Endpoints that the service disabled, the latest first. */
    switchedOff: store.switchedOff,
    /** Endpoints that the operator may want to check. */
    failing: store.failing,
    /** Newest first, disabled ones too. */
    list: (accountId: string): readonly Endpoint[] => index.of(accountId).toReversed(),
    byId: index.byId,
    /** Active endpoints of every account that subscribed to a type; costs nothing without any. */
    subscribed: index.subscribed,
    /** Active endpoints that subscribed to `price.threshold` with a condition on this code. */
    conditionedOn: index.conditionedOn,
    /** Active endpoints of one account that subscribed to a type. */
    subscribedOf: (accountId: string, type: EventType): readonly Endpoint[] =>
      index.of(accountId).filter(endpoint => endpoint.active && index.covers(endpoint, type)),
    records: store.records,
    create(
      account: AccountState,
      settings: EndpointSettings,
      { id = ids.uuid(), secret = newWebhookSecret(ids) }: { id?: string; secret?: string } = {},
    ): EndpointWithSecret | LimitReached {
      const { id: accountId } = account.account
      const limit = keys.entitlements(account).webhookEndpoints
      const count = index.of(accountId).length
      if (limit !== null && count >= limit) return { refused: 'limit', limit, count }
      const now = clock.now()
      const identity = { id, accountId, disabledReason: null, createdAt: now, updatedAt: now }
      return {
        endpoint: save({ ...settings, ...identity, ...sealed(id, secret), ...withoutPrevious }),
        secret,
      }
    },
    /**
     * Fields that the change does not name are kept. An endpoint that is activated again starts
     * without failures.
     */
    change(endpoint: Endpoint, change: Partial<EndpointSettings>, secret?: string): Endpoint {
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
    remove(endpoint: Endpoint) {
      store.remove(endpoint.id)
      index.remove(endpoint)
      wake(endpoint.id)
    },
    rotate(
      endpoint: Endpoint,
      { secret = newWebhookSecret(ids), overlapMs }: Rotation,
    ): EndpointWithSecret {
      const now = clock.now()
      const previous =
        overlapMs > 0
          ? { previousSecret: endpoint.secret, previousSecretUntil: now + overlapMs }
          : withoutPrevious
      return {
        endpoint: save({
          ...endpoint,
          ...sealed(endpoint.id, secret),
          ...previous,
          updatedAt: now,
        }),
        secret,
      }
    },
    /**
     * Disables an active endpoint without a request of its owner, inside the caller's transaction;
     * false if it is disabled already.
     */
    disable(id: string, reason: DisabledReason) {
      const disabled = store.disable(id, reason, clock.now())
      // Read again once the transaction has ended, whichever way it ends.
      if (disabled) queueMicrotask(() => refresh(id))
      return disabled
    },
    /**
     * Counts a delivery that ended, inside the caller's transaction; returns how many in a row have
     * failed.
     */
    settle: store.settle,
    /** The secrets in use for signatures, the current one first. */
    secrets(endpoint: Endpoint) {
      const { current, previous } = open(endpoint)
      return previous !== undefined && clock.now() < (endpoint.previousSecretUntil ?? 0)
        ? [current, previous]
        : [current]
    },
    reload,
  }
}
