import { t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { formBody } from '../../http/input/form.ts'
import { type Timeframe, timeframesMs } from '../../market/alerts/threshold.ts'
import { eventTypes } from '../../plan/event-types.ts'

export const urlCharactersMax = 2048
export const eventsMax = 50
export const filtersMax = 100
export const descriptionCharactersMax = 255
export const conditionsMax = 20
export const secretCharacters = { min: 16, max: 128 }
export const overlapSecondsMax = 86_400

export const operators = [
  'greater_than',
  'less_than',
  'percent_increase',
  'percent_decrease',
  'between',
] as const
export const timeframes = Object.keys(timeframesMs) as Timeframe[]
/** One of these texts. */
export const literals = <T extends string>(values: readonly T[]) =>
  t.Unsafe<T>(t.Union(values.map(value => t.Literal(value))))

export const ConditionBody = t.Object({
  commodity: t.String({ examples: ['WTI_USD'], description: 'A code or alias.' }),
  operator: literals(operators),
  value: t.Optional(
    t.Number({
      examples: [80],
      description: 'A price; of a percentage the percent, above 0. Not for `between`.',
    }),
  ),
  timeframe: t.Optional(literals(timeframes)),
  min_value: t.Optional(t.Number({ examples: [70], description: 'For `between`, inclusive.' })),
  max_value: t.Optional(t.Number({ examples: [80], description: 'For `between`, inclusive.' })),
  trigger_on: t.Optional(
    t.Union([t.Literal('enter'), t.Literal('exit')], {
      description: 'For `between`: only the price that crosses an end.',
    }),
  ),
})

const writable = {
  url: t.String({ maxLength: urlCharactersMax, examples: ['https://hooks.example.com/energy'] }),
  events: t.Array(t.String({ examples: ['price.updated'] }), {
    minItems: 1,
    maxItems: eventsMax,
    description: `Types, their aliases, or patterns such as \`price.*\` and \`*\`. Types: ${eventTypes.map(type => `\`${type}\``).join(', ')}. Other names are kept and never fire.`,
  }),
  commodity_filters: t.Optional(
    t.Array(t.String({ examples: ['BRENT_CRUDE_USD'] }), {
      maxItems: filtersMax,
      description: 'Codes or aliases; empty: all.',
    }),
  ),
  state_filters: t.Optional(
    t.Array(t.String({ examples: ['TX'] }), { description: 'For permit events; empty: all.' }),
  ),
  description: t.Optional(
    t.Union([
      t.String({ maxLength: descriptionCharactersMax, examples: ['desk alerts'] }),
      t.Null(),
    ]),
  ),
  conditions: t.Optional(
    t.Union([t.Array(ConditionBody, { maxItems: conditionsMax }), ConditionBody], {
      description:
        'What makes a `price.threshold`. Price events of commodities that no condition names are skipped.',
    }),
  ),
  condition_logic: t.Optional(
    t.Union([t.Literal('any'), t.Literal('all')], { description: '`any` by default.' }),
  ),
  debug_mode: t.Optional(
    t.Boolean({
      description: 'Keeps headers, the first KB of the answer, timing and TLS of every delivery.',
    }),
  ),
  status: t.Optional(
    t.Union(
      [t.Literal('active'), t.Literal('disabled'), t.Literal('inactive'), t.Literal('paused')],
      {
        description: '`inactive` and `paused` mean `disabled`.',
      },
    ),
  ),
  secret: t.Optional(
    t.String({
      minLength: secretCharacters.min,
      maxLength: secretCharacters.max,
      description: 'Your own secret; one is made when absent.',
    }),
  ),
  signature_scheme: t.Optional(
    t.Union([t.Literal('timestamped'), t.Literal('body')], {
      description: '`timestamped` by default.',
    }),
  ),
  ordered: t.Optional(
    t.Boolean({ description: 'One delivery at a time, in the order of the events.' }),
  ),
  honor_retry_after: t.Optional(
    t.Boolean({
      description:
        'An answer of 429 or 408 with `Retry-After` of up to an hour is a reason to try again then.',
    }),
  ),
  rate_limit_per_second: t.Optional(
    integer({ minimum: 1, maximum: 50, examples: [10], description: 'Deliveries a second (10).' }),
  ),
  timeout_seconds: t.Optional(
    integer({ minimum: 1, maximum: 30, examples: [30], description: 'Of one delivery (30).' }),
  ),
  max_retries: t.Optional(
    integer({
      minimum: 0,
      maximum: 5,
      examples: [5],
      description: 'Tries after the first one (5).',
    }),
  ),
}

export const newWebhookBody = formBody(t.Object(writable))
export const webhookChangeBody = formBody(t.Partial(t.Object(writable)))
export const testBody = formBody(
  t.Object({
    event_type: t.Optional(
      t.String({
        examples: ['price.updated'],
        description: 'A type whose sample is sent; `webhook.test` when absent.',
      }),
    ),
  }),
)
export const rotateBody = formBody(
  t.Object({
    secret: writable.secret,
    overlap_seconds: t.Optional(
      integer({
        minimum: 0,
        maximum: overlapSecondsMax,
        description: 'How long the old secret signs beside the new one (0).',
      }),
    ),
  }),
)
export const replayBody = formBody(
  t.Object({
    from: t.String({ format: 'date-time', examples: ['2026-11-20T00:00:00Z'] }),
    to: t.Optional(t.String({ format: 'date-time', description: 'Exclusive; now when absent.' })),
    status: t.Optional(
      t.Union([t.Literal('failed'), t.Literal('all')], { description: '`failed` by default.' }),
    ),
    event_types: t.Optional(t.Array(t.String({ examples: ['price.updated'] }))),
  }),
)

/** Where there is nothing to say. */
export const noBody = formBody(t.Object({}))
