import { oneOf, shownValue, unknownName, wrongValue } from '../../lib/text/wrong-value.ts'

/** Which of the specification's body shapes an error takes. */
export type ProblemShape = 'nested' | 'fail' | 'flat' | 'valid' | 'catalog'

interface Entry {
  status: number
  shape: ProblemShape
  retryable: boolean
  /** When it happens, for the documentation. */
  when: string
}

const entry = (status: number, shape: ProblemShape, when: string, retryable = false): Entry => ({
  status,
  shape,
  retryable,
  when,
})

/** Every error this service answers, by code. Nothing else leaves the instance. */
export const problems = {
  invalid_code: entry(400, 'fail', 'A commodity code is not in the catalogue.'),
  too_many_codes: entry(400, 'fail', 'Too many codes in one request.'),
  invalid_interval: entry(400, 'fail', 'The interval is not one of the accepted spellings.'),
  MISSING_PARAMETER: entry(400, 'nested', 'A required parameter is absent.'),
  INVALID_PARAMETER: entry(400, 'nested', 'A parameter is not valid.'),
  INVALID_DATE_RANGE: entry(400, 'nested', 'The range ends before it starts.'),
  MALFORMED_JSON: entry(400, 'nested', 'The body is not JSON.'),
  MISSING_CODES: entry(400, 'nested', 'The body contains no codes.'),
  MALFORMED_REQUEST: entry(
    400,
    'nested',
    'The request is ambiguous: repeated or malformed headers.',
  ),
  UNAUTHORIZED: entry(401, 'nested', 'The key is missing, malformed, unknown, expired or revoked.'),
  PAYMENT_REQUIRED: entry(402, 'flat', "The free plan's daily quota is used up."),
  FREE_TIER_LIMIT_EXCEEDED: entry(
    402,
    'flat',
    "The free plan's daily quota is exhausted, on a futures path.",
  ),
  INSUFFICIENT_PLAN: entry(403, 'nested', 'The plan does not include the feature.'),
  FORBIDDEN: entry(403, 'nested', 'The plan does not include futures.'),
  ENTERPRISE_REQUIRED: entry(
    403,
    'nested',
    'The account does not have the add-on Well Production.',
  ),
  KEY_SUSPENDED: entry(403, 'nested', 'The operator has suspended the key or its account.'),
  KEY_READ_ONLY: entry(403, 'nested', 'A read-only key was used to change something.'),
  KEY_LIMITED: entry(
    403,
    'nested',
    'A restricted key was used to manage keys, people, payments or secrets.',
  ),
  KEY_SCOPE_MISSING: entry(403, 'nested', 'The key lacks the scope of this operation.'),
  ADMIN_ROLE_MISSING: entry(403, 'nested', 'The role of the admin token does not allow this.'),
  FRESH_SIGN_IN_REQUIRED: entry(
    403,
    'nested',
    'The operator requires a recent sign-in to manage keys, people and secrets.',
  ),
  SECOND_FACTOR_MISSING: entry(
    403,
    'nested',
    'The operator requires two-factor authentication to manage keys, people and secrets.',
  ),
  SECOND_FACTOR_REQUIRED: entry(
    401,
    'nested',
    'The credentials are correct, but the account requires a two-factor code.',
  ),
  IP_NOT_ALLOWED: entry(
    403,
    'nested',
    "The client's address is not in the networks that the key allows.",
  ),
  DOMAIN_NOT_ALLOWED: entry(
    403,
    'nested',
    "The page's domain is not among the domains that the key allows.",
  ),
  COMMODITY_NOT_FOUND: entry(404, 'catalog', 'The catalogue has no such code.'),
  NOT_FOUND: entry(404, 'nested', 'The resource does not exist or belongs to another account.'),
  ROUTE_NOT_FOUND: entry(
    404,
    'nested',
    'No operation has this path and method. Clients that accept `application/json` get a JSON body, others an empty one.',
  ),
  METHOD_NOT_ALLOWED: entry(
    405,
    'nested',
    'The path exists, but not with this method. Only clients that accept JSON get this error; others get `ROUTE_NOT_FOUND`.',
  ),
  PRECONDITION_FAILED: entry(
    412,
    'nested',
    'The resource has changed since the entity tag in `If-Match` was returned.',
  ),
  METHOD_NOT_IMPLEMENTED: entry(501, 'nested', 'The HTTP method is not supported.'),
  DATA_NOT_AVAILABLE: entry(404, 'nested', 'No data, or not enough, is available.'),
  DEMO_CODE_NOT_AVAILABLE: entry(403, 'nested', 'The demo does not serve this code.'),
  CURSOR_GONE: entry(
    410,
    'nested',
    'The cursor is newer than the backup that the instance was restored from.',
  ),
  PAYLOAD_TOO_LARGE: entry(413, 'nested', 'The body is larger than accepted.'),
  UNSUPPORTED_CONTENT_ENCODING: entry(415, 'nested', 'The body is compressed.'),
  RANGE_NOT_SATISFIABLE: entry(416, 'nested', 'The requested range is outside the file.'),
  validation_failed: entry(422, 'valid', 'A field of the body is not valid.'),
  INVALID_CREDENTIALS: entry(401, 'nested', 'The address, password or link is not valid.'),
  COMPANY_SIGN_IN_REQUIRED: entry(
    403,
    'nested',
    'People sign in with a company account only (`oidc.only`).',
  ),
  FORBIDDEN_ROLE: entry(403, 'nested', "The caller's role in the organization does not allow it."),
  LOGIN_LOCKED: entry(429, 'nested', 'Too many failed sign-in attempts.'),
  SIGNUP_CLOSED: entry(403, 'nested', 'Sign-up is closed, or by invitation only.'),
  SIGNUP_LIMITED: entry(429, 'nested', 'Too many sign-up e-mails were requested.'),
  already_member: entry(
    422,
    'valid',
    'The person is already a member or belongs to another organization.',
  ),
  own_subscription: entry(
    422,
    'valid',
    'The account has its own subscription, and must cancel it before it joins an organization.',
  ),
  last_admin: entry(422, 'valid', 'An organization needs at least one admin.'),
  invitation_expired: entry(422, 'valid', 'The invitation has expired.'),
  invitation_used: entry(422, 'valid', 'The invitation has already been accepted.'),
  invitation_limit_reached: entry(
    422,
    'valid',
    'The organization has reached its limit of open invitations.',
  ),
  api_key_limit_reached: entry(422, 'valid', 'The account has reached its limit of active keys.'),
  last_active_key: entry(422, 'valid', 'The last active key cannot be revoked.'),
  api_key_already_revoked: entry(422, 'valid', 'The key is already revoked.'),
  api_key_revoked: entry(422, 'valid', 'A revoked key cannot be rotated or changed.'),
  webhook_limit_reached: entry(
    422,
    'valid',
    "The account has reached its plan's limit of webhook endpoints.",
  ),
  alert_limit_reached: entry(422, 'valid', "The account has reached its plan's limit of alerts."),
  scheduled_delivery_limit_reached: entry(
    422,
    'valid',
    "The account has reached its plan's limit of scheduled deliveries.",
  ),
  watch_limit_reached: entry(422, 'valid', "The account has reached its plan's limit of watches."),
  formula_limit_reached: entry(
    422,
    'valid',
    "The account has reached its plan's limit of formulas.",
  ),
  STREAM_LIMIT_REACHED: entry(429, 'flat', 'The key has reached its limit of open streams.'),
  UPGRADE_REQUIRED: entry(426, 'nested', 'The path accepts WebSocket connections only.'),
  data_source_limit_reached: entry(
    422,
    'valid',
    'The account has reached its limit of data sources.',
  ),
  data_source_not_synced: entry(
    422,
    'valid',
    'A data source cannot be synced: it is paused, receives pushes, or is being synced.',
  ),
  feed_not_run: entry(422, 'valid', 'A run of the feed is already in progress.'),
  data_source_paused: entry(
    422,
    'valid',
    'Rows were pushed to a data source that its owner has paused.',
  ),
  idempotency_key_reused: entry(
    422,
    'valid',
    'An Idempotency-Key was reused with a different request body.',
  ),
  country_not_supported: entry(
    422,
    'valid',
    'Text messages are not sent to numbers of this country.',
  ),
  code_expired: entry(422, 'valid', 'The code is older than ten minutes, or was never requested.'),
  phone_not_verified: entry(422, 'valid', 'The account has no verified phone number.'),
  not_opted_in: entry(422, 'valid', "The phone's owner has not consented to text messages."),
  verification_locked: entry(
    429,
    'valid',
    'Too many wrong codes were entered; a new one is needed.',
  ),
  sms_limit_reached: entry(429, 'valid', "The month's text messages are used up."),
  invalid_plan: entry(422, 'valid', 'The plan is unknown or not available this way.'),
  no_active_subscription: entry(422, 'valid', 'The account has no subscription.'),
  subscription_past_due: entry(
    422,
    'valid',
    'An invoice of the subscription is overdue and must be paid first.',
  ),
  payment_failed: entry(422, 'valid', 'The payment was declined and nothing has changed.'),
  invoice_closed: entry(
    422,
    'valid',
    'The invoice is settled, or the payment processor collects it.',
  ),
  open_invoice: entry(
    409,
    'valid',
    'The ending subscription has an open invoice, and the request does not set `open_invoices`.',
  ),
  newer_value: entry(
    409,
    'valid',
    'The value of the same time was recorded or removed after the one to release was held, and the request does not set `replace`.',
  ),
  backups_not_configured: entry(422, 'valid', 'No backup destination is configured.'),
  backup_under_way: entry(422, 'valid', 'A backup or verification is in progress.'),
  INVALID_SIGNATURE: entry(
    400,
    'nested',
    'The signature of the payment processor is missing, wrong or too old.',
  ),
  PROCESSOR_UNAVAILABLE: entry(503, 'nested', 'The payment processor does not respond.', true),
  RATE_LIMIT_EXCEEDED: entry(429, 'flat', 'The rate limit of a rolling window is reached.', true),
  MONTHLY_QUOTA_EXCEEDED: entry(429, 'flat', "A paid plan's monthly quota is used up."),
  TRIAL_LIMIT_EXCEEDED: entry(429, 'flat', "The trial's quota is used up."),
  not_found: entry(
    404,
    'valid',
    'The scheduled delivery does not exist or belongs to another account.',
  ),
  manual_send_cooldown: entry(
    429,
    'valid',
    'The delivery was sent manually less than ten minutes ago.',
  ),
  INTERNAL_ERROR: entry(
    500,
    'nested',
    'An unexpected error; the request id identifies it in the log.',
    true,
  ),
  OVERLOADED: entry(503, 'nested', 'Too many heavy requests at once.', true),
  QUERY_WORKER_UNAVAILABLE: entry(
    503,
    'nested',
    'The query worker for a heavy request ended or was not ready in time.',
    true,
  ),
  DATA_TOO_STALE: entry(503, 'nested', 'The newest futures quote is too old to be served.', true),
  LIVE_DATA_STALE: entry(
    503,
    'nested',
    'The market is open, but the newest futures quote is too old.',
    true,
  ),
  scheduled_deliveries_disabled: entry(
    503,
    'valid',
    'The operator has paused all scheduled deliveries.',
    true,
  ),
  STORAGE_UNAVAILABLE: entry(503, 'nested', 'The disk is full or the database is locked.', true),
} as const satisfies Record<string, Entry>

export type ProblemCode = keyof typeof problems

export interface FieldFault {
  field: string
  message: string
  value: unknown
  /** Why a time is refused, as a word, and those next to it. */
  reason?: string
  nearest?: readonly string[]
  /** The position of the fault in the text of a formula. */
  column?: number
  length?: number
  path?: readonly string[]
}

/** A refusal. Thrown anywhere behind the front door and rendered in one place. */
export class Problem extends Error {
  readonly status: number
  readonly shape: ProblemShape
  constructor(
    readonly code: ProblemCode,
    message: string,
    readonly extra: Readonly<Record<string, unknown>> = {},
    options: {
      shape?: ProblemShape
      headers?: Readonly<Record<string, string>>
      status?: number
      onTop?: readonly string[]
    } = {},
  ) {
    super(message)
    this.onTop = options.onTop ?? []
    this.status = options.status ?? problems[code].status
    this.shape = options.shape ?? problems[code].shape
    this.headers = options.headers ?? {}
  }
  readonly headers: Readonly<Record<string, string>>
  /** Fields of `extra` that are also at the top level of a nested body. */
  readonly onTop: readonly string[]
}

/** A refusal that ends after some seconds: `Retry-After` says so, and the body of a 429 too. */
export const passing = (
  code: ProblemCode,
  message: string,
  retryAfter: number,
  extra: Readonly<Record<string, unknown>> = {},
): Problem =>
  new Problem(
    code,
    message,
    problems[code].status === 429 ? { retry_after: retryAfter, ...extra } : extra,
    { headers: { 'retry-after': String(retryAfter) } },
  )

/**
 * A wrong value of a parameter. `right` describes a correct one: in words, or as the accepted
 * words.
 */
export function invalidParameter(
  parameter: string,
  value: unknown,
  right: string | readonly string[],
  accepted?: readonly string[],
): Problem {
  const words = typeof right === 'string' ? accepted : right
  const message = wrongValue(
    parameter,
    typeof right === 'string' ? right : oneOf(right),
    value,
    words,
  )
  return refusedParameter(parameter, value, message, words)
}

/** A parameter that is refused because of something else; `message` is the whole sentence. */
export const refusedParameter = (
  parameter: string,
  value: unknown,
  message: string,
  allowed?: readonly string[],
): Problem =>
  new Problem('INVALID_PARAMETER', message, {
    parameter,
    value: String(value),
    ...(allowed && { allowed }),
  })

export const missingParameter = (parameter: string, message: string): Problem =>
  new Problem('MISSING_PARAMETER', `${parameter} is required: ${message}`, { parameter })

/** The refusal of a range that ends before it starts; `usualEnd` is the end of one without `end_date`. */
export const reversedRange = (
  { start_date: start, end_date: end }: { start_date?: string; end_date?: string },
  usualEnd = 'now',
): Problem =>
  new Problem(
    'INVALID_DATE_RANGE',
    `start_date (${start}) is after end_date (${end || usualEnd}).`,
    {
      start_date: start ?? null,
      end_date: end ?? null,
    },
  )

/** Nothing of a kind has the id that was requested; without an id: the account has none. */
export const notFound = (noun: string, id?: string | number): Problem =>
  new Problem(
    'NOT_FOUND',
    id === undefined
      ? `${noun} was not found.`
      : `No ${noun} has the id ${shownValue(String(id))}.`,
  )

/** Nothing has the name that was requested; `names` are those that would do. */
export const nameNotFound = (noun: string, name: string, names?: readonly string[]): Problem =>
  new Problem('NOT_FOUND', unknownName(noun, name, names))

/**
 * The error for an invalid body: the first fault is at the top level, all of them are in `errors`.
 */
export function validationFailed(
  faults: readonly FieldFault[],
  code: ProblemCode = 'validation_failed',
  extra: Record<string, unknown> = {},
): Problem {
  const first = faults[0]
  const message = first ? first.message : problems[code].when
  return new Problem(code, message, {
    field: first?.field ?? null,
    value: first?.value ?? null,
    errors: faults,
    ...extra,
  })
}

/** The error for a body with one invalid field; `message` is the whole sentence. */
export const refusedField = (field: string, message: string, value: unknown = null): Problem =>
  validationFailed([{ field, message, value }])

/** A state that forbids the operation: E-valid without a field at fault. */
export const stateForbids = (
  code: ProblemCode,
  message: string,
  extra: Record<string, unknown> = {},
): Problem => new Problem(code, message, { field: null, value: null, errors: [], ...extra })

export interface ProblemContext {
  requestId: string
  docsUrl: string
}

const fullToken = /[0-9a-f]{64,}/gi

/** Refusals repeat what was sent, and people send a token where a code or a name belongs. */
const withoutTokens = (text: string): string => text.replace(fullToken, '[redacted]')

/** The body of a refusal in the shape that the specification has for it. */
export function problemBody(problem: Problem, context: ProblemContext): Record<string, unknown> {
  const body = shaped(problem, context)
  const text = JSON.stringify(body)
  const redacted = withoutTokens(text)
  return redacted === text ? body : (JSON.parse(redacted) as Record<string, unknown>)
}

function shaped(problem: Problem, { requestId, docsUrl }: ProblemContext): Record<string, unknown> {
  const { code, message, status, extra } = problem
  const docs = `${docsUrl}#${code}`
  const retry = { retryable: problems[code].retryable }
  const whole = {
    code,
    message,
    status,
    request_id: requestId,
    docs,
    docs_url: docs,
    retry,
    ...extra,
  }
  switch (problem.shape) {
    case 'fail':
      return {
        status: 'fail',
        code,
        message,
        request_id: requestId,
        docs_url: docs,
        ...topLevel(code, extra),
        data: { error: code, message, ...extra },
      }
    case 'flat':
      return { error: message, error_code: code, ...whole }
    case 'valid':
      return {
        error: code,
        error_code: code,
        code,
        message,
        request_id: requestId,
        docs_url: docs,
        ...extra,
      }
    case 'catalog':
      return {
        status: 'fail',
        code,
        message,
        error: { code, message, status, ...extra, request_id: requestId, docs_url: docs },
      }
    case 'nested':
      return {
        error: whole,
        ...Object.fromEntries(problem.onTop.map(field => [field, extra[field]])),
      }
  }
}

/** Clients read the valid intervals at the top of the body as well. */
const topLevel = (code: ProblemCode, extra: Readonly<Record<string, unknown>>) =>
  code === 'invalid_interval' ? { valid_intervals: extra.valid_intervals } : {}

const unprintable = /[^\x20-\x7e]+/g

/**
 * A text as a header may carry it: one line of printable ASCII, at most 200 characters. Anything
 * else throws inside the server.
 */
export const headerSafe = (text: string): string =>
  text.replace(unprintable, ' ').trim().slice(0, 200)

export const problemHeaders = (problem: Problem): Record<string, string> => ({
  ...problem.headers,
  'x-error-code': problem.code,
  'x-error-status': String(problem.status),
  'x-error-message': headerSafe(withoutTokens(problem.message)),
})
