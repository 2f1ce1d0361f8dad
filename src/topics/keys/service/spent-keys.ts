import type { Clock } from '../../../lib/time/clock.ts'
import type { UsageWarningStore } from '../store/usage-warnings.ts'
import type { Keyring, KeyState } from './keyring.ts'
import type { Meter } from './meter.ts'

export interface SpentKeysDeps {
  usageWarnings: Pick<UsageWarningStore, 'spent'>
  keys: Pick<Keyring, 'byId'>
  meter: Pick<Meter, 'quotaUsage'>
  clock: Pick<Clock, 'now'>
}

/** Keys whose quota is used up now and whose owners were notified; `limit` at most. */
export const spentKeys = (
  { usageWarnings, keys, meter, clock }: SpentKeysDeps,
  limit: number,
): KeyState[] =>
  usageWarnings
    .spent(limit)
    .flatMap(id => keys.byId(id) ?? [])
    .filter(key => meter.quotaUsage(key, clock.now()).state === 'exhausted')
