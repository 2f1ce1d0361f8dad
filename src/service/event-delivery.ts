import type { Database } from 'bun:sqlite'
import type { Clock } from '../lib/clock.ts'
import type { Ids } from '../lib/ids.ts'
import type { Limits } from '../plan/limits.ts'
import type { ObservationStore } from '../store/observations.ts'
import { usageWarningStore } from '../store/usage-warnings.ts'
import { accountSecretStore } from '../store/webhook-account-secrets.ts'
import { webhookMonthStore } from '../store/webhook-months.ts'
import { webhookStore } from '../store/webhooks.ts'
import { type AccountSecrets, accountSecrets } from './account-secrets.ts'
import type { Catalogue } from './catalogue.ts'
import { type Events, events } from './events.ts'
import type { Ingest } from './ingest.ts'
import type { Keyring } from './keyring.ts'
import type { Mail } from './mail.ts'
import type { Meter } from './meter.ts'
import type { Notices } from './notices.ts'
import type { Lanes, Outbox } from './outbox.ts'
import { priceEvents } from './price-events.ts'
import type { QuarantineList } from './quarantine.ts'
import { usageEvents } from './usage-events.ts'
import type { Vault } from './vault.ts'
import { type WebhookAllowance, webhookAllowance } from './webhook-allowance.ts'
import { webhookLanes } from './webhook-lanes.ts'
import { keepWebhookRecords } from './webhook-record.ts'
import { type Webhooks, webhooks } from './webhooks.ts'

/** From what happens in the house to the messages of webhooks. */
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
  const book = webhooks({ ...deps, store: webhookStore(db), wake: lane => outbox.wake('webhook', lane) })
  const secrets = accountSecrets({ ...deps, store: accountSecretStore(db) })
  const allowance = webhookAllowance(webhookMonthStore(db), clock)
  const emitted = events({ ...deps, webhooks: book, allowance })
  keepWebhookRecords({ ...deps, webhooks: book, deactivateAfter: limits.webhookDeactivateAfter })
  deps.ingest.listenInside(priceEvents({ ...deps, webhooks: book, events: emitted }))
  deps.meter.listen(usageEvents({ ...deps, warnings: usageWarningStore(db), events: emitted }))
  return {
    webhooks: book,
    events: emitted,
    accountSecrets: secrets,
    webhookAllowance: allowance,
    webhookLanes: webhookLanes({ webhooks: book, accountSecrets: secrets, keys }),
  }
}
