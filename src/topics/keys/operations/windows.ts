import { t } from '../../../http/answer/schema.ts'
import type { RateClassName } from '../../../http/gate/rates.ts'
import type { Context } from '../../../http/operations/context.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { quotaRemaining } from '../../../plans/quota.ts'
import type { KeyState } from '../service/keyring.ts'

export const WindowList = t.objects(
  'Every window that applies to the key; rolling windows after this request.',
  {
    name: t.oneOf(['quota', 'burst', 'marine', 'marine_historical']),
    limit: t.integerOrNull('Null: no limit.'),
    used: t.integer(),
    remaining: t.integerOrNull('Null: no limit.'),
    resets_at: t.instant('When the full limit is available again.'),
  },
)

/** Makes the wire form of the windows of a key. */
export function createWindowRows({ meter, rates, clock }: Context) {
  const rolling = (
    name: 'burst' | 'marine' | 'marine_historical',
    table: RateClassName,
    { key }: KeyState,
    limit?: number,
  ) => {
    const decision = rates.peek(table, key.id, clock.monotonic(), limit)
    return {
      name,
      limit: decision.limit,
      used: decision.used,
      remaining: decision.remaining,
      resets_at: isoInstant(Math.ceil(clock.now() + decision.resetMs)),
    }
  }
  return (state: KeyState): (typeof WindowList)['static'] => {
    const quota = meter.quotaUsage(state)
    const { window, used, extra, entitled } = quota
    const isSmall = quota.state === 'exhausted' || state.key.suspendedAt !== null
    return [
      {
        name: 'quota',
        limit: window.limit,
        used,
        remaining: quotaRemaining(window, used, extra),
        resets_at: isoInstant(window.endsAt),
      },
      isSmall
        ? rolling('burst', 'overQuota', state)
        : rolling('burst', 'authenticated', state, entitled.requestsPerMinute),
      rolling('marine', 'marine', state),
      rolling('marine_historical', 'marineHistorical', state),
    ]
  }
}
