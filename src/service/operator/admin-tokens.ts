import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { isToken, sameHash, tokenHash, tokenHint } from '../../lib/token.ts'
import type { AdminTokenStore } from '../../store/operator/admin-tokens.ts'

/** The operator's token: made at the first start, shown once, kept as a hash. */
export interface AdminTokens {
  accepts(token: string): boolean
  exists(): boolean
  /** A new token; all earlier ones end. */
  rotate(): string
}

export function createAdminTokens(store: AdminTokenStore, clock: Clock, ids: Ids): AdminTokens {
  let active = store.active()
  return {
    accepts: token => isToken(token) && active.some(hash => sameHash(hash, tokenHash(token))),
    exists: () => active.length > 0,
    rotate() {
      const token = ids.token()
      store.replace(tokenHash(token), tokenHint(token), clock.now())
      active = store.active()
      return token
    },
  }
}
