/** Anything that this package throws on its own account. */
export class WellheadError extends Error {
  override name = 'WellheadError'
}

/** The service could not be reached, or the connection broke before its answer was complete. */
export class ConnectionFailed extends WellheadError {
  override name = 'ConnectionFailed'
}

/** A delivery is not signed with the secret, was signed too long ago, or is no event. */
export class InvalidWebhook extends WellheadError {
  override name = 'InvalidWebhook'
}

export interface Refusal {
  message: string
  /** The HTTP status. */
  status: number
  /** The stable code of the documentation. */
  code: string
  /** The whole answer: JSON, else text. */
  body: unknown
  requestId: string | undefined
  /** Seconds after which the service will take the request again, where it says so. */
  retryAfterSeconds: number | undefined
}

/** The service refused a request. */
export class ApiError extends WellheadError {
  override name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly body: unknown
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(refusal: Refusal) {
    const suffix = refusal.requestId ? ` (request ${refusal.requestId})` : ''
    super(`${refusal.status} ${refusal.code}: ${refusal.message}${suffix}`)
    this.status = refusal.status
    this.code = refusal.code
    this.body = refusal.body
    this.requestId = refusal.requestId
    this.retryAfterSeconds = refusal.retryAfterSeconds
  }
}

/** 400, 413, 422: a parameter or a field has a value that it can not have; the message names it. */
export class InvalidRequest extends ApiError {
  override name = 'InvalidRequest'
}

/** 401: the key is missing, unknown, expired or revoked. */
export class Unauthorized extends ApiError {
  override name = 'Unauthorized'
}

/** 403: the plan, the key's restrictions or the person's role do not allow it. */
export class Forbidden extends ApiError {
  override name = 'Forbidden'
}

/** 404: there is no such thing, or no data to answer with. */
export class NotFound extends ApiError {
  override name = 'NotFound'
}

/** 402, 429: the quota of the day, the month or the trial is used up. It is not tried again. */
export class QuotaExceeded extends ApiError {
  override name = 'QuotaExceeded'
}

/** 429: too many requests in a short time, also after the retries. */
export class RateLimited extends ApiError {
  override name = 'RateLimited'
}

/** 5xx: the service could not answer, also after the retries. */
export class Unavailable extends ApiError {
  override name = 'Unavailable'
}

/** The error of a refusal by its status; `isExhausted` says that a quota is used up. */
export function errorOf(refusal: Refusal, isExhausted: boolean): ApiError {
  const { status } = refusal
  if (status === 402 || (status === 429 && isExhausted)) return new QuotaExceeded(refusal)
  if (status >= 500) return new Unavailable(refusal)
  if (status === 401) return new Unauthorized(refusal)
  if (status === 403) return new Forbidden(refusal)
  if (status === 404) return new NotFound(refusal)
  return status === 429 ? new RateLimited(refusal) : new InvalidRequest(refusal)
}
