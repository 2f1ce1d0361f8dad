import type { Database } from 'bun:sqlite'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Limits } from '../../plan/limits.ts'
import { createUsageWarningStore } from '../../store/keys/usage-warnings.ts'
import type { ObservationStore } from '../../store/prices/observations.ts'
import { createAccountSecretStore } from '../../store/webhooks/account-secrets.ts'
import { createWebhookMonthStore } from '../../store/webhooks/months.ts'
import { createWebhookStore } from '../../store/webhooks/webhooks.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { Meter } from '../keys/meter.ts'
import type { Vault } from '../keys/vault.ts'
import type { Mail } from '../messages/mail.ts'
import type { Notices } from '../messages/notices.ts'
import type { Lanes, Outbox } from '../outbox/outbox.ts'
import type { Ingest } from '../prices/ingest.ts'
import type { QuarantineList } from '../prices/quarantine.ts'
import { type AccountSecrets, createAccountSecrets } from './account-secrets.ts'
import { createWebhookAllowance, type WebhookAllowance } from './allowance.ts'
import { createEvents, type Events } from './events.ts'
import { createWebhookLanes } from './lanes.ts'
import { priceEvents } from './price-events.ts'
import { keepWebhookRecords } from './record.ts'
import { usageEvents } from './usage-events.ts'
import { createWebhooks, type Webhooks } from './webhooks.ts'

/** From what happens in the instance to the messages of webhooks. */
export interface EventDelivery {
  webhooks: Webhooks
  events: Events
  accountSecrets: AccountSecrets
  webhookAllowance: WebhookAllowance
  /** For whoever sends. */
  webhookLanes: Lanes
}

export interface EventDeliveryDeps {
  db: Database
  clock: Clock
  ids: Ids
  limits: Pick<Limits, 'webhookDeactivateAfter'>
  keys: Keyring
  vault: Vault
  catalogue: Catalogue
  observations: ObservationStore
  quarantine: QuarantineList
  ingest: Pick<Ingest, 'listenInside'>
  meter: Pick<Meter, 'listen'>
  outbox: Outbox
  mail: Mail
  notices: Notices
}

/** Puts endpoints, events and what causes them together. */
export function eventDelivery(deps: EventDeliveryDeps): EventDelivery {
  const { db, clock, keys, outbox, limits } = deps
  const book = createWebhooks({
    ...deps,
    store: createWebhookStore(db),
    wake: lane => outbox.wake('webhook', lane),
  })
  const secrets = createAccountSecrets({ ...deps, store: createAccountSecretStore(db) })
  const allowance = createWebhookAllowance(createWebhookMonthStore(db), clock)
  const emitted = createEvents({ ...deps, webhooks: book, allowance })
  keepWebhookRecords({ ...deps, webhooks: book, deactivateAfter: limits.webhookDeactivateAfter })
  deps.ingest.listenInside(priceEvents({ ...deps, webhooks: book, events: emitted }))
  deps.meter.listen(
    usageEvents({ ...deps, warnings: createUsageWarningStore(db), events: emitted }),
  )
  return {
    webhooks: book,
    events: emitted,
    accountSecrets: secrets,
    webhookAllowance: allowance,
    webhookLanes: createWebhookLanes({ webhooks: book, accountSecrets: secrets, keys }),
  }
}
