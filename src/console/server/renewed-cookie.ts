import { cookieOf } from '../../http/gate/session-cookie.ts'
import type { Sessions } from '../../topics/account/service/sessions.ts'
import type { Session } from '../../topics/account/store/sessions.ts'

/**
 * The cookie of a session after half of its lifetime, with a new token: active people stay signed
 * in. Undefined before that.
 */
export async function renewedCookie(
  sessions: Sessions,
  session: Session,
  isSecure: boolean,
): Promise<string | undefined> {
  if (sessions.now() - session.createdAt < (session.expiresAt - session.createdAt) / 2)
    return undefined
  const refreshed = await sessions.refresh(session)
  return refreshed && cookieOf(refreshed, sessions.now(), isSecure)
}
