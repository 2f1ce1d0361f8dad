import { t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { type Form, formBody, formOf } from '../../http/input/form.ts'
import { validationFailed } from '../../http/problem/problem.ts'
import { isObject } from '../../lib/json.ts'
import { unprintable } from '../../lib/text.ts'
import { minuteOf, zoneName } from '../../lib/zone.ts'
import { type DeliveryCadence, deliveryCadences } from '../../plan/delivery-schedule.ts'
import { plainAddress } from '../../send/messages/mailer.ts'
import type { DeliverySettings } from '../../service/deliveries/deliveries.ts'
import { emailMax } from '../account/account-form.ts'

const codeMax = 100
const zoneMax = 100
const timeMax = 20
const shownCodesMax = 3

const orNull = <T extends Parameters<typeof t.Union>[0][number]>(one: T, description: string) =>
  t.Union([one, t.Null()], { description })

const fieldsWith = (nameMax: number, codesMax: number) =>
  t.Object({
    name: t.Optional(
      orNull(
        t.String({ maxLength: nameMax, examples: ['Morning prices'] }),
        'Begins the subject of the letters.',
      ),
    ),
    commodity_codes: t.Array(t.String({ examples: ['BRENT_CRUDE_USD'] }), {
      minItems: 1,
      maxItems: codesMax,
      description:
        'Codes or aliases in any letter case, in the order of the lines; duplicates are removed.',
    }),
    cadence: t.Optional(
      t.Union(
        deliveryCadences.map(one => t.Literal(one)),
        { default: 'weekdays', description: 'weekdays: Monday to Friday.' },
      ),
    ),
    weekday: t.Optional(
      orNull(
        integer({ minimum: 1, maximum: 7, examples: [1] }),
        '1 = Monday (default) to 7 = Sunday, of weekly deliveries.',
      ),
    ),
    delivery_time: t.Optional(
      t.String({
        pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
        default: '07:00',
        description: 'In `time_zone`.',
        examples: ['07:00'],
      }),
    ),
    time_zone: t.Optional(
      t.String({ default: 'UTC', description: 'IANA name.', examples: ['Europe/Berlin'] }),
    ),
    recipient_email: t.Optional(
      orNull(
        t.String({ maxLength: emailMax, examples: ['desk@example.com'] }),
        "One address; the account's own when absent or null.",
      ),
    ),
    enabled: t.Optional(t.Boolean({ default: true, description: 'False pauses.' })),
  })

const either = (one: ReturnType<typeof fieldsWith> | ReturnType<typeof t.Partial>) =>
  t.Union([t.Object({ scheduled_delivery: one }), one])
export const deliveryBody = (nameMax: number, codesMax: number) =>
  formBody(either(fieldsWith(nameMax, codesMax)))
export const deliveryChangeBody = (nameMax: number, codesMax: number) =>
  formBody(either(t.Partial(fieldsWith(nameMax, codesMax))))

type Fields = Record<string, unknown>

/** A copy of the fields of a delivery, wrapped in `scheduled_delivery` or bare. */
function fieldsOf(body: unknown): Fields {
  if (!isObject(body)) {
    // Refuses what is neither an object nor absent.
    formOf(body)
    return {}
  }
  if (!Object.hasOwn(body, 'scheduled_delivery')) return { ...body }
  const { scheduled_delivery: wrapped } = body
  if (isObject(wrapped)) return { ...wrapped }
  throw validationFailed([
    {
      field: 'scheduled_delivery',
      message: 'scheduled_delivery: must be a JSON object.',
      value: null,
    },
  ])
}

export interface DeliveryFormDeps {
  /** The canonical code of a code or alias. */
  codeOf(text: string): string | undefined
  /** Known codes near to one that is none. */
  near(code: string): string[]
  codesMax: number
  nameMax: number
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

/** Reads what is written of deliveries; only what a body says. */
export function createDeliveryForms(deps: DeliveryFormDeps) {
  const read = (body: unknown, isNew: boolean): Partial<DeliverySettings> => {
    const fields = fieldsOf(body)
    const form = formOf(fields)
    if (isNew && !form.has('commodity_codes')) form.fault('commodity_codes', 'is required.')
    const settings = {
      name: nameIn(form, deps.nameMax),
      commodityCodes: codesIn(form, fields, deps),
      ...scheduleIn(form),
      recipientEmail: recipientIn(form),
      enabled: form.isNull('enabled') ? undefined : form.flag('enabled'),
    }
    form.check()
    return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
  }
  return {
    created: (body: unknown): DeliverySettings => ({
      ...defaults,
      ...(read(body, true) as Partial<DeliverySettings> & Pick<DeliverySettings, 'commodityCodes'>),
    }),
    changed: (body: unknown): Partial<DeliverySettings> => read(body, false),
  }
}

function nameIn(form: Form, nameMax: number): string | null | undefined {
  if (form.isNull('name')) return null
  const name = form.text('name', nameMax)
  if (name !== undefined && unprintable.test(name))
    return form.fault('name', `must be at most ${nameMax} printable characters.`)
  return name === undefined ? undefined : name.trim() || null
}

function codesIn(
  form: Form,
  fields: Fields,
  { codeOf, near, codesMax }: DeliveryFormDeps,
): string[] | undefined {
  const given = fields.commodity_codes
  if (given === undefined) return undefined
  if (!Array.isArray(given) || given.length === 0)
    return form.fault('commodity_codes', `must be a list of 1 to ${codesMax} codes.`)
  const asked = distinct(given)
  if (asked.length > codesMax) {
    return form.fault(
      'commodity_codes',
      `must be at most ${codesMax} different codes; these are ${asked.length}.`,
    )
  }
  const codes = asked.map(one => (typeof one === 'string' ? codeOf(one) : undefined))
  for (const [i, code] of asked.entries()) {
    if (codes[i] !== undefined) continue
    // A fault names the value of its field: each code that is none stands there in its turn.
    fields.commodity_codes = code
    form.fault(
      'commodity_codes',
      typeof code === 'string' ? unknownCode(code, near) : 'must be a list of texts.',
    )
  }
  fields.commodity_codes = given
  return [...new Set(codes.filter(code => code !== undefined))]
}

/** The first spelling of each code. */
function distinct(given: readonly unknown[]): unknown[] {
  const seen = new Set<unknown>()
  return given.filter(one => {
    const spelling = typeof one === 'string' ? one.trim().toUpperCase() : one
    return !seen.has(spelling) && seen.add(spelling)
  })
}

function unknownCode(code: string, near: DeliveryFormDeps['near']): string {
  if (code.length > codeMax)
    return `must be a list of codes, which have at most ${codeMax} characters.`
  const meant = near(code).slice(0, shownCodesMax)
  const hint = meant.length > 0 ? ` Did you mean ${meant.join(', ')}?` : ''
  return `${code.toWellFormed()} is no commodity code.${hint} GET /v1/commodities lists them.`
}

function scheduleIn(form: Form) {
  return {
    cadence: form.isNull('cadence')
      ? undefined
      : form.choice<DeliveryCadence>('cadence', deliveryCadences),
    weekday: form.isNull('weekday') ? null : form.integer('weekday', 1, 7),
    deliveryTime: textIn(form, 'delivery_time', timeMax, text =>
      minuteOf(text) === undefined
        ? form.fault('delivery_time', 'must be a time from 00:00 to 23:59, such as 07:00.')
        : text,
    ),
    timeZone: textIn(
      form,
      'time_zone',
      zoneMax,
      text =>
        zoneName(text) ??
        form.fault(
          'time_zone',
          'must be the IANA name of a time zone, such as Europe/Berlin or UTC.',
        ),
    ),
  }
}

/** A field in which null says as much as nothing. */
function textIn(
  form: Form,
  field: string,
  charactersMax: number,
  read: (text: string) => string | undefined,
): string | undefined {
  const given = form.isNull(field) ? undefined : form.text(field, charactersMax)
  return given === undefined ? undefined : read(given)
}

function recipientIn(form: Form): string | null | undefined {
  if (form.isNull('recipient_email')) return null
  const given = form.text('recipient_email', emailMax)
  if (given === undefined) return undefined
  const address = plainAddress(given)
  return address !== undefined && address === given.trim()
    ? address
    : form.fault('recipient_email', 'must be one e-mail address.')
}
