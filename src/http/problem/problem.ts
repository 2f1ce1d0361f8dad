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

/** Errors of one status and one shape, each with when it happens. */
const entries = <Code extends string>(
  status: number,
  shape: ProblemShape,
  texts: Readonly<Record<Code, string>>,
  retryable = false,
) =>
  Object.fromEntries(
    Object.entries<string>(texts).map(([code, when]) => [code, { status, shape, retryable, when }]),
  ) as Record<Code, Entry>

/** Every error this service answers, by code. Nothing else leaves the instance. */
export const problems = {
  ...entries(400, 'fail', {
    invalid_code: 'A commodity code is not in the catalogue.',
    too_many_codes: 'Too many codes in one request.',
    invalid_interval: 'The interval is not one of the accepted spellings.',
  }),
  ...entries(400, 'nested', {
    MISSING_PARAMETER: 'A required parameter is absent.',
    INVALID_PARAMETER: 'A parameter is not valid.',
    INVALID_DATE_RANGE: 'The range ends before it starts.',
    MALFORMED_JSON: 'The body is not JSON.',
    MISSING_CODES: 'The body contains no codes.',
    MALFORMED_REQUEST: 'The request is ambiguous: repeated or malformed headers.',
    INVALID_SIGNATURE: 'The signature of the payment processor is missing, wrong or too old.',
  }),
  ...entries(401, 'nested', {
    UNAUTHORIZED: 'The key is missing, malformed, unknown, expired or revoked.',
    SECOND_FACTOR_REQUIRED:
      'The credentials are correct, but the account requires a two-factor code.',
    INVALID_CREDENTIALS: 'The address, password or link is not valid.',
  }),
  ...entries(402, 'flat', {
    PAYMENT_REQUIRED: "The free plan's daily quota is used up.",
    FREE_TIER_LIMIT_EXCEEDED: "The free plan's daily quota is exhausted, on a futures path.",
  }),
  ...entries(403, 'nested', {
    INSUFFICIENT_PLAN: 'The plan does not include the feature.',
    FORBIDDEN: 'The plan does not include futures.',
    ENTERPRISE_REQUIRED: 'The account does not have the add-on Well Production.',
    KEY_SUSPENDED: 'The operator has suspended the key or its account.',
    KEY_READ_ONLY: 'A read-only key was used to change something.',
    KEY_LIMITED: 'A restricted key was used to manage keys, people, payments or secrets.',
    KEY_SCOPE_MISSING: 'The key lacks the scope of this operation.',
    ADMIN_ROLE_MISSING: 'The role of the admin token does not allow this.',
    FRESH_SIGN_IN_REQUIRED:
      'The operator requires a recent sign-in to manage keys, people and secrets.',
    SECOND_FACTOR_MISSING:
      'The operator requires two-factor authentication to manage keys, people and secrets.',
    IP_NOT_ALLOWED: "The client's address is not in the networks that the key allows.",
    DOMAIN_NOT_ALLOWED: "The page's domain is not among the domains that the key allows.",
    DEMO_CODE_NOT_AVAILABLE: 'The demo does not serve this code.',
    COMPANY_SIGN_IN_REQUIRED: 'People sign in with a company account only (`oidc.only`).',
    FORBIDDEN_ROLE: "The caller's role in the organization does not allow it.",
    SIGNUP_CLOSED: 'Sign-up is closed, or by invitation only.',
  }),
  ...entries(404, 'catalog', {
    COMMODITY_NOT_FOUND: 'The catalogue has no such code.',
  }),
  ...entries(404, 'nested', {
    NOT_FOUND: 'The resource does not exist or belongs to another account.',
    ROUTE_NOT_FOUND:
      'No operation has this path and method. Clients that accept `application/json` get a JSON body, others an empty one.',
    DATA_NOT_AVAILABLE: 'No data, or not enough, is available.',
  }),
  ...entries(404, 'valid', {
    not_found: 'The scheduled delivery does not exist or belongs to another account.',
  }),
  ...entries(405, 'nested', {
    METHOD_NOT_ALLOWED:
      'The path exists, but not with this method. Only clients that accept JSON get this error; others get `ROUTE_NOT_FOUND`.',
  }),
  ...entries(409, 'valid', {
    open_invoice:
      'The ending subscription has an open invoice, and the request does not set `open_invoices`.',
    newer_value:
      'The value of the same time was recorded or removed after the one to release was held, and the request does not set `replace`.',
  }),
  ...entries(410, 'nested', {
    CURSOR_GONE: 'The cursor is newer than the backup that the instance was restored from.',
  }),
  ...entries(412, 'nested', {
    PRECONDITION_FAILED:
      'The resource has changed since the entity tag in `If-Match` was returned.',
  }),
  ...entries(413, 'nested', {
    PAYLOAD_TOO_LARGE: 'The body is larger than accepted.',
  }),
  ...entries(415, 'nested', {
    UNSUPPORTED_CONTENT_ENCODING: 'The body is compressed.',
  }),
  ...entries(416, 'nested', {
    RANGE_NOT_SATISFIABLE: 'The requested range is outside the file.',
  }),
  ...entries(422, 'valid', {
    validation_failed: 'A field of the body is not valid.',
    already_member: 'The person is already a member or belongs to another organization.',
    own_subscription:
      'The account has its own subscription, and must cancel it before it joins an organization.',
    last_admin: 'An organization needs at least one admin.',
    invitation_expired: 'The invitation has expired.',
    invitation_used: 'The invitation has already been accepted.',
    invitation_limit_reached: 'The organization has reached its limit of open invitations.',
    api_key_limit_reached: 'The account has reached its limit of active keys.',
    last_active_key: 'The last active key cannot be revoked.',
    api_key_already_revoked: 'The key is already revoked.',
    api_key_revoked: 'A revoked key cannot be rotated or changed.',
    webhook_limit_reached: "The account has reached its plan's limit of webhook endpoints.",
    alert_limit_reached: "The account has reached its plan's limit of alerts.",
    scheduled_delivery_limit_reached:
      "The account has reached its plan's limit of scheduled deliveries.",
    watch_limit_reached: "The account has reached its plan's limit of watches.",
    formula_limit_reached: "The account has reached its plan's limit of formulas.",
    data_source_limit_reached: 'The account has reached its limit of data sources.',
    data_source_not_synced:
      'A data source cannot be synced: it is paused, receives pushes, or is being synced.',
    feed_not_run: 'A run of the feed is already in progress.',
    data_source_paused: 'Rows were pushed to a data source that its owner has paused.',
    idempotency_key_reused: 'An Idempotency-Key was reused with a different request body.',
    country_not_supported: 'Text messages are not sent to numbers of this country.',
    code_expired: 'The code is older than ten minutes, or was never requested.',
    phone_not_verified: 'The account has no verified phone number.',
    not_opted_in: "The phone's owner has not consented to text messages.",
    invalid_plan: 'The plan is unknown or not available this way.',
    no_active_subscription: 'The account has no subscription.',
    subscription_past_due: 'An invoice of the subscription is overdue and must be paid first.',
    payment_failed: 'The payment was declined and nothing has changed.',
    invoice_closed: 'The invoice is settled, or the payment processor collects it.',
    backups_not_configured: 'No backup destination is configured.',
    backup_under_way: 'A backup or verification is in progress.',
  }),
  ...entries(426, 'nested', {
    UPGRADE_REQUIRED: 'The path accepts WebSocket connections only.',
  }),
  ...entries(429, 'nested', {
    LOGIN_LOCKED: 'Too many failed sign-in attempts.',
    SIGNUP_LIMITED: 'Too many sign-up e-mails were requested.',
  }),
  ...entries(429, 'flat', {
    STREAM_LIMIT_REACHED: 'The key has reached its limit of open streams.',
    MONTHLY_QUOTA_EXCEEDED: "A paid plan's monthly quota is used up.",
    TRIAL_LIMIT_EXCEEDED: "The trial's quota is used up.",
  }),
  ...entries(429, 'valid', {
    verification_locked: 'Too many wrong codes were entered; a new one is needed.',
    sms_limit_reached: "The month's text messages are used up.",
    manual_send_cooldown: 'The delivery was sent manually less than ten minutes ago.',
  }),
  ...entries(
    429,
    'flat',
    {
      RATE_LIMIT_EXCEEDED: 'The rate limit of a rolling window is reached.',
    },
    true,
  ),
  ...entries(
    500,
    'nested',
    {
      INTERNAL_ERROR: 'An unexpected error; the request id identifies it in the log.',
    },
    true,
  ),
  ...entries(501, 'nested', {
    METHOD_NOT_IMPLEMENTED: 'The HTTP method is not supported.',
  }),
  ...entries(
    503,
    'nested',
    {
      PROCESSOR_UNAVAILABLE: 'The payment processor does not respond.',
      OVERLOADED: 'Too many heavy requests at once.',
      QUERY_WORKER_UNAVAILABLE:
        'The query worker for a heavy request ended or was not ready in time.',
      DATA_TOO_STALE: 'The newest futures quote is too old to be served.',
      LIVE_DATA_STALE: 'The market is open, but the newest futures quote is too old.',
      STORAGE_UNAVAILABLE: 'The disk is full or the database is locked.',
    },
    true,
  ),
  ...entries(
    503,
    'valid',
    {
      scheduled_deliveries_disabled: 'The operator has paused all scheduled deliveries.',
    },
    true,
  ),
}

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
