import type { AccountState } from '../../topics/keys/service/keyring.ts'
import { sampleId } from './id.ts'
import type { SampleServices } from './services.ts'

/**
 * The data sources of the demo account: a paused one that can be polled for prices, and one to
 * delete. Existing ones are left as they are.
 */
export function sampleDataSources({ dataSources }: SampleServices, account: AccountState): void {
  if (dataSources.byId(sampleId(801))) return
  const paused = { status: 'paused', credentials: { token: 'an unused token' } } as const
  const scraperConfig = {
    url: 'http://127.0.0.1:9/prices.json',
    items: 'prices',
    interval_minutes: 60,
  }
  dataSources.create(
    account,
    { ...paused, name: 'Terminal feed', sourceType: 'api', scraperConfig },
    { id: sampleId(801) },
  )
  dataSources.create(
    account,
    {
      ...paused,
      name: 'Old berth hook',
      sourceType: 'webhook',
      scraperConfig: {},
      credentials: { secret: 'an unused secret' },
    },
    { id: sampleId(802) },
  )
}
