import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { isoInstant, isoOrNull, startOfMonth } from '../../../lib/time/instant.ts'
import { forecast, quotaRemaining } from '../../../plans/quota.ts'
import { FeatureList, QuotaStateName, WindowName } from './tier-shape.ts'
import { createWindowRows, WindowList } from './windows.ts'

const access = { meter: false } as const

const UsageAnswer = t.Object({
  used: t.integer({ examples: [1234] }),
  limit: t.integerOrNull('Null: no quota.'),
  remaining: t.integerOrNull('Null: no quota.'),
  window: WindowName,
  resets_at: t.String({ format: 'date-time' }),
  state: QuotaStateName,
  windows: WindowList,
  burn_rate_per_day: t.number('Requests per day since the quota window began.', 61.7),
  forecast: t.Object({
    used_at_reset: t.integer('Projected requests at the end of the window at this rate.', 1851),
    exhausted_at: t.instantOrNull(
      'Projected time at which the quota is exhausted; null if not before the reset.',
    ),
  }),
})
export type UsageAnswer = (typeof UsageAnswer)['static']

const UserAnswer = t.Object({
  id: t.String(),
  email: t.String({ examples: ['eval@example.com'] }),
  tier: t.String({ examples: ['starter'] }),
  tier_name: t.String({ examples: ['Production Boost'] }),
  plan: t.oneOf(['free', 'exploration', 'production', 'reservoir_mastery']),
  reservoir_mastery: t.boolean('Whether the plan is Professional or above.'),
  admin: t.boolean('Always false: operators use the admin token, not an account.'),
  requests_this_month: t.integer({ examples: [1234] }),
  request_limit: t.integerOrNull('Requests in the current quota window; null without a quota.'),
  email_confirmed: t.Boolean(),
  email_confirmed_at: t.instantOrNull('When the e-mail address was confirmed.'),
  webhook_limit: t.integerOrNull('Webhook endpoints; null: unlimited.'),
  webhook_events_limit: t.integerOrNull('Webhook events a month; null: unlimited.'),
  trial_active: t.Boolean(),
  features: FeatureList,
})
export type UserAnswer = (typeof UserAnswer)['static']

const Dashboard = t.object('Dashboard', {
  account: t.Pick(UserAnswer, ['id', 'email', 'tier', 'tier_name', 'features']),
  usage: t.Object({
    current_month: t.Object(
      {
        used: t.integer({ examples: [1234] }),
        limit: t.integerOrNull('Null: no quota.'),
        remaining: t.integerOrNull('Null: no quota.'),
        reset_at: t.String({ format: 'date-time' }),
        window: WindowName,
        state: QuotaStateName,
      },
      { description: 'Of the calling key, in its quota window.' },
    ),
    account_this_month: t.integer({
      description: 'Charged requests since the 1st of the month, over all keys of the account.',
      examples: [1234],
    }),
  }),
})

/** The caller and the remaining limits of the key. None of it counts against the quota. */
export const usageOperations: Operations = [limits, callers]

function limits(context: Context) {
  const { meter, clock } = context
  const windowsOf = createWindowRows(context)

  const usageRow = ({ key }: Caller) => {
    const { window, used, extra, state } = meter.quotaUsage(key)
    const { burnRatePerDay, usedAtReset, exhaustedAt } = forecast(used, window, clock.now(), extra)
    return {
      used,
      limit: window.limit,
      remaining: quotaRemaining(window, used, extra),
      resets_at: isoInstant(window.endsAt),
      window: window.kind,
      state,
      windows: windowsOf(key),
      burn_rate_per_day: burnRatePerDay,
      forecast: { used_at_reset: usedAtReset, exhausted_at: isoOrNull(exhaustedAt) },
    }
  }

  return [
    operation('GET /v1/usage', {
      operationId: 'getUsage',
      summary: 'Get limits and usage',
      description:
        "Returns the calling key's usage of its quota and of every rolling window, its usage rate and a linear projection to the reset. Free of charge.",
      access,
      answers: UsageAnswer,
      handle: ({ caller }) => usageRow(caller),
    }),
  ]
}

function callers({ meter, clock }: Context) {
  const userRow = ({ key, entitled }: Caller) => {
    // The caller is the member; the plan and the counts are the organization's.
    const { account } = key.holder
    return {
      id: account.id,
      email: account.email,
      tier: entitled.planId,
      tier_name: entitled.tierName,
      plan: entitled.legacyName,
      reservoir_mastery: entitled.reservoirMastery,
      admin: false,
      requests_this_month: meter.monthly(key.account, startOfMonth(clock.now())),
      request_limit: meter.quotaUsage(key).window.limit,
      email_confirmed: account.emailConfirmedAt !== null,
      email_confirmed_at: isoOrNull(account.emailConfirmedAt),
      webhook_limit: entitled.webhookEndpoints,
      webhook_events_limit: entitled.webhookEventsPerMonth,
      trial_active: entitled.trialActive,
      features: [...entitled.features],
    }
  }

  const user = (operationId: string, description: string) => ({
    operationId,
    summary: 'Get the current user',
    description,
    access,
    answers: UserAnswer,
  })

  return [
    operation('GET /v1/users/me', {
      ...user(
        'getCurrentUser',
        'Returns the account of the calling key, in the shape that older clients read.',
      ),
      handle: ({ caller }) => userRow(caller),
    }),
    operation('GET /v1/dashboard', {
      operationId: 'getDashboard',
      summary: 'Get the account dashboard',
      description:
        "Returns the plan of the account and the usage of the calling key's quota and of the month. Free of charge.",
      access,
      answers: envelope(Dashboard),
      handle: ({ caller }) => {
        const { window, used, extra, state } = meter.quotaUsage(caller.key)
        const { id, email, tier, tier_name, requests_this_month, features } = userRow(caller)
        return success({
          account: { id, email, tier, tier_name, features },
          usage: {
            current_month: {
              used,
              limit: window.limit,
              remaining: quotaRemaining(window, used, extra),
              reset_at: isoInstant(window.endsAt),
              window: window.kind,
              state,
            },
            account_this_month: requests_this_month,
          },
        })
      },
    }),
    operation('GET /users/me', {
      ...user('getCurrentUserAlias', 'Returns the account of the calling key.'),
      summary: 'Get the current user',
      deprecated: { use: '/v1/users/me' },
      handle: ({ caller }) => userRow(caller),
    }),
  ]
}
