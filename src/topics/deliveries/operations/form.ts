import { t } from '../../../http/answer/schema.ts'
import {
  body,
  changeOf,
  choice,
  type Field,
  field,
  flag,
  nullable,
  omittable,
  optional,
  type Values,
  whole,
} from '../../../http/input/body-schema.ts'
import type { Form } from '../../../http/input/form.ts'
import { camelFields } from '../../../lib/text/name-case.ts'
import { unprintable } from '../../../lib/text/text.ts'
import { minuteOf, zoneName } from '../../../lib/time/zone.ts'
import { deliveryCadences } from '../../../plans/messages/delivery-schedule.ts'
import { plainAddress } from '../../../send/messages/mailer.ts'
import { emailMax } from '../../account/operations/account-form.ts'
import type { DeliverySettings } from '../service/deliveries.ts'

const codeMax = 100
const zoneMax = 100
const timeMax = 20
const suggestionsMax = 3

export interface DeliveryFormDeps {
  /** The canonical code of a code or alias. */
  codeOf(text: string): string | undefined
  /** Codes near to an unknown one. */
  near(code: string): string[]
  codesMax: number
  nameMax: number
}

const deliveryFields = (deps: DeliveryFormDeps) => ({
  name: optional(
    nullable(nameField(deps.nameMax), { description: 'Prefix of the e-mail subject.' }),
  ),
  commodity_codes: codesField(deps),
  cadence: omittable(
    choice(deliveryCadences, {
      description: 'weekdays: Monday to Friday (default for new deliveries).',
      examples: ['weekdays'],
    }),
  ),
  weekday: optional(
    nullable(whole(1, 7, { examples: [1] }), {
      description: '1 = Monday (default) to 7 = Sunday, of weekly deliveries.',
    }),
  ),
  delivery_time: omittable(timeField),
  time_zone: omittable(zoneField),
  recipient_email: optional(
    nullable(recipientField, {
      description: "One address; the account's own when absent or null.",
    }),
  ),
  enabled: omittable(
    flag({ description: 'False pauses. Default for new deliveries: true.', examples: [true] }),
  ),
})

const nameField = (nameMax: number): Field<string> =>
  field(t.String({ maxLength: nameMax, examples: ['Morning prices'] }), (form, field) => {
    const name = form.text(field, nameMax)
    return name !== undefined && unprintable.test(name)
      ? form.fault(field, `must be at most ${nameMax} printable characters.`)
      : name
  })

const timeField = field(
  t.string('In `time_zone`. Default for new deliveries: 07:00.', '07:00', {
    pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
  }),
  (form, name) => {
    const time = form.text(name, timeMax)
    return time === undefined || minuteOf(time) !== undefined
      ? time
      : form.fault(name, 'must be a time from 00:00 to 23:59, such as 07:00.')
  },
)

const zoneField = field(
  t.string('IANA name. Default for new deliveries: UTC.', 'Europe/Berlin'),
  (form, name) => {
    const zone = form.text(name, zoneMax)
    if (zone === undefined) return undefined
    return (
      zoneName(zone) ??
      form.fault(name, 'must be the IANA name of a time zone, such as Europe/Berlin or UTC.')
    )
  },
)

const recipientField = field(
  t.String({ maxLength: emailMax, examples: ['desk@example.com'] }),
  (form, name) => {
    const written = form.text(name, emailMax)
    if (written === undefined) return undefined
    const address = plainAddress(written)
    return address !== undefined && address === written.trim()
      ? address
      : form.fault(name, 'must be one e-mail address.')
  },
)

const codesField = (deps: DeliveryFormDeps): Field<string[]> =>
  field(
    t.Array(t.String({ examples: ['BRENT_CRUDE_USD'] }), {
      minItems: 1,
      maxItems: deps.codesMax,
      description:
        'Codes or aliases in any letter case, in the order of the lines; duplicates are removed.',
    }),
    (form, name) => readCodes(form, name, deps),
  )

function readCodes(
  form: Form,
  name: string,
  { codeOf, near, codesMax }: DeliveryFormDeps,
): string[] | undefined {
  const list = form.value(name)
  if (!Array.isArray(list) || list.length === 0)
    return form.fault(name, `must be a list of 1 to ${codesMax} codes.`)
  const spellings = distinct(list)
  if (spellings.length > codesMax) {
    return form.fault(name, `must be at most ${codesMax} different codes; got ${spellings.length}.`)
  }
  const codes = new Set<string>()
  for (const spelling of spellings) {
    const code = typeof spelling === 'string' ? codeOf(spelling) : undefined
    if (code !== undefined) codes.add(code)
    else form.fault(name, codeFault(spelling, near), spelling)
  }
  return [...codes]
}

/** The first spelling of each code. */
function distinct(list: readonly unknown[]): unknown[] {
  const spellings = new Set<unknown>()
  return list.filter(item => {
    const spelling = typeof item === 'string' ? item.trim().toUpperCase() : item
    return !spellings.has(spelling) && spellings.add(spelling)
  })
}

function codeFault(code: unknown, near: DeliveryFormDeps['near']): string {
  if (typeof code !== 'string') return 'must be a list of strings.'
  if (code.length > codeMax) return `must be a list of codes of at most ${codeMax} characters.`
  const suggestions = near(code).slice(0, suggestionsMax)
  const hint = suggestions.length > 0 ? ` Did you mean ${suggestions.join(', ')}?` : ''
  return `must be commodity codes.${hint} GET /v1/commodities lists them.`
}

const defaults = {
  name: null,
  cadence: 'weekdays',
  weekday: null,
  deliveryTime: '07:00',
  timeZone: 'UTC',
  recipientEmail: null,
  enabled: true,
} as const satisfies Partial<DeliverySettings>

/** The bodies of deliveries; the fields may be in `scheduled_delivery` or bare. */
export function createDeliveryForms(deps: DeliveryFormDeps) {
  const fields = deliveryFields(deps)
  const newDelivery = body(fields, { wrapper: 'scheduled_delivery' })
  const deliveryChange = body(changeOf(fields), { wrapper: 'scheduled_delivery' })
  return {
    newDelivery: newDelivery.schema,
    deliveryChange: deliveryChange.schema,
    created: (input: unknown): DeliverySettings => ({
      ...defaults,
      ...(settingsOf(newDelivery.read(input)) as Pick<DeliverySettings, 'commodityCodes'>),
    }),
    changed: (input: unknown): Partial<DeliverySettings> => settingsOf(deliveryChange.read(input)),
  }
}

type DeliveryValues = Partial<Values<ReturnType<typeof deliveryFields>>>

/** A name of blanks alone is none. */
const settingsOf = ({ name, ...values }: DeliveryValues): Partial<DeliverySettings> => ({
  ...camelFields(values),
  ...(name !== undefined && { name: name?.trim() || null }),
})
