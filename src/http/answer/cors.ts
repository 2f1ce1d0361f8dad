const allowedHeaders =
  'authorization, baggage, content-type, if-match, if-modified-since, if-none-match, if-range, idempotency-key, last-event-id, mcp-protocol-version, mcp-session-id, prefer, range, traceparent, tracestate, x-request-id'
const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
/**
 * Response headers that scripts of other origins may read; `Data` and `Ignored-Parameters` under
 * the prefix of the service's own headers are added.
 */
const exposedHeaders = [
  'Allow',
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Used',
  'X-RateLimit-Reset',
  'X-RateLimit-Window',
  'X-RateLimit-State',
  'X-RateLimit-Tier',
  'RateLimit',
  'RateLimit-Policy',
  'X-Cache',
  'X-Error-Code',
  'X-Error-Status',
  'X-Error-Message',
  'X-Total',
  'X-Total-Pages',
  'X-Page',
  'X-Per-Page',
  'X-Has-Next',
  'X-Next-Cursor',
  'X-Has-More',
  'X-Vintage-As-Of',
  'X-Vintage-Revision-Coverage-Since',
  'Link',
  'Location',
  'Preference-Applied',
  'Retry-After',
  'ETag',
  'Last-Modified',
  'Content-Range',
  'Accept-Ranges',
  'Content-Disposition',
  'X-Quota-Requests',
  'WWW-Authenticate',
  'Deprecation',
  'Sunset',
  'Idempotent-Replayed',
].join(', ')

/** The headers by which clients identify themselves. */
const attribution = (prefix: string): string => `${prefix}Source, ${prefix}Tool`.toLowerCase()

/**
 * The CORS headers for pages of other origins. Never with credentials: a page sends its key in a
 * header that it sets itself.
 */
export function corsHeaders(
  headers: Record<string, string>,
  origin: string,
  origins: readonly string[],
  prefix = '',
): void {
  const any = origins.includes('*')
  if (!any && !origins.includes(origin)) return
  headers['access-control-allow-origin'] = any ? '*' : origin
  headers['access-control-expose-headers'] =
    prefix === ''
      ? exposedHeaders
      : `${exposedHeaders}, ${['Data', 'Default-Start', 'Ignored-Parameters', 'Sequence', 'Replica-Lag', 'Replica-Stale'].map(name => prefix + name).join(', ')}`
  if (!any) headers.vary = headers.vary ? `${headers.vary}, Origin` : 'Origin'
}

/** The answer to a preflight: unauthenticated, unmetered, without a rate slot. */
export function preflight(request: Request, origins: readonly string[], prefix = ''): Response {
  const headers: Record<string, string> = {}
  const origin = request.headers.get('origin')
  if (origin !== null) {
    corsHeaders(headers, origin, origins, prefix)
    headers['access-control-allow-methods'] = allowedMethods
    headers['access-control-allow-headers'] =
      prefix === '' ? allowedHeaders : `${allowedHeaders}, ${attribution(prefix)}`
    headers['access-control-max-age'] = '86400'
  }
  return new Response(null, { status: 204, headers })
}
