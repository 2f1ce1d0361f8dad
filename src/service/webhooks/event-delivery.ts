import type { Database } from 'bun:sqlite'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Limits } from '../../plan/limits.ts'
import { usageWarningStore } from '../../store/keys/usage-warnings.ts'
import type { ObservationStore } from '../../store/prices/observations.ts'
import { accountSecretStore } from '../../store/webhooks/account-secrets.ts'
import { webhookMonthStore } from '../../store/webhooks/months.ts'
import { webhookStore } from '../../store/webhooks/webhooks.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { Meter } from '../keys/meter.ts'
import type { Vault } from '../keys/vault.ts'
import type { Mail } from '../messages/mail.ts'
import type { Notices } from '../messages/notices.ts'
import type { Lanes, Outbox } from '../outbox/outbox.ts'
import type { Ingest } from '../prices/ingest.ts'
import type { QuarantineList } from '../prices/quarantine.ts'
import { type AccountSecrets, accountSecrets } from './account-secrets.ts'
import { type WebhookAllowance, webhookAllowance } from './allowance.ts'
import { type Events, events } from './events.ts'
import { webhookLanes } from './lanes.ts'
import { priceEvents } from './price-events.ts'
import { keepWebhookRecords } from './record.ts'
import { usageEvents } from './usage-events.ts'
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
  const book = webhooks({
    ...deps,
    store: webhookStore(db),
    wake: lane => outbox.wake('webhook', lane),
  })
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
