import { secondMs } from '../../lib/time/instant.ts'

const plainName = 'session'
/**
 * Browsers take a cookie of this name only over https, for the whole site and from the site itself.
 */
const secureName = '__Host-session'

/** The session token in a request's cookie. */
export function sessionCookieOf(request: Request): string | undefined {
  const header = request.headers.get('cookie')
  if (header === null) return undefined
  const cookies = new Bun.CookieMap(header)
  return cookies.get(secureName) ?? cookies.get(plainName) ?? undefined
}

/**
 * Sets the session cookie of a page; scripts cannot read it, and other sites cannot have it sent
 * with requests that change something.
 */
const sessionCookie = (token: string, maxAgeSeconds: number, secure: boolean): string =>
  `${secure ? secureName : plainName}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`

/** The cookie of a session, which expires with its token. */
export const cookieOf = (
  signedIn: { token: string; session: { expiresAt: number } },
  now: number,
  secure: boolean,
): string =>
  sessionCookie(signedIn.token, Math.floor((signedIn.session.expiresAt - now) / secondMs), secure)

const plainMark = 'sign-in'
const secureMark = '__Host-sign-in'

/** The mark of a browser that is on its way to the identity provider and back. */
export function markOf(request: Request): string | undefined {
  const cookies = new Bun.CookieMap(request.headers.get('cookie') ?? '')
  return cookies.get(secureMark) ?? cookies.get(plainMark) ?? undefined
}

export const markCookie = (mark: string, lifetimeMs: number, secure: boolean): string =>
  `${secure ? secureMark : plainMark}=${mark}; Path=/; Max-Age=${lifetimeMs / secondMs}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`

export const endedCookie = (secure: boolean): string => sessionCookie('', 0, secure)
