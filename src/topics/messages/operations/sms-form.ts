import { t } from '../../../http/answer/schema.ts'
import {
  bareOrPart,
  type Field,
  type FieldOptions,
  field,
  flag,
  listOf,
  nullable,
  optional,
  part,
  whole,
} from '../../../http/input/body-schema.ts'
import type { Form } from '../../../http/input/form.ts'
import { minuteOf, zoneName } from '../../../lib/time/zone.ts'
import { smsAlertTypes } from '../service/sms.ts'
import type { SmsSettings } from '../store/sms.ts'

const messagesPerDayMost = 100
const alertTypesMax = 20
const zoneCharactersMax = 60

const clockTime = (example: string): Field<string> =>
  field(t.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', examples: [example] }), (form, name) => {
    const text = form.text(name, 5)
    if (text === undefined || minuteOf(text) !== undefined) return text
    return form.fault(name, 'must be a time of the clock such as 22:00.')
  })

const timeOrNull = (example: string) =>
  optional(nullable(clockTime(example), { description: 'HH:MM on the clock of the time zone.' }))

const zone = (options: FieldOptions): Field<string> =>
  field(t.String(options), (form, name) => {
    const text = form.text(name, zoneCharactersMax)
    if (text === undefined) return undefined
    return (
      zoneName(text) ??
      form.fault(name, 'must be the IANA name of a time zone such as America/New_York.')
    )
  })

/** The editable settings, bare or as `sms_settings`; all are optional. */
export const SmsSettingsBody = bareOrPart(
  {
    enabled: optional(flag()),
    quiet_hours: optional(
      nullable(
        part({
          start: timeOrNull('22:00'),
          end: timeOrNull('07:00'),
          timezone: optional(zone({ description: 'IANA name.', examples: ['America/New_York'] })),
        }),
        {
          description:
            'Hours without alerts, across midnight if the end is before the start; null for none.',
        },
      ),
    ),
    max_messages_per_day: optional(whole(1, messagesPerDayMost, { examples: [10] })),
    alert_types: optional(
      listOf(
        t.String({ examples: ['price_alert'] }),
        { nouns: 'types', item: `one of ${smsAlertTypes.join(', ')}` },
        alertTypesMax,
        text => smsAlertTypes.find(type => type === text),
      ),
    ),
  },
  'sms_settings',
)

type SmsSettingsValues = ReturnType<typeof SmsSettingsBody.read>

/** The quiet hours after a change; fields that are absent stay as they are. */
function quietAfter(
  { quiet, timeZone }: SmsSettings,
  hours: SmsSettingsValues['quiet_hours'],
): { from: string | null; to: string | null; timeZone: string } {
  if (hours === null) return { from: null, to: null, timeZone }
  const { start = quiet?.from ?? null, end = quiet?.to ?? null } = hours ?? {}
  return { from: start, to: end, timeZone: hours?.timezone ?? timeZone }
}

function refuseHalfHours(form: Form, from: string | null, to: string | null) {
  if ((from === null) !== (to === null))
    form
      .part('quiet_hours')
      .fault(from === null ? 'start' : 'end', 'is required: quiet hours have a start and an end.')
  if (from !== null && from === to) form.part('quiet_hours').fault('end', 'must not be the start.')
}

/** The settings after a change; what the body does not name stays. */
export function smsSettingsOf(input: unknown, before: SmsSettings): SmsSettings {
  const values = SmsSettingsBody.read(input, (form, { quiet_hours: hours }) => {
    const { from, to } = quietAfter(before, hours)
    refuseHalfHours(form, from, to)
  })
  const { from, to, timeZone } = quietAfter(before, values.quiet_hours)
  return {
    ...before,
    quiet: from !== null && to !== null ? { from, to } : null,
    timeZone,
    enabled: values.enabled ?? before.enabled,
    messagesPerDayMax: values.max_messages_per_day ?? before.messagesPerDayMax,
    alertTypes: values.alert_types ?? before.alertTypes,
  }
}
