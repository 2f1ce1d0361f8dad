import { sampleId } from './id.ts'

interface Account {
  account: { id: string }
}

interface Settings {
  name: string
  codes: readonly string[]
  intervalSeconds: number
  active: boolean
  deliverWebhook: boolean
  thresholdPercent: number | null
}

/** The services that create the sample watches. */
export interface WatchSamplesDeps<A extends Account> {
  keys: { account(id: string): A | undefined }
  watches: {
    byId(id: string): unknown
    create(
      account: A,
      settings: Settings,
      origin: { id: string; source: string; toolName: null },
    ): unknown
  }
}

const shared = { deliverWebhook: false, intervalSeconds: 3600 }
const samples: readonly (Settings & { id: number })[] = [
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
export function sampleWatches<A extends Account>(
  { keys, watches }: WatchSamplesDeps<A>,
  accountId: string,
): void {
  const account = keys.account(accountId)
  if (!account) return
  for (const { id, ...settings } of samples) {
    if (watches.byId(sampleId(id))) continue
    watches.create(account, settings, { id: sampleId(id), source: 'api', toolName: null })
  }
}
