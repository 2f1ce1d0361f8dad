import type { AccountState } from '../../topics/keys/service/keyring.ts'
import { sampleId } from './id.ts'
import type { SampleServices } from './services.ts'

const schedule = {
  cadence: 'daily',
  weekday: null,
  deliveryTime: '07:00',
  timeZone: 'UTC',
  recipientEmail: null,
} as const

const samples = [
  {
    ...schedule,
    id: 301,
    name: 'Morning prices',
    commodityCodes: ['BRENT_CRUDE_USD', 'WTI_USD', 'NATURAL_GAS_USD'],
    enabled: true,
  },
  { ...schedule, id: 302, name: 'Gold at the close', commodityCodes: ['GOLD_USD'], enabled: false },
]

/**
 * The deliveries of the evaluation account: a daily one, and a paused one to delete. Existing
 * records are kept.
 */
export function sampleDeliveries({ deliveries }: SampleServices, account: AccountState): void {
  for (const { id, ...settings } of samples) {
    if (deliveries.own(account.account.id, sampleId(id)) === undefined)
      deliveries.create(account, settings, { source: 'api', id: sampleId(id) })
  }
}
