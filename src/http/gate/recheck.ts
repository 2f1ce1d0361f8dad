import type { Session } from '../../topics/account/store/sessions.ts'
import type { Keyring, KeyState } from '../../topics/keys/service/keyring.ts'
import { Problem } from '../problem/problem.ts'
import type { KeyAccess } from './access-kind.ts'
import type { PeerLookup } from './address.ts'
import { credentialsOf } from './credentials.ts'
import type { SessionReader } from './key-entry.ts'
import { accountIdOf, type RequestContext } from './request-context.ts'
import type { Restrictions } from './restrictions.ts'

/** Checks the caller of an admitted request again at each call, for responses that continue. */
export function createRecheck(
  { keys, sessions }: { keys: Keyring; sessions: SessionReader },
  { refuseKey, refuseScope, refuseRole, refusePlan }: Restrictions,
  { access: admittedTo, caller, request, peer, route }: RequestContext,
): () => Problem | undefined {
  const access = admittedTo as KeyAccess
  const accountId = accountIdOf(caller!)
  const { session } = caller!
  // The connection's own request is gone when it has become a socket.
  const address = peer?.requestIP(request) ?? null
  const samePeer: PeerLookup = { requestIP: () => address }
  const connectionRequest = new Request(request.url, { headers: new Headers(request.headers) })
  const token =
    credentialsOf(connectionRequest, access.header === true, access.parameter).token ?? ''
  const sessionKey = (signIn: Session): KeyState | undefined => {
    const account = sessions.lasts(signIn) ? keys.account(signIn.accountId) : undefined
    return account && keys.sessionKey(account)
  }
  return () => {
    const key = session ? sessionKey(session) : keys.find(token)
    if (key?.account.account.id !== accountId)
      return new Problem('UNAUTHORIZED', 'The API key or session is not valid any more.')
    try {
      refuseKey(access, key, connectionRequest, samePeer)
      refuseScope(key, route)
      refuseRole(access, key, connectionRequest)
      refusePlan(access, keys.entitlements(key.account), connectionRequest)
      return undefined
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
  }
}
