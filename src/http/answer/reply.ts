/** Response fields that a handler may set. */
export interface Reply {
  headers: Record<string, string | number>
  status?: number | string
}

/**
 * Whether a client already has the response with this entity tag (weak comparison, as the standard
 * has it for If-None-Match).
 */
export function hasEtag(header: string | null, etag: string): boolean {
  if (header === null) return false
  if (header === etag || header.trim() === '*') return true
  return header.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
}
