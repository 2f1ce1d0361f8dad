import type { ClientProfile } from '../../plans/clients/client-profile.ts'
import type { Fields } from './shapes.ts'

/** An error response: its status, its body and its headers. */
export interface Refusal {
  route: string
  status: number
  body: Fields
  headers: Record<string, string | number>
}

const quotaCodes: readonly unknown[] = ['MONTHLY_QUOTA_EXCEEDED', 'TRIAL_LIMIT_EXCEEDED']

/**
 * A refusal as the switches of a profile have it, or the same one. Headers are changed in place.
 */
export function refusedFor(
  { switches, retryAfterCapSeconds }: ClientProfile,
  refusal: Refusal,
): Refusal {
  let reshaped = refusal
  if (quotaCodes.includes(reshaped.body.code)) {
    if (switches.has('retry_after_cap'))
      reshaped = withRetryAfterUpTo(retryAfterCapSeconds, reshaped)
    if (switches.has('quota_without_retry_after')) reshaped = withoutRetryAfter(reshaped)
  }
  if (switches.has('unknown_code_404')) reshaped = withUnknownCodeAs404(reshaped)
  if (switches.has('error_string')) reshaped = withErrorAsText(reshaped)
  return reshaped
}

function withRetryAfterUpTo(capSeconds: number, refusal: Refusal): Refusal {
  const { body, headers } = refusal
  if (headers['retry-after'] !== undefined)
    headers['retry-after'] = String(Math.min(capSeconds, Number(headers['retry-after'])))
  return typeof body.retry_after === 'number'
    ? { ...refusal, body: { ...body, retry_after: Math.min(capSeconds, body.retry_after) } }
    : refusal
}

function withoutRetryAfter(refusal: Refusal): Refusal {
  const { retry_after: _, ...body } = refusal.body
  delete refusal.headers['retry-after']
  return { ...refusal, body }
}

function withUnknownCodeAs404(refusal: Refusal): Refusal {
  const { route, body, headers } = refusal
  const isPrices = route === '/v1/prices' || route.startsWith('/v1/prices/')
  if (body.code !== 'invalid_code' || !isPrices) return refusal
  headers['x-error-status'] = '404'
  return { ...refusal, status: 404 }
}

/**
 * From the nested shape to the flat one, in its order: the message becomes `error`, and the other
 * fields follow it.
 */
function withErrorAsText(refusal: Refusal): Refusal {
  const { error } = refusal.body
  const isNested = typeof error === 'object' && error !== null && !('status' in refusal.body)
  if (!isNested) return refusal
  const { code, message } = error as Fields
  return { ...refusal, body: { error: message, error_code: code, ...error } }
}
