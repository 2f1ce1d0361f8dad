import type { Runtime } from '../../config/runtime.ts'
import type { OutboxServices } from '../../outbox/open.ts'
import type { AccountServices } from '../../topics/account/service/open.ts'
import type { AlertServices } from '../../topics/alerts/service/open.ts'
import type { BillingServices } from '../../topics/billing/service/open.ts'
import type { CatalogueServices } from '../../topics/catalogue/service/open.ts'
import type { DeliveryServices } from '../../topics/deliveries/service/open.ts'
import type { KeyServices } from '../../topics/keys/service/open.ts'
import type { MessageServices } from '../../topics/messages/service/open.ts'
import type { SourceServices } from '../../topics/sources/service/open.ts'
import type { WatchServices } from '../../topics/watches/service/open.ts'
import type { WebhookServices } from '../../topics/webhooks/service/open.ts'

/** The services that write the records of the demo account. */
export interface SampleServices
  extends Pick<Runtime, 'db' | 'clock' | 'ids'>,
    CatalogueServices,
    Pick<KeyServices, 'keys' | 'organizationStore'>,
    Pick<MessageServices, 'notifications'>,
    AlertServices,
    BillingServices,
    DeliveryServices,
    WebhookServices,
    OutboxServices,
    SourceServices,
    WatchServices,
    AccountServices {}
