import { type Form, formOf } from '../../http/input/form.ts'
import { secondMs } from '../../lib/instant.ts'
import { isObject } from '../../lib/json.ts'
import { isPlain } from '../../lib/text.ts'
import type { Condition } from '../../market/alerts/threshold.ts'
import { permitStateOf } from '../../market/geography/us-states.ts'
import { eventTypeOf, eventTypes } from '../../plan/event-types.ts'
import type { Rotation } from '../../service/webhooks/webhooks.ts'
import { defaultSettings, type EndpointSettings } from '../../store/webhooks/webhooks.ts'
import {
  conditionsMax,
  descriptionCharactersMax,
  eventsMax,
  filtersMax,
  operators,
  overlapSecondsMax,
  secretCharacters,
  timeframes,
  urlCharactersMax,
} from './body.ts'

const valueMax = 1_000_000
const percentMax = 10_000

export interface WebhookFormDeps {
  /** The canonical code of a code or alias. */
  codeOf(text: string): string | undefined
  /** Why a target may not be called; undefined when it may. */
  checkTarget(url: string): string | undefined
}

/** What a body says of an endpoint, checked; only what it says. */
export interface WebhookChange {
  settings: Partial<EndpointSettings>
  secret: string | undefined
}

/** Reads what is written of endpoints. */
export function createWebhookForms({ codeOf, checkTarget }: WebhookFormDeps) {
  const read = (body: unknown, isNew: boolean): WebhookChange => {
    const { form, secret } = secretive(listed(body))
    if (isNew)
      for (const field of ['url', 'events']) if (!form.has(field)) form.fault(field, 'is required.')
    const url = form.text('url', urlCharactersMax)
    const refusal = url === undefined ? undefined : checkTarget(url)
    if (refusal !== undefined) form.fault('url', refusal)
    const events = form.list('events', 'event types of up to 100 characters', eventsMax, text =>
      namePattern.test(text) ? text : undefined,
    )
    if (events?.length === 0) form.fault('events', 'must name at least one event type.')
    const settings = {
      url,
      events,
      ...filtersOf(form, codeOf),
      description: form.isNull('description')
        ? null
        : form.text('description', descriptionCharactersMax),
      conditions: conditionsOf(form, countOf(body), codeOf),
      conditionLogic: form.choice('condition_logic', ['any', 'all']),
      ...behaviourOf(form),
    }
    form.check()
    return { settings: withoutAbsent(settings), secret }
  }
  return {
    created(
      body: unknown,
      signatureScheme: EndpointSettings['signatureScheme'],
    ): { settings: EndpointSettings; secret: string | undefined } {
      const { settings, secret } = read(body, true)
      return {
        settings: {
          ...defaultSettings,
          signatureScheme,
          ...(settings as Pick<EndpointSettings, 'url' | 'events'>),
        },
        secret,
      }
    },
    changed: (body: unknown): WebhookChange => read(body, false),
  }
}

const namePattern = /^[\x21-\x7e]{1,100}$/

/**
 * The names in `events`, before anything is checked: what a plan does not include is refused before
 * what is wrong.
 */
export function eventNamesOf(body: unknown): string[] {
  const { events } = (body ?? {}) as { events?: unknown }
  return Array.isArray(events) ? events.filter(event => typeof event === 'string') : []
}

type Fields = Record<string, unknown>

/**
 * Conditions by their place in the list, so that what is wrong with them is told with it:
 * `conditions.0.value`.
 */
function listed(body: unknown): unknown {
  if (!isObject(body) || body.conditions === undefined) return body
  const { conditions } = body
  return {
    ...body,
    conditions: Array.isArray(conditions)
      ? { ...conditions }
      : isObject(conditions)
        ? { 0: conditions }
        : conditions,
  }
}

/** Undefined for what is neither a condition nor a list of them. */
function countOf(body: unknown): number | undefined {
  const conditions = isObject(body) ? body.conditions : undefined
  return Array.isArray(conditions) ? conditions.length : isObject(conditions) ? 1 : undefined
}

/** Refusals repeat what was sent, so a secret is taken out before the body is read. */
function secretive(body: unknown): { form: Form; secret: string | undefined } {
  const given = isObject(body) ? body.secret : undefined
  const form = formOf(given === undefined ? body : { ...(body as Fields), secret: null })
  const { min, max } = secretCharacters
  const fits =
    typeof given === 'string' && isPlain(given) && given.length >= min && given.length <= max
  if (given !== undefined && !fits)
    form.fault('secret', `must be text of ${min} to ${max} characters.`)
  return { form, secret: fits ? given : undefined }
}

const filtersOf = (form: Form, codeOf: WebhookFormDeps['codeOf']) => ({
  commodityFilters: form.isNull('commodity_filters')
    ? []
    : form.list('commodity_filters', 'commodity codes such as WTI_USD', filtersMax, codeOf),
  stateFilters: form.isNull('state_filters')
    ? []
    : form.list(
        'state_filters',
        'states with well permits such as TX',
        filtersMax,
        text => permitStateOf(text)?.code,
      ),
})

function behaviourOf(form: Form) {
  const status = form.choice('status', ['active', 'disabled', 'inactive', 'paused'])
  return {
    debugMode: form.flag('debug_mode'),
    active: status === undefined ? undefined : status === 'active',
    signatureScheme: form.choice('signature_scheme', ['timestamped', 'body']),
    ordered: form.flag('ordered'),
    honorRetryAfter: form.flag('honor_retry_after'),
    rateLimitPerSecond: form.integer('rate_limit_per_second', 1, 50),
    timeoutSeconds: form.integer('timeout_seconds', 1, 30),
    maxRetries: form.integer('max_retries', 0, 5),
  }
}

function conditionsOf(
  form: Form,
  count: number | undefined,
  codeOf: WebhookFormDeps['codeOf'],
): Condition[] | undefined {
  if (!form.has('conditions')) return undefined
  if (form.isNull('conditions')) return []
  if (count === undefined)
    return form.fault('conditions', 'must be a condition or a list of conditions.')
  if (count > conditionsMax)
    return form.fault('conditions', `must be a list of at most ${conditionsMax} conditions.`)
  const list = form.part('conditions')
  return Array.from({ length: count }, (_, i) => conditionOf(list, String(i), codeOf)).filter(
    one => one !== undefined,
  )
}

function conditionOf(
  list: Form,
  place: string,
  codeOf: WebhookFormDeps['codeOf'],
): Condition | undefined {
  if (!list.has(place) || list.isNull(place)) return list.fault(place, 'must be a JSON object.')
  const form = list.part(place)
  // Clients send null for what does not apply.
  const given = (field: string) => form.has(field) && !form.isNull(field)
  const number = (field: string, min: number, max: number) =>
    given(field)
      ? form.number(field, min, max)
      : form.fault(field, 'is required for this operator.')
  const text = form.has('commodity')
    ? form.text('commodity', 100)
    : form.fault('commodity', 'is required.')
  const commodity = text === undefined ? undefined : codeOf(text)
  if (text !== undefined && commodity === undefined)
    form.fault('commodity', 'is no commodity code; GET /v1/commodities lists them.')
  const operator = form.has('operator')
    ? form.choice('operator', operators)
    : form.fault('operator', 'is required.')
  if (commodity === undefined || operator === undefined) return undefined
  switch (operator) {
    case 'greater_than':
    case 'less_than': {
      const value = number('value', -valueMax, valueMax)
      return value === undefined ? undefined : { commodity, operator, value }
    }
    case 'percent_increase':
    case 'percent_decrease': {
      const value = number('value', 0, percentMax)
      if (value === 0) form.fault('value', 'must be above 0.')
      const timeframe = given('timeframe') ? form.choice('timeframe', timeframes) : undefined
      return value === undefined
        ? undefined
        : { commodity, operator, value, ...(timeframe && { timeframe }) }
    }
    case 'between': {
      const minValue = number('min_value', -valueMax, valueMax)
      const maxValue = number('max_value', -valueMax, valueMax)
      const triggerOn = given('trigger_on')
        ? form.choice('trigger_on', ['enter', 'exit'])
        : undefined
      if (minValue === undefined || maxValue === undefined) return undefined
      if (minValue > maxValue) return form.fault('max_value', 'must not be below min_value.')
      return { commodity, operator, minValue, maxValue, ...(triggerOn && { triggerOn }) }
    }
  }
}

const withoutAbsent = <T extends Fields>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

export function rotationOf(body: unknown): Rotation {
  const { form, secret } = secretive(body)
  const seconds = form.integer('overlap_seconds', 0, overlapSecondsMax)
  form.check()
  return { ...(secret !== undefined && { secret }), overlapMs: (seconds ?? 0) * secondMs }
}

/** The type whose sample a test sends. */
export function testTypeOf(body: unknown) {
  const form = formOf(body)
  const name = form.isNull('event_type') ? undefined : form.text('event_type', 100)
  const type = name === undefined ? 'webhook.test' : eventTypeOf(name)
  if (type === undefined) form.fault('event_type', `must be one of ${eventTypes.join(', ')}.`)
  form.check()
  return type!
}

export interface Replay {
  from: number
  to: number | undefined
  states: ('failed' | 'delivered')[]
  eventTypes: string[] | undefined
}

export function replayOf(body: unknown, now: number): Replay {
  const form = formOf(body)
  if (!form.has('from')) form.fault('from', 'is required.')
  const from = form.moment('from')
  const to = form.isNull('to') ? undefined : form.moment('to')
  if (from !== undefined && from >= (to ?? now + 1))
    form.fault('from', to === undefined ? 'must not be in the future.' : 'must be before "to".')
  const status = form.isNull('status') ? undefined : form.choice('status', ['failed', 'all'])
  const eventTypes = form.isNull('event_types')
    ? undefined
    : form.list('event_types', 'event types', eventsMax, text => eventTypeOf(text) ?? text)
  form.check()
  return {
    from: from!,
    to,
    states: status === 'all' ? ['failed', 'delivered'] : ['failed'],
    eventTypes,
  }
}
