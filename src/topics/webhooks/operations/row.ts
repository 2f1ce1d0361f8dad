import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { isoOrNull } from '../../../lib/time/instant.ts'
import type { LogEntry, MessageState, Outbox } from '../../../outbox/outbox.ts'
import type { Condition } from '../../alerts/math/threshold.ts'
import type { Endpoint, EndpointRecord } from '../store/webhooks.ts'
import { ConditionShape } from './conditions.ts'

const textOrNull = (description: string) => t.orNull(t.String(), description)
const integerOrNull = (description: string) => t.orNull(t.integer(), description)

const webhookFields = {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000401'] }),
  url: t.String({ examples: ['https://hooks.example.com/energy'] }),
  events: t.Array(t.String({ examples: ['price.updated'] }), {
    description: 'As subscribed.',
  }),
  commodity_filters: t.Array(t.String({ examples: ['BRENT_CRUDE_USD'] }), {
    description: 'Empty: all.',
  }),
  state_filters: t.Array(t.String({ examples: ['TX'] }), { description: 'Empty: all.' }),
  description: textOrNull('Its name.'),
  conditions: t.Array(ConditionShape),
  condition_logic: t.oneOf(['any', 'all']),
  debug_mode: t.Boolean(),
  status: t.oneOf(['active', 'disabled']),
  active: t.Boolean(),
  disabled_reason: textOrNull(
    '`consecutive_failures` if the service disabled it; null if its owner did.',
  ),
  secret: t.Optional(t.string('Returned only when it is created, rotated or set.')),
  secret_hint: t.String({ examples: ['whsec_…c07e'] }),
  signature_scheme: t.oneOf(['timestamped', 'body']),
  ordered: t.Boolean(),
  honor_retry_after: t.Boolean(),
  rate_limit_per_second: t.integer({ examples: [10] }),
  timeout_seconds: t.integer({ examples: [30] }),
  max_retries: t.integer({ examples: [5] }),
  successful_deliveries: t.integer({ examples: [1234] }),
  failed_deliveries: t.integer('Deliveries that failed after all retries.', 2),
  consecutive_failures: t.integer(
    'Failed deliveries since the last 2xx; 10 disable the endpoint. Tests and failures not caused by the endpoint are not counted: `last_delivery_status` can be `failed` while this is 0.',
    0,
  ),
  last_delivery_status: t.Union([t.Literal('success'), t.Literal('failed'), t.Null()]),
  last_delivery_at: t.instantOrNull('When a delivery last ended.'),
  created_at: t.String({ format: 'date-time' }),
  updated_at: t.String({ format: 'date-time' }),
}

export const WebhookShape = t.Object(webhookFields, {
  title: 'Webhook',
  description: 'An endpoint that receives events.',
})
export type WebhookShape = (typeof WebhookShape)['static']

const unused: EndpointRecord = {
  delivered: 0,
  failed: 0,
  failedInARow: 0,
  lastStatus: null,
  lastAt: null,
}

/** `secret` is part of it only where it is given. */
export const webhookRow = (
  endpoint: Endpoint,
  record: EndpointRecord = unused,
  secret?: string,
): WebhookShape =>
  answerRow(WebhookShape, endpoint, {
    conditions: endpoint.conditions.map(conditionRow),
    status: endpoint.active ? 'active' : 'disabled',
    ...(secret !== undefined && { secret }),
    successful_deliveries: record.delivered,
    failed_deliveries: record.failed,
    consecutive_failures: record.failedInARow,
    last_delivery_status: record.lastStatus,
    last_delivery_at: isoOrNull(record.lastAt),
  })

function conditionRow(condition: Condition): WebhookShape['conditions'][number] {
  const { commodity, operator } = condition
  if (condition.operator === 'between') {
    const { minValue, maxValue, triggerOn } = condition
    return {
      commodity,
      operator,
      min_value: minValue,
      max_value: maxValue,
      ...(triggerOn && { trigger_on: triggerOn }),
    }
  }
  const timeframe = 'timeframe' in condition ? condition.timeframe : undefined
  return { commodity, operator, value: condition.value, ...(timeframe && { timeframe }) }
}

export const logStatuses = [
  'pending',
  'delivering',
  'delivered',
  'failed',
  'retry_scheduled',
  'skipped',
] as const
type LogStatus = (typeof logStatuses)[number]

const statusOf = {
  pending: 'pending',
  leased: 'delivering',
  retry: 'retry_scheduled',
  delivered: 'delivered',
  failed: 'failed',
  skipped: 'skipped',
} as const satisfies Record<MessageState, LogStatus>

/** The state that the log calls by this name; undefined for other texts. */
export const stateOf = (status: string): MessageState | undefined =>
  (Object.keys(statusOf) as MessageState[]).find(state => statusOf[state] === status)

const open = t.Object({}, { additionalProperties: true })

const Debug = t.Object(
  {
    request_headers: open,
    response_headers: open,
    response_body: t.string('Its first KB.'),
    timing: t.Object({
      connect_ms: t.orNull(t.Number()),
      first_byte_ms: t.orNull(t.Number()),
      total_ms: t.Number(),
    }),
    tls: t.orNull(t.Object({ protocol: t.String(), cipher: t.String() })),
  },
  { description: 'Of the last attempt, if debug mode was on.' },
)

export const LogShape = t.Object(
  {
    id: t.String({ examples: ['00000000-0000-4000-8000-000000000411'] }),
    event_id: t.string('The same over all attempts.', 'evt_01jd6w4zr8c0n2m5k7p9q1s3t5'),
    webhook_id: t.String(),
    event_type: t.String({ examples: ['price.updated'] }),
    status: t.oneOf(logStatuses),
    attempts: t.integer({ examples: [1] }),
    response_status_code: integerOrNull('Of the last attempt with a response.'),
    status_code: integerOrNull('The same.'),
    delivery_duration_ms: integerOrNull('Of the last attempt.'),
    last_error: textOrNull('Error of the last attempt, or why the event was skipped.'),
    error: textOrNull('The same.'),
    payload: t.Object(
      {},
      { additionalProperties: true, description: 'The body as it was or will be sent.' },
    ),
    created_at: t.String({ format: 'date-time' }),
    delivered_at: t.instantOrNull('When the receiver responded with 2xx.'),
    next_attempt_at: t.instantOrNull('When the next attempt is due; null unless pending.'),
    debug: t.Optional(Debug),
  },
  { title: 'WebhookEvent', description: 'Delivery of an event to an endpoint.' },
)
export type LogShape = (typeof LogShape)['static']

interface StoredExchange {
  requestHeaders: Record<string, string>
  responseHeaders: Record<string, string>
  responseBody: string
  timing: { connectMs: number | null; firstByteMs: number | null; totalMs: number }
  tls: { protocol: string; cipher: string } | null
}

/** Why the newest delivery to an endpoint that did not arrive did not. */
export const lastErrorOf = ({ log }: Pick<Outbox, 'log'>, webhookId: string): string | null =>
  log.page('webhook', webhookId, { states: ['failed', 'retry'] }, 1, 0).entries[0]?.error ?? null

export const logRow = (webhookId: string, entry: LogEntry): LogShape =>
  answerRow(LogShape, entry, {
    webhook_id: webhookId,
    status: statusOf[entry.state],
    response_status_code: entry.statusCode,
    delivery_duration_ms: entry.durationMs === null ? null : Math.round(entry.durationMs),
    last_error: entry.error,
    payload: JSON.parse(entry.body),
    debug: entry.debug === null ? undefined : debugRow(JSON.parse(entry.debug)),
  })

const debugRow = ({
  requestHeaders,
  responseHeaders,
  responseBody,
  timing,
  tls,
}: StoredExchange): NonNullable<LogShape['debug']> => ({
  request_headers: requestHeaders,
  response_headers: responseHeaders,
  response_body: responseBody,
  timing: {
    connect_ms: timing.connectMs,
    first_byte_ms: timing.firstByteMs,
    total_ms: timing.totalMs,
  },
  tls: tls && { protocol: tls.protocol, cipher: tls.cipher },
})
