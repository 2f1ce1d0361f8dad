import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { dayMs, isoOrNull, startOfDay, startOfMonth } from '../../../../lib/time/instant.ts'
import {
  ApiKeyShape,
  createKeyRows,
  inOrder,
  NewApiKeyShape,
} from '../../../keys/operations/row.ts'
import { FeatureList } from '../../../keys/operations/tier-shape.ts'
import { isActive, type MadeKey } from '../../../keys/service/key-changes.ts'
import {
  type AccountState,
  heldKeys,
  type Keyring,
  type KeyState,
} from '../../../keys/service/keyring.ts'
import type { Meter } from '../../../keys/service/meter.ts'

/** Days that a list of accounts has of each. */
const usageDays = 30

const operatorFields = {
  account_id: t.String({ examples: ['00000000-0000-4000-8000-000000000001'] }),
  suspended_at: t.instantOrNull('When the operator suspended the key.'),
}
export const OperatorKey = t.object('OperatorKey', { ...ApiKeyShape.properties, ...operatorFields })
export type OperatorKey = (typeof OperatorKey)['static']
export const NewOperatorKey = t.object('NewOperatorKey', {
  ...NewApiKeyShape.properties,
  ...operatorFields,
})

const accountFields = {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000001'] }),
  email: t.String({ examples: ['eval@example.com'] }),
  plan: t.String({ examples: ['starter'] }),
  tier: t.string('The plan, or `trial` while one runs.', 'starter'),
  tier_name: t.String({ examples: ['Production Boost'] }),
  add_ons: t.Array(t.String({ examples: ['futures_data'] })),
  trial_active: t.Boolean(),
  trial_started_at: t.instantOrNull('When the last trial began.'),
  trial_ends_at: t.instantOrNull('When it ends or ended.'),
  email_confirmed_at: t.instantOrNull('Null: the free quota applies.'),
  suspended_at: t.instantOrNull('When the operator suspended the account.'),
  created_at: t.String({ format: 'date-time' }),
  active_keys: t.integer({ examples: [2] }),
  total_keys: t.integer({ examples: [3] }),
}
const AccountUsage = t.object('AccountUsage', {
  requests_used: t.integer('Of the quota window that is nearest to its end.', 1234),
  request_limit: t.integerOrNull('Of that window; null: no quota.'),
  last_request_at: t.instantOrNull('When a key of the account was last used.'),
  days: t.Array(t.Integer(), {
    description: `Charged requests of the last ${usageDays} UTC days, oldest first; today is the last.`,
  }),
})
export const OperatorAccount = t.object('OperatorAccount', {
  ...accountFields,
  usage: t.Optional(AccountUsage),
})
export type OperatorAccount = (typeof OperatorAccount)['static']
export const OperatorAccountDetail = t.object('OperatorAccountDetail', {
  ...accountFields,
  features: FeatureList,
  usage_this_month: t.integer({ examples: [1234] }),
  api_keys: t.Array(OperatorKey),
})
export type OperatorAccountDetail = (typeof OperatorAccountDetail)['static']

/** Makes the wire form of accounts and keys as the operator sees them. */
export function createAdminRows(keys: Keyring, meter: Meter, now: () => number) {
  const { row, createdKey } = createKeyRows(meter, now)
  const operatorPart = ({ key }: KeyState) => ({
    account_id: key.accountId,
    suspended_at: isoOrNull(key.suspendedAt),
  })
  const keyRow = (state: KeyState) => ({ ...row(state), ...operatorPart(state) })
  const accountRow = (state: AccountState) => {
    const { account } = state
    const { tier, tierName, trialActive } = keys.entitlements(state)
    return answerRow(OperatorAccount, account, {
      tier,
      tier_name: tierName,
      trial_active: trialActive,
      active_keys: heldKeys(state).filter(key => isActive(key, now())).length,
      total_keys: heldKeys(state).length,
    })
  }
  const usageRow = (state: AccountState): (typeof AccountUsage)['static'] => {
    const active = heldKeys(state).filter(key => isActive(key, now()))
    const quotas = active.map(key => meter.quotaUsage(key))
    const share = ({ used, window }: (typeof quotas)[number]) => used / (window.limit ?? Infinity)
    const [nearest] = quotas.sort((a, b) => share(b) - share(a))
    const from = startOfDay(now()) - (usageDays - 1) * dayMs
    const days = Array.from({ length: usageDays }, () => 0)
    for (const { dayAt, requests } of meter.daily(state, from, now() + 1))
      days[(dayAt - from) / dayMs] = requests
    return {
      requests_used: nearest?.used ?? 0,
      request_limit: nearest?.window.limit ?? null,
      last_request_at: isoOrNull(Math.max(0, ...active.map(key => key.lastUsedAt ?? 0)) || null),
      days,
    }
  }
  const listed = (states: readonly KeyState[]) => inOrder(states, now()).map(keyRow)
  return {
    accountRow,
    usageRow,
    keyRow,
    listed,
    accountDetail: (state: AccountState) => ({
      ...accountRow(state),
      features: [...keys.entitlements(state).features],
      usage_this_month: meter.monthly(state, startOfMonth(now())),
      api_keys: listed(heldKeys(state)),
    }),
    madeRow: (key: MadeKey) => ({ ...createdKey(key), ...operatorPart(key.state) }),
  }
}
