import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { isoInstant, isoOrNull, startOfMonth } from '../../../lib/time/instant.ts'
import { tierOf } from '../../../plans/plans.ts'
import { percentUsed, quotaRemaining } from '../../../plans/quota.ts'
import { tierRow } from '../../keys/operations/limit-rows.ts'
import { ApiKeyShape, createKeyRows } from '../../keys/operations/row.ts'
import {
  FeatureList,
  QuotaStateName,
  TierShape,
  WindowName,
} from '../../keys/operations/tier-shape.ts'

export const AccountAnswer = t.Object({
  account: t.Object({
    email: t.string(
      'E-mail address of the caller, also for members of an organization.',
      'eval@example.com',
    ),
    tier: t.String({ examples: ['starter'] }),
    tier_name: t.String({ examples: ['Production Boost'] }),
    plan: t.String({ examples: ['starter'] }),
    request_limit: t.integerOrNull('Requests in the current quota window; null without a quota.'),
    usage_this_month: t.integer(
      'Charged requests since the 1st of the month, over all keys of the account.',
      1234,
    ),
    trial_active: t.Boolean(),
    trial_ends_at: t.instantOrNull('When the trial ends or ended.'),
    email_confirmed: t.Boolean(),
    created_at: t.String({ format: 'date-time' }),
  }),
  api_keys: t.Array(ApiKeyShape),
  docs: t.String({ examples: ['https://prices.example.com/docs'] }),
  docs_url: t.String({ examples: ['https://prices.example.com/docs'] }),
  data: t.Object({
    plan: t.String({ examples: ['starter'] }),
    plan_name: t.String({ examples: ['Starter'] }),
    subscription_status: t.oneOf(['none', 'trialing', 'active', 'past_due', 'cancelled']),
    cancel_at_period_end: t.Boolean(),
    quota: t.Object({
      limit: t.integerOrNull('Null: no quota.'),
      used: t.integer({ examples: [1234] }),
      remaining: t.integerOrNull('Null: no quota.'),
      window: WindowName,
      resets_at: t.String({ format: 'date-time' }),
      state: QuotaStateName,
      percent_used: t.Number({ examples: [2.47] }),
      scope: t.oneOf(
        ['key', 'account'],
        'Whether the quota applies per key or to the whole account.',
      ),
    }),
    features: FeatureList,
    addons: t.Array(t.String({ examples: ['futures_data'] })),
    limits: TierShape,
  }),
})
export type AccountAnswer = (typeof AccountAnswer)['static']

/** The state of the caller's account. */
export function accountOperations({ meter, billing, plans, links, config, now }: Context) {
  const { rows } = createKeyRows(meter, now)

  const accountRow = (
    { key: { account: state, holder }, entitled }: Caller,
    requestLimit: number | null,
  ) => ({
    email: holder.account.email,
    tier: entitled.planId,
    tier_name: entitled.tierName,
    plan: entitled.planId,
    request_limit: requestLimit,
    usage_this_month: meter.monthly(state, startOfMonth(now())),
    trial_active: entitled.trialActive,
    trial_ends_at: isoOrNull(state.account.trialEndsAt),
    email_confirmed: state.account.emailConfirmedAt !== null,
    created_at: isoInstant(state.account.createdAt),
  })

  return [
    operation('GET /v1/account', {
      operationId: 'getAccount',
      summary: 'Get the account',
      description:
        "Returns the account: identity at the top level; the plan, the calling key's quota and the plan's limits under `data`. Members of an organization get the organization's account. Free of charge, so that an account can see when an exhausted quota resets.",
      access: { meter: false, header: true },
      answers: AccountAnswer,
      handle: ({ caller, request }) => {
        const { key, entitled } = caller
        const subscribed = billing.statusOf(key.account)
        const { window, used, extra, state } = meter.quotaUsage(key)
        const { docsUrl } = links(request)
        return {
          account: accountRow(caller, window.limit),
          api_keys: rows(key.account.keys),
          docs: docsUrl,
          docs_url: docsUrl,
          data: {
            plan: entitled.planId,
            plan_name: entitled.planName,
            subscription_status: subscribed.status,
            cancel_at_period_end: subscribed.cancelAtPeriodEnd,
            quota: {
              limit: window.limit,
              used,
              remaining: quotaRemaining(window, used, extra),
              window: window.kind,
              resets_at: isoInstant(window.endsAt),
              state,
              percent_used: percentUsed(window, used),
              scope: config.quota.scope,
            },
            features: [...entitled.features],
            addons: key.account.account.addOns,
            limits: tierRow(plans, tierOf(plans, entitled.tier)),
          },
        }
      },
    }),
  ]
}
