import { secondMs } from '../../lib/time/instant.ts'
import { plainEtags } from './encoding.ts'

/** Response fields that a handler may set. */
export interface Reply {
  headers: Record<string, string | number>
  status?: number | string
}

/**
 * Whether a client already has the response with this entity tag (weak comparison, as the standard
 * has it for If-None-Match), encoded or not.
 */
export function hasEtag(header: string | null, etag: string): boolean {
  if (header === null) return false
  if (header === etag || header.trim() === '*') return true
  return plainEtags(header)
    .split(',')
    .some(tag => tag.trim().replace(/^W\//, '') === etag)
}

/**
 * Whether a client has the present response: by its entity tag, or without one by the time that it
 * was last modified, in whole seconds (RFC 9110). Undefined: the time says nothing about it.
 */
export function isUnmodified(
  request: Request,
  etag: string,
  modifiedAt: number | undefined,
): boolean {
  const tags = request.headers.get('if-none-match')
  if (tags !== null) return hasEtag(tags, etag)
  const since = Date.parse(request.headers.get('if-modified-since') ?? '')
  return modifiedAt !== undefined && Math.floor(modifiedAt / secondMs) * secondMs <= since
}
