import { sampleId } from './id.ts'

interface Account {
  account: { id: string }
}

interface SampleSource {
  name: string
  sourceType: string
  status: 'paused'
  scraperConfig: Readonly<Record<string, unknown>>
  credentials: Readonly<Record<string, string>>
}

/** The services that create the sample sources. */
export interface DataSourceSamplesDeps<A extends Account> {
  keys: { account(id: string): A | undefined }
  dataSources: {
    byId(id: string): unknown
    create(account: A, settings: SampleSource, options: { id: string }): unknown
  }
}

/**
 * The data sources of the demo account: a paused one that can be polled for prices, and one to
 * delete. Existing ones are left as they are.
 */
export function sampleDataSources<A extends Account>(
  { keys, dataSources }: DataSourceSamplesDeps<A>,
  accountId: string,
): void {
  const account = keys.account(accountId)
  if (!account || dataSources.byId(sampleId(801))) return
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
