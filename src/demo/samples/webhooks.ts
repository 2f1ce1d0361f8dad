import { isoInstant } from '../../lib/time/instant.ts'
import type { AccountState } from '../../topics/keys/service/keyring.ts'
import { defaultSettings } from '../../topics/webhooks/store/webhooks.ts'
import { sampleId } from './id.ts'
import type { SampleServices } from './services.ts'

const eventId = `evt_${'0'.repeat(22)}0411`
const url = 'http://127.0.0.1:9/hook'

/**
 * The endpoints of the evaluation account: a disabled one with one logged event, and one to delete.
 * Existing records are kept.
 */
export function sampleWebhooks(
  { webhooks, outbox, clock }: SampleServices,
  account: AccountState,
): void {
  if (webhooks.byId(sampleId(401))) return
  const settings = { ...defaultSettings, url, events: ['price.updated'], active: false }
  webhooks.create(
    account,
    { ...settings, description: 'Prices to the desk' },
    { id: sampleId(401) },
  )
  webhooks.create(account, { ...settings, description: 'Old address' }, { id: sampleId(402) })
  const now = isoInstant(clock.now())
  const type = 'price.updated'
  const data = {
    commodity: 'BRENT_CRUDE_USD',
    commodity_code: 'BRENT_CRUDE_USD',
    name: 'Brent Crude Oil',
    value: 74,
    price: 74,
  }
  outbox.put({
    kind: 'webhook',
    id: sampleId(411),
    accountId: account.account.id,
    lane: sampleId(401),
    eventId,
    eventType: type,
    body: JSON.stringify({
      id: eventId,
      type,
      event: type,
      created_at: now,
      data: { ...data, currency: 'USD', unit: 'barrel', timestamp: now },
    }),
    skipped: 'a sample, which was never sent',
  })
}
