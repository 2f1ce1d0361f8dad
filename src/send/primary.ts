/** Headers that describe the connection and are not forwarded. */
const connectionHeaders = [
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'proxy-connection',
]

/** The headers of a request as the primary gets them; `address`: where it came from. */
export function forwardedHeaders(request: Request, address: string | undefined): Headers {
  const headers = new Headers(request.headers)
  for (const name of connectionHeaders) headers.delete(name)
  if (address !== undefined) {
    const before = headers.get('x-forwarded-for')
    headers.set('x-forwarded-for', before === null ? address : `${before}, ${address}`)
  }
  return headers
}

/** Forwards requests to the primary, and its responses back unchanged. */
export function createPrimaryClient(
  primary: () => string,
  addressOf: (request: Request) => string | undefined,
): (request: Request) => Promise<Response> {
  return async request => {
    const { pathname, search } = new URL(request.url)
    const headers = forwardedHeaders(request, addressOf(request))
    const response = await fetch(`${primary()}${pathname}${search}`, {
      method: request.method,
      headers,
      redirect: 'manual',
      // Bytes are handed on as the primary has encoded them.
      decompress: false,
      signal: request.signal,
      ...(request.body !== null && { body: await request.arrayBuffer() }),
    })
    const answered = new Headers(response.headers)
    for (const name of connectionHeaders) answered.delete(name)
    return new Response(response.body, { status: response.status, headers: answered })
  }
}
