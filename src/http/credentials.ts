export type Credentials = { token: string; fault?: undefined } | { token?: undefined; fault: string }

const howTo = 'send it as "Authorization: Token <API_KEY>"'

/**
 * The API key of a request. The header wins and the query parameter is then ignored; the parameter counts on GET and HEAD only, and
 * nowhere where `headerOnly` is set.
 */
export function credentialsOf(request: Request, headerOnly: boolean): Credentials {
  const header = request.headers.get('authorization')
  if (header !== null) {
    const space = header.indexOf(' ')
    const scheme = header.slice(0, space).toLowerCase()
    if (space < 0 || (scheme !== 'token' && scheme !== 'bearer')) return { fault: `The Authorization header is malformed; ${howTo}.` }
    return { token: header.slice(space + 1).trim() }
  }
  const inQuery = request.url.includes('api_key=') ? new URL(request.url).searchParams.get('api_key') : null
  if (inQuery === null) return { fault: `An API key is required; ${howTo}.` }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { fault: `The api_key parameter is accepted on GET and HEAD only; ${howTo}.` }
  }
  if (headerOnly) return { fault: `This endpoint takes the key in the Authorization header only; ${howTo}.` }
  return { token: inQuery.trim() }
}
