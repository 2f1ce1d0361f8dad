import type { Ids } from '../../../lib/ids.ts'
import { isToken, sameHash, tokenHash, tokenHint } from '../../../lib/secrets/token.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { AdminRole } from '../../../plans/roles/admin-roles.ts'
import type { AdminToken, AdminTokenStore } from '../store/admin-tokens.ts'

/**
 * The operator's tokens: one made at the first start, others with names and roles. Each is shown
 * once and kept as a hash.
 */
export type AdminTokens = ReturnType<typeof createAdminTokens>

export function createAdminTokens(store: AdminTokenStore, clock: Clock, ids: Ids) {
  let active: AdminToken[] = []
  /** Reads again what is in the store, when a change was undone. */
  const reload = () => {
    active = store.all().filter(({ revokedAt }) => revokedAt === null)
  }
  const newToken = (name: string | null, role: AdminRole) => {
    const token = ids.token()
    const adminToken: AdminToken = {
      id: ids.uuid(),
      name,
      role,
      hash: tokenHash(token),
      hint: tokenHint(token),
      createdAt: clock.now(),
      revokedAt: null,
    }
    return { made: adminToken, token }
  }
  reload()
  return {
    /** The token in force that a text is. */
    find(token: string) {
      if (!isToken(token)) return undefined
      const hash = tokenHash(token)
      return active.find(token => sameHash(token.hash, hash))
    },
    exists: () => active.length > 0,
    /** All there ever were, the newest first. */
    list: () => store.all(),
    create(name: string, role: AdminRole) {
      const created = newToken(name, role)
      store.add(created.made)
      reload()
      return created
    },
    /** Ends one; undefined where there is none. One that has ended stays so. */
    revoke(id: string) {
      store.revoke(id, clock.now())
      reload()
      return store.all().find(token => token.id === id)
    },
    /** Creates a token without a name and with every role; all earlier ones end. */
    rotate() {
      const { made, token } = newToken(null, 'all')
      store.replace(made, clock.now())
      reload()
      return token
    },
    reload,
  }
}
