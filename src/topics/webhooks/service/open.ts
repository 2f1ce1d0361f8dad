import type { Runtime } from '../../../config/runtime.ts'
import type { Outbox } from '../../../outbox/outbox.ts'
import type { Limits } from '../../../plans/limits.ts'
import { createEgress } from '../../../send/egress/egress.ts'
import type { Tracer } from '../../../send/traces/tracer.ts'
import { createWebhookSender, withSpans } from '../../../send/webhooks/webhook.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Meter } from '../../keys/service/meter.ts'
import type { Vault } from '../../keys/service/vault.ts'
import { createUsageWarningStore } from '../../keys/store/usage-warnings.ts'
import type { Mail } from '../../messages/service/mail.ts'
import type { Notices } from '../../messages/service/notices.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { Arrivals } from '../../prices/service/writes/arrivals.ts'
import type { Ingest } from '../../prices/service/writes/ingest.ts'
import type { ObservationStore } from '../../prices/store/observations.ts'
import { createAccountSecretStore } from '../store/account-secrets.ts'
import { createWebhookMonthStore } from '../store/months.ts'
import { createWebhookStore } from '../store/webhooks.ts'
import { createAccountSecrets } from './account-secrets.ts'
import { createWebhookAllowance } from './allowance.ts'
import { createCorrectionEvents } from './correction-events.ts'
import { createDayAheadEvents, type DayAheadEventsDeps } from './day-ahead-events.ts'
import { createEvents } from './events.ts'
import { createWebhookLanes } from './lanes.ts'
import { createPriceEvents, type PriceEventsDeps } from './price-events.ts'
import { keepWebhookRecords } from './record.ts'
import { createSkips } from './skips.ts'
import { createWebhookTrial } from './trial.ts'
import { createUsageEvents } from './usage-events.ts'
import { createWebhooks } from './webhooks.ts'

/** The endpoints of webhooks, and the events that are sent to them. */
export type WebhookServices = ReturnType<typeof openWebhooks>

export interface WebhookServicesDeps
  extends Pick<Runtime, 'db' | 'config' | 'ids' | 'log' | 'clock'> {
  limits: Pick<Limits, 'webhookDeactivateAfter'>
  keys: Keyring
  vault: Vault
  catalogue: Catalogue
  observations: ObservationStore
  quarantine: QuarantineList
  attributed: PriceEventsDeps['attributed']
  periodValues: DayAheadEventsDeps['periodValues']
  ingest: Pick<Ingest, 'listenInside' | 'onRemovalInside'>
  arrivals: Pick<Arrivals, 'listen'>
  meter: Pick<Meter, 'listen'>
  outbox: Outbox
  tracer: Tracer | undefined
  mail: Mail
  notices: Notices
}

/** Opens the endpoints, the events and their listeners. */
export function openWebhooks(deps: WebhookServicesDeps) {
  const { db, clock, keys, outbox, limits, config } = deps
  const webhooks = createWebhooks({
    ...deps,
    store: createWebhookStore(db),
    wake: lane => outbox.wake('webhook', lane),
  })
  const accountSecrets = createAccountSecrets({ ...deps, store: createAccountSecretStore(db) })
  const allowance = createWebhookAllowance(createWebhookMonthStore(db), clock)
  const skips = createSkips(deps)
  const events = createEvents({ ...deps, webhooks, allowance, skips })
  keepWebhookRecords({ ...deps, webhooks, deactivateAfter: limits.webhookDeactivateAfter })
  const priceEvents = createPriceEvents({ ...deps, webhooks, events })
  deps.ingest.listenInside(priceEvents)
  deps.arrivals.listen(priceEvents)
  const corrections = createCorrectionEvents({ ...deps, webhooks, events })
  deps.ingest.listenInside(corrections.changed)
  deps.ingest.onRemovalInside(corrections.removed)
  deps.ingest.listenInside(createDayAheadEvents({ ...deps, webhooks, events }))
  /** Notifies owners of keys whose quota was used up. */
  const usageWarnings = createUsageWarningStore(db)
  deps.meter.listen(createUsageEvents({ ...deps, warnings: usageWarnings, events }))
  /** All requests to addresses that accounts name go through this. */
  const egress = createEgress(config.egress.allow)
  const { headerPrefix, webhookUserAgent: userAgent } = config.brand
  const sender = createWebhookSender({ egress, clock, headerPrefix, userAgent })
  const traced = deps.tracer ? withSpans(sender, deps.tracer) : sender
  outbox.register('webhook', traced, createWebhookLanes({ webhooks, accountSecrets, keys }))
  return {
    webhooks,
    events,
    accountSecrets,
    webhookAllowance: allowance,
    /** The events that are not sent, by reason. */
    webhookSkips: skips,
    egress,
    webhookTrial: createWebhookTrial({ sender, clock, ids: deps.ids }),
    usageWarnings,
  }
}
