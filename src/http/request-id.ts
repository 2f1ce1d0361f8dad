import type { Ids } from '../lib/ids.ts'

const visible = /^[\x21-\x7e]{1,128}$/

/** The id of a request: the client's own when it is one, otherwise a new one. */
export function requestIdOf(request: Request, ids: Ids): string {
  const requestId = request.headers.get('x-request-id')
  return requestId !== null && visible.test(requestId) ? requestId : ids.uuid()
}
