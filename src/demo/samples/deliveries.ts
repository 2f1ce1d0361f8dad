import type { DeliverySchedule } from '../../plans/messages/delivery-schedule.ts'
import { sampleId } from './id.ts'

interface Account {
  account: { id: string }
}

interface Settings extends DeliverySchedule {
  name: string
  commodityCodes: readonly string[]
  recipientEmail: null
  enabled: boolean
}

/** The services that create the sample deliveries. */
export interface DeliverySamplesDeps<A extends Account> {
  keys: { account(id: string): A | undefined }
  deliveries: {
    own(accountId: string, id: string): unknown
    create(account: A, settings: Settings, options: { source: string; id: string }): unknown
  }
}

const schedule = {
  cadence: 'daily',
  weekday: null,
  deliveryTime: '07:00',
  timeZone: 'UTC',
  recipientEmail: null,
} as const

const samples: readonly (Settings & { id: number })[] = [
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
export function sampleDeliveries<A extends Account>(
  { keys, deliveries }: DeliverySamplesDeps<A>,
  accountId: string,
): void {
  const account = keys.account(accountId)
  if (!account) return
  for (const { id, ...settings } of samples) {
    if (deliveries.own(accountId, sampleId(id)) === undefined)
      deliveries.create(account, settings, { source: 'api', id: sampleId(id) })
  }
}
