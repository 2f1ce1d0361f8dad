import { t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { type Form, formBody, formOf } from '../../http/input/form.ts'
import { minuteOf, zoneName } from '../../lib/zone.ts'
import type { SmsSettings } from '../../store/messages/sms.ts'

const messagesPerDayMaxMost = 100
const alertTypesMax = 20

const timeOrNull = (example: string) =>
  t.Union([t.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', examples: [example] }), t.Null()], {
    description: 'HH:MM on the clock of the time zone.',
  })

/** What may be set; everything may be left out. */
const settingsFields = t.Object({
  enabled: t.Optional(t.Boolean()),
  quiet_hours: t.Optional(
    t.Union(
      [
        t.Object({
          start: t.Optional(timeOrNull('22:00')),
          end: t.Optional(timeOrNull('07:00')),
          timezone: t.Optional(
            t.String({ description: 'IANA name.', examples: ['America/New_York'] }),
          ),
        }),
        t.Null(),
      ],
      {
        description:
          'Hours without alerts, over midnight where the end is before the start; null: none.',
      },
    ),
  ),
  max_messages_per_day: t.Optional(
    integer({ minimum: 1, maximum: messagesPerDayMaxMost, examples: [10] }),
  ),
  alert_types: t.Optional(
    t.Array(t.String({ examples: ['price_alert'] }), { maxItems: alertTypesMax }),
  ),
})

/** The settings, alone or as `sms_settings`. */
export const smsSettingsBody = formBody(
  t.Union([settingsFields, t.Object({ sms_settings: settingsFields })]),
)

const wordPattern = /^[a-z][a-z0-9_.]{0,59}$/
const wordOf = (text: string) => (wordPattern.test(text) ? text : undefined)

/** A time of the clock, null, or undefined when the body says nothing of it. */
function clockTime(hours: Form, field: string): string | null | undefined {
  if (hours.isNull(field)) return null
  const text = hours.text(field, 5)
  if (text === undefined) return undefined
  return minuteOf(text) === undefined
    ? hours.fault(field, 'must be a time of the clock such as 22:00.')
    : text
}

function quietOf(form: Form, before: SmsSettings): Pick<SmsSettings, 'quiet' | 'timeZone'> {
  const { quiet, timeZone } = before
  if (form.isNull('quiet_hours')) return { quiet: null, timeZone }
  const hours = form.part('quiet_hours')
  const named = hours.text('timezone', 60)
  const zone = named === undefined ? timeZone : zoneName(named)
  if (zone === undefined)
    hours.fault('timezone', 'must be the IANA name of a time zone such as America/New_York.')
  const start = clockTime(hours, 'start')
  const end = clockTime(hours, 'end')
  const from = start === undefined ? (quiet?.from ?? null) : start
  const to = end === undefined ? (quiet?.to ?? null) : end
  if ((from === null) !== (to === null))
    hours.fault(
      from === null ? 'start' : 'end',
      'must be given: hours have both a start and an end.',
    )
  if (from !== null && from === to) hours.fault('end', 'must not be the start.')
  return { quiet: from !== null && to !== null ? { from, to } : null, timeZone: zone ?? timeZone }
}

/** The settings after a change; what the body does not name stays. */
export function smsSettingsOf(body: unknown, before: SmsSettings): SmsSettings {
  const whole = formOf(body)
  const form = whole.has('sms_settings') ? whole.part('sms_settings') : whole
  const enabled = form.flag('enabled')
  const messagesPerDayMax = form.integer('max_messages_per_day', 1, messagesPerDayMaxMost)
  const alertTypes = form.list('alert_types', 'types such as price_alert', alertTypesMax, wordOf)
  const quiet = quietOf(form, before)
  form.check()
  return {
    ...before,
    ...quiet,
    ...(enabled !== undefined && { enabled }),
    ...(messagesPerDayMax !== undefined && { messagesPerDayMax }),
    ...(alertTypes && { alertTypes }),
  }
}
