import type { AccountState } from '../../topics/keys/service/keyring.ts'
import { sampleId } from './id.ts'
import type { SampleServices } from './services.ts'

const shared = { deliverWebhook: false, intervalSeconds: 3600 }
const samples = [
  {
    ...shared,
    id: 501,
    name: 'crude every hour',
    codes: ['BRENT_CRUDE_USD', 'WTI_USD'],
    active: true,
    thresholdPercent: 1,
  },
  {
    ...shared,
    id: 502,
    name: 'gas every hour',
    codes: ['NATURAL_GAS_USD'],
    active: false,
    thresholdPercent: null,
  },
]

/**
 * The watches of the evaluation account: a running one, and a paused one to delete. Existing
 * records are kept.
 */
export function sampleWatches({ watches }: SampleServices, account: AccountState): void {
  for (const { id, ...settings } of samples) {
    if (watches.byId(sampleId(id))) continue
    watches.create(account, settings, { id: sampleId(id), source: 'api', toolName: null })
  }
}
