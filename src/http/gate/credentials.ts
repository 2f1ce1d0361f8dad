import { isMadeByOwnPage, isOwnPage } from './origin.ts'
import { sessionCookieOf } from './session-cookie.ts'

/**
 * `maySession`: it came as a session token may come, after `Bearer` or in the cookie of our own
 * pages. `isBrowsing`: it is the cookie, and a page of ours made the request.
 */
export type Credentials =
  | {
      token: string
      maySession: boolean
      isBrowsing?: boolean
      isLink?: boolean
      fault?: undefined
    }
  | { token?: undefined; fault: string }

const howTo = 'send it as "Authorization: Token <API_KEY>"'

/**
 * Whether a text has the form of a session token: three parts with dots between. An API key has
 * none.
 */
export const isSessionToken = (text: string): boolean => text.split('.').length === 3

/** The key of a link: a segment of its path. */
const linkKeyPattern = /^[^?]*\/key\/([^/?]+)/

/** A JWT after `Bearer`, which may be an access token of an identity provider. */
export function foreignTokenOf(request: Request): string | undefined {
  const [, token] = /^bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  return token !== undefined && isSessionToken(token) ? token : undefined
}

/** The key in the path of a request, which a page that can send no header puts there. */
export function linkKeyOf(request: Request): Credentials | undefined {
  const key = linkKeyPattern.exec(request.url)?.[1]
  return key === undefined ? undefined : { token: key, maySession: false, isLink: true }
}

/**
 * The API key or the session token of a request. The header wins and all else is then ignored; the
 * query parameter counts on GET and HEAD only, and nowhere where `headerOnly` is set; the cookie
 * counts where nothing else is sent, for requests of our own pages. `also` is another name of the
 * query parameter.
 */
export function credentialsOf(request: Request, headerOnly: boolean, also?: string): Credentials {
  const header = request.headers.get('authorization')
  if (header !== null) {
    if (header.startsWith('Token ')) return { token: header.slice(6).trim(), maySession: false }
    const space = header.indexOf(' ')
    const scheme = header.slice(0, space).toLowerCase()
    const user = scheme === 'basic' ? basicUserOf(header.slice(space + 1)) : undefined
    if (user !== undefined) return { token: user, maySession: false }
    if (space < 0 || (scheme !== 'token' && scheme !== 'bearer'))
      return { fault: `The Authorization header is malformed; ${howTo}.` }
    return { token: header.slice(space + 1).trim(), maySession: scheme === 'bearer' }
  }
  const named =
    also !== undefined && request.url.includes(`${also}=`)
      ? new URL(request.url).searchParams.get(also)
      : null
  const inQuery =
    named ??
    (request.url.includes('api_key=') ? new URL(request.url).searchParams.get('api_key') : null)
  if (inQuery === null) return cookieOf(request) ?? { fault: `An API key is required; ${howTo}.` }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { fault: `The api_key parameter is accepted on GET and HEAD only; ${howTo}.` }
  }
  if (headerOnly)
    return { fault: `This endpoint takes the key in the Authorization header only; ${howTo}.` }
  return { token: inQuery.trim(), maySession: false }
}

/** The key as the user name, or as the password where there is no name; undefined: neither. */
function basicUserOf(encoded: string): string | undefined {
  const [user = '', password = ''] = Buffer.from(encoded, 'base64').toString().split(':')
  return user.trim() || password.trim() || undefined
}

/**
 * Browsers send the cookie with requests that other sites cause, so it counts only for requests
 * from our own pages.
 */
function cookieOf(request: Request): Credentials | undefined {
  const token = sessionCookieOf(request)
  if (token === undefined) return undefined
  if (!isOwnPage(request))
    return {
      fault: `The session cookie counts for requests of this site's own pages only; ${howTo}.`,
    }
  return { token, maySession: true, isBrowsing: isMadeByOwnPage(request) }
}
