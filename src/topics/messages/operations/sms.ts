import { transact } from '../../../database/database.ts'
import { t } from '../../../http/answer/schema.ts'
import { accountIdOf } from '../../../http/gate/request-context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { type Problem, passing, stateForbids } from '../../../http/problem/problem.ts'
import { FlatProblem, ValidationProblem } from '../../../http/problem/shape.ts'
import { isoInstant, secondMs, startOfNextMonth } from '../../../lib/time/instant.ts'
import {
  smsCountries,
  smsCountriesToCome,
  smsCountryOf,
} from '../../../plans/messages/sms-countries.ts'
import { hasFeature } from '../../../plans/plans.ts'
import { smsAlertTypes } from '../service/sms.ts'
import type { SmsSettings } from '../store/sms.ts'
import { SmsSettingsBody, smsSettingsOf } from './sms-form.ts'

const clockOrNull = t.orNull(t.String({ examples: ['22:00'] }))
const SettingsShape = t.Object({
  enabled: t.boolean('False stops all alerts by text message. Nothing is sent before opt-in.'),
  quiet_hours: t.Object({
    start: clockOrNull,
    end: clockOrNull,
    timezone: t.String({ examples: ['UTC'] }),
  }),
  max_messages_per_day: t.integer(
    'Maximum alerts per day in the time zone of the quiet hours.',
    10,
  ),
  alert_types: t.Array(t.String({ examples: ['price_alert'] }), {
    description: `Types that are sent: ${smsAlertTypes.join(', ')}.`,
  }),
})
export type SmsSettingsShape = (typeof SettingsShape)['static']
const message = t.string('For a person.')
const instant = t.String({ format: 'date-time' })
const OptedIn = t.Object({
  opted_in: t.Literal(true),
  opted_in_at: instant,
  phone: t.String({ examples: ['+15550100001'] }),
  message,
})
const OptedOut = t.Object({ opted_in: t.Literal(false), opted_out_at: instant, message })
/** The reasons why text messages are not sent. */
const reasons = [
  'plan',
  'phone_missing',
  'phone_not_verified',
  'country_not_supported',
  'monthly_limit_reached',
] as const
const Eligibility = t.Object({
  eligible: t.boolean('Whether only consent is missing.'),
  reasons: t.Array(t.String({ examples: ['phone_missing'] }), {
    description: `What prevents text messages: ${reasons.join(', ')}.`,
  }),
  plan: t.String({ examples: ['professional'] }),
  feature: t.boolean('Whether the plan has text messages.'),
  phone_verified: t.Boolean(),
  opted_in: t.Boolean(),
  country_supported: t.Boolean(),
  monthly_limit: t.integerOrNull('Null: unlimited.'),
  used_this_month: t.integer({ examples: [3] }),
  remaining: t.integerOrNull('Null: unlimited.'),
  supported_countries: t.Array(t.String({ examples: ['US'] })),
  coming_soon: t.Array(t.String({ examples: ['DE'] })),
})
export type Eligibility = (typeof Eligibility)['static']
const Tested = t.Object({
  sent: t.Boolean(),
  message_id: t.orNull(t.String()),
  to: t.String({ examples: ['+15550100001'] }),
  status: t.oneOf(
    ['sent', 'logged'],
    '`logged`: no provider is configured; the message is in the log.',
  ),
  message,
  remaining: t.integerOrNull('Of this month; null: unlimited.'),
})

const open = { meter: false } as const
const gated = { meter: false, header: true, feature: 'sms' } as const

/** Text messages: settings, consent and the rest of the allowance. */
export const smsOperations = [
  operation('GET /v1/sms/settings', {
    operationId: 'getSmsSettings',
    summary: 'Get SMS settings',
    description:
      'Returns when and how often alerts are sent by text message. Available on every plan.',
    access: open,
    answers: SettingsShape,
    handle: ({ at: { textMessages }, caller }) =>
      settingsRow(textMessages.settings(accountIdOf(caller))),
  }),
  operation('PATCH /v1/sms/settings', {
    operationId: 'updateSmsSettings',
    summary: 'Update SMS settings',
    description:
      'Updates the given settings; the body may be wrapped in `sms_settings`. Alerts in quiet hours or over the daily maximum are dropped, because they would be outdated later.',
    access: gated,
    body: SmsSettingsBody.schema,
    answers: SettingsShape,
    handle: ({ at: { db, textMessages, sms: store }, body, caller }) =>
      transact(db, () => {
        const changed = smsSettingsOf(body, textMessages.settings(accountIdOf(caller)))
        store.putSettings(accountIdOf(caller), changed)
        return settingsRow(changed)
      }),
  }),
  operation('POST /v1/sms/optin', {
    operationId: 'optInToSms',
    summary: 'Consent to text messages',
    description:
      "Records the consent of the number's owner. Without consent only verification codes are sent.",
    access: gated,
    answers: { 200: OptedIn, 422: ValidationProblem },
    handle: ({ at: { phones }, caller }) => {
      const agreed = phones.optIn(accountIdOf(caller))
      if ('refused' in agreed)
        throw stateForbids(
          'phone_not_verified',
          'Only a verified phone number can be opted in; add one with POST /v1/phone.',
        )
      return {
        opted_in: true as const,
        opted_in_at: isoInstant(agreed.optedInAt!),
        phone: agreed.number,
        message: 'Alerts can now be sent by text message. To stop them, send DELETE /v1/sms/optin.',
      }
    },
  }),
  operation('DELETE /v1/sms/optin', {
    operationId: 'optOutOfSms',
    summary: 'Withdraw consent to text messages',
    description: 'Withdraws consent; text messages stop immediately. The number stays verified.',
    access: gated,
    answers: OptedOut,
    handle: ({ at: { phones }, caller }) => ({
      opted_in: false as const,
      opted_out_at: isoInstant(phones.optOut(accountIdOf(caller))),
      message: 'No more alerts are sent by text message.',
    }),
  }),
  operation('GET /v1/sms/eligibility', {
    operationId: 'getSmsEligibility',
    summary: 'Check whether text messages can be sent',
    description:
      'Returns whether the account can have text messages, what prevents it, and the remaining monthly allowance. `opted_in` states separately whether the owner of the number consents: it is false before `POST /v1/sms/optin`, and after a reply of STOP.',
    access: open,
    answers: Eligibility,
    handle: ({ at: { phones, textMessages }, caller }) => {
      const phone = phones.of(accountIdOf(caller))
      const feature = hasFeature(caller.entitled, 'sms')
      const { monthlyLimit, usedThisMonth, remaining } = textMessages.allowance(accountIdOf(caller))
      const verified = phone !== undefined && phone.verifiedAt !== null
      const supported = phone !== undefined && smsCountryOf(phone.country) !== undefined
      const against: (typeof reasons)[number][] = []
      if (!feature) against.push('plan')
      if (!phone) against.push('phone_missing')
      else if (!verified) against.push('phone_not_verified')
      if (phone && !supported) against.push('country_not_supported')
      if (feature && remaining === 0) against.push('monthly_limit_reached')
      return {
        eligible: against.length === 0,
        reasons: against,
        plan: caller.entitled.planId,
        feature,
        phone_verified: verified,
        opted_in: phone !== undefined && phone.optedInAt !== null,
        country_supported: supported,
        monthly_limit: monthlyLimit,
        used_this_month: usedThisMonth,
        remaining,
        supported_countries: [...smsCountries],
        coming_soon: [...smsCountriesToCome],
      }
    },
  }),
  operation('POST /v1/sms/test', {
    operationId: 'sendTestSms',
    summary: 'Send a test text message',
    description:
      'Sends one text message to the account’s number, quiet hours or not; it counts towards the month’s allowance (429 `sms_limit_reached`).',
    access: gated,
    idempotent: true,
    answers: {
      200: Tested,
      422: ValidationProblem,
      429: t.Union([FlatProblem, ValidationProblem]),
    },
    handle: ({ at: { phones, serviceName, textMessages, ids, now, db }, caller }) => {
      const accountId = accountIdOf(caller)
      const phone = phones.of(accountId)
      if (!phone || phone.verifiedAt === null || phone.optedInAt === null) {
        throw stateForbids(
          'not_opted_in',
          'A test goes to a verified number that is opted in; use POST /v1/phone and POST /v1/sms/optin.',
        )
      }
      const text = `${serviceName}: this is a test message. Alerts will look like this.`
      const post = () =>
        textMessages.post({
          to: phone.number,
          text,
          accountId,
          dedupe: ids.uuid(),
          purpose: 'test',
        })
      if (textMessages.allowance(accountId).remaining === 0)
        throw limitReached(textMessages.allowance(accountId).monthlyLimit, now())
      const id = transact(db, post)
      return {
        sent: textMessages.reaches,
        message_id: id ?? null,
        to: phone.number,
        status: textMessages.reaches ? ('sent' as const) : ('logged' as const),
        message: textMessages.reaches
          ? 'A test message is being sent; it arrives within a minute if the provider accepts it.'
          : 'No SMS provider is configured: the test message is in the log.',
        remaining: textMessages.allowance(accountId).remaining,
      }
    },
  }),
]

function limitReached(limit: number | null, now: number): Problem {
  const resetAt = startOfNextMonth(now)
  const retryAfter = Math.ceil((resetAt - now) / secondMs)
  return passing(
    'sms_limit_reached',
    `All ${limit ?? 0} text messages of this month are used; the next month begins ${isoInstant(resetAt)}.`,
    retryAfter,
    { field: null, value: null, errors: [], limit, resets_at: isoInstant(resetAt) },
  )
}

const settingsRow = ({ enabled, quiet, timeZone, messagesPerDayMax, alertTypes }: SmsSettings) => ({
  enabled,
  quiet_hours: { start: quiet?.from ?? null, end: quiet?.to ?? null, timezone: timeZone },
  max_messages_per_day: messagesPerDayMax,
  alert_types: [...alertTypes],
})
