import { t } from '../../../http/answer/schema.ts'
import {
  body,
  changeOf,
  checked,
  choice,
  type Field,
  type FieldOptions,
  field,
  flag,
  listOf,
  moment,
  nullable,
  omittable,
  optional,
  readField,
  text,
  type Values,
  whole,
} from '../../../http/input/body-schema.ts'
import { camelFields } from '../../../lib/text/name-case.ts'
import { isPlain } from '../../../lib/text/text.ts'
import { shownValue } from '../../../lib/text/wrong-value.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import {
  coversAnyEvent,
  type EventType,
  eventTypeOf,
  eventTypes,
  nearestEvent,
} from '../../../plans/messages/event-types.ts'
import { permitStateOf } from '../../geography/math/us-states.ts'
import type { Rotation } from '../service/webhooks.ts'
import { defaultSettings, type EndpointSettings } from '../store/webhooks.ts'
import { conditionsField } from './conditions.ts'

const urlCharactersMax = 2048
const eventsMax = 50
const filtersMax = 100
const descriptionCharactersMax = 255
const secretCharacters = { min: 16, max: 128 }
const overlapSecondsMax = 86_400

export interface WebhookFormDeps {
  /** The canonical code of a code or alias. */
  codeOf(text: string): string | undefined
  /** Why a target may not be called; undefined when it may. */
  checkTarget(url: string): string | undefined
}

/** The validated changes of an endpoint; only the fields in the body. */
export interface WebhookChange {
  settings: Partial<EndpointSettings>
  secret: string | undefined
}

const namePattern = /^[\x21-\x7e]{1,100}$/

/** A secret of the caller's own. A refusal repeats what was sent, but never a secret. */
const secretField = field<string>(
  t.String({
    minLength: secretCharacters.min,
    maxLength: secretCharacters.max,
    description: 'Your own secret. Default: a generated one.',
  }),
  (form, name) => {
    const { min, max } = secretCharacters
    const value = form.value(name)
    const fits =
      typeof value === 'string' && isPlain(value) && value.length >= min && value.length <= max
    return fits ? value : form.fault(name, `must be text of ${min} to ${max} characters.`, null)
  },
)

/** A name that covers no type would never fire, and no one would notice. */
function eventsFault(events: readonly string[]): string | undefined {
  if (events.length === 0) return 'must name at least one event type.'
  const unknown = events.filter(name => !coversAnyEvent(name))
  if (unknown.length === 0) return undefined
  const nearest = [...new Set(unknown.map(nearestEvent))]
  return `must be event types, their aliases, or patterns such as price.*; got ${unknown.map(shownValue).join(', ')}. Did you mean ${nearest.join(', ')}?`
}

/** What the events of an endpoint must be about; null means the same as an empty list. */
function filter(
  example: string,
  what: Parameters<typeof listOf>[1],
  read: (text: string) => string | undefined,
  description: string,
) {
  const list = listOf(t.String({ examples: [example] }), what, filtersMax, read, { description })
  return optional(
    field(list, (form, name) => (form.isNull(name) ? [] : readField(list, form, name))),
  )
}

const webhookFields = ({ codeOf, checkTarget }: WebhookFormDeps) => ({
  url: checked(
    text(urlCharactersMax, { examples: ['https://hooks.example.com/energy'] }),
    checkTarget,
  ),
  events: checked(
    listOf(
      t.String({ examples: ['price.updated'] }),
      { nouns: 'event types', item: 'an event type of up to 100 characters' },
      eventsMax,
      name => (namePattern.test(name) ? name : undefined),
      {
        minItems: 1,
        description: `Types, their aliases, or patterns such as \`price.*\` and \`*\`; none includes \`price.corrected\`. Types: ${eventTypes.map(type => `\`${type}\``).join(', ')}.`,
      },
    ),
    eventsFault,
  ),
  commodity_filters: filter(
    'BRENT_CRUDE_USD',
    { nouns: 'commodity codes', item: 'a commodity code such as WTI_USD' },
    codeOf,
    'Codes or aliases; empty for all.',
  ),
  state_filters: filter(
    'TX',
    { nouns: 'states', item: 'a state with well permits such as TX' },
    name => permitStateOf(name)?.code,
    'For permit events; empty for all.',
  ),
  description: optional(nullable(text(descriptionCharactersMax, { examples: ['desk alerts'] }))),
  conditions: optional(conditionsField(codeOf)),
  condition_logic: optional(choice(['any', 'all'] as const, { description: '`any` by default.' })),
  debug_mode: optional(
    flag({
      description:
        'Stores headers, the first KB of the response, timing and TLS details of every delivery.',
    }),
  ),
  status: optional(
    choice(['active', 'disabled', 'inactive', 'paused'] as const, {
      description: '`inactive` and `paused` mean `disabled`.',
    }),
  ),
  secret: optional(secretField),
  signature_scheme: optional(
    choice(['timestamped', 'body'] as const, { description: '`timestamped` by default.' }),
  ),
  ordered: optional(flag({ description: 'Delivers one event at a time, in order.' })),
  honor_retry_after: optional(
    flag({
      description: 'Retries after a 429 or 408 with a `Retry-After` of up to an hour.',
    }),
  ),
  rate_limit_per_second: optional(
    whole(1, 50, { examples: [10], description: 'Deliveries a second; default: 10.' }),
  ),
  timeout_seconds: optional(
    whole(1, 30, { examples: [30], description: 'Of one delivery; default: 30.' }),
  ),
  max_retries: optional(
    whole(0, 5, { examples: [5], description: 'Tries after the first one; default: 5.' }),
  ),
})

/** The bodies of endpoints. */
export function createWebhookForms(deps: WebhookFormDeps) {
  const fields = webhookFields(deps)
  const newWebhook = body(fields)
  const webhookChange = body(changeOf(fields))
  return {
    newWebhook: newWebhook.schema,
    webhookChange: webhookChange.schema,
    created(
      input: unknown,
      signatureScheme: EndpointSettings['signatureScheme'],
    ): { settings: EndpointSettings; secret: string | undefined } {
      const { settings, secret } = changeFrom(newWebhook.read(input))
      return {
        settings: {
          ...defaultSettings,
          signatureScheme,
          ...(settings as Pick<EndpointSettings, 'url' | 'events'>),
        },
        secret,
      }
    },
    changed: (input: unknown): WebhookChange => changeFrom(webhookChange.read(input)),
  }
}

type WebhookValues = Partial<Values<ReturnType<typeof webhookFields>>>

const changeFrom = ({ secret, status, ...values }: WebhookValues): WebhookChange => ({
  settings: { ...camelFields(values), ...(status && { active: status === 'active' }) },
  secret,
})

/**
 * The names in `events`, before anything is checked: what a plan does not include is refused before
 * what is wrong.
 */
export function eventNamesOf(input: unknown): string[] {
  const { events } = (input ?? {}) as { events?: unknown }
  return Array.isArray(events) ? events.filter(event => typeof event === 'string') : []
}

export const RotationBody = body({
  secret: optional(secretField),
  overlap_seconds: optional(
    whole(0, overlapSecondsMax, {
      description: 'How long the old secret signs in addition to the new one. Default: 0.',
    }),
  ),
})

export function rotationOf(input: unknown): Rotation {
  const { secret, overlap_seconds: seconds = 0 } = RotationBody.read(input)
  return { ...(secret !== undefined && { secret }), overlapMs: seconds * secondMs }
}

const typeField = (options: FieldOptions): Field<EventType> =>
  field(t.String(options), (form, name) => {
    const written = form.text(name, 100)
    if (written === undefined) return undefined
    return eventTypeOf(written) ?? form.wrongWord(name, eventTypes)
  })

export const TestBody = body({
  event_type: omittable(
    typeField({
      examples: ['price.updated'],
      description: 'Event type of the sample. Default: `webhook.test`.',
    }),
  ),
})

/** The type whose sample a test sends. */
export const testTypeOf = (input: unknown): EventType =>
  TestBody.read(input).event_type ?? 'webhook.test'

export interface Replay {
  from: number
  to: number | undefined
  states: ('failed' | 'delivered')[]
  eventTypes: string[] | undefined
}

export const ReplayBody = body({
  from: moment({ examples: ['2026-11-20T00:00:00Z'] }),
  to: omittable(
    moment({ description: 'Exclusive. Default: now.', examples: ['2026-11-20T12:00:00Z'] }),
  ),
  status: omittable(choice(['failed', 'all'] as const, { description: '`failed` by default.' })),
  event_types: omittable(
    listOf(
      t.String({ examples: ['price.updated'] }),
      { nouns: 'event types', item: 'an event type' },
      eventsMax,
      name => eventTypeOf(name) ?? name,
    ),
  ),
})

export function replayOf(input: unknown, now: number): Replay {
  const { from, to, status, event_types } = ReplayBody.read(input, (form, values) => {
    if (values.from === undefined || values.from < (values.to ?? now + 1)) return
    const isOpen = values.to === undefined
    form.fault('from', isOpen ? 'must not be in the future.' : 'must be before "to".')
  })
  return {
    from,
    to,
    states: status === 'all' ? ['failed', 'delivered'] : ['failed'],
    eventTypes: event_types,
  }
}
