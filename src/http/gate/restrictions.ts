import { minuteMs } from '../../lib/time/instant.ts'
import { type Entitlements, hasFeature, type Plans } from '../../plans/plans.ts'
import { actionOf, isManaging, isSensitive } from '../../plans/roles/roles.ts'
import { isLimited, scopeOf } from '../../plans/roles/scopes.ts'
import type { Feature } from '../../plans/tiers.ts'
import type { Session } from '../../topics/account/store/sessions.ts'
import type { Keyring, KeyState } from '../../topics/keys/service/keyring.ts'
import { Problem } from '../problem/problem.ts'
import { featureMissing, hasScope, type Links, scopeMissing } from '../problem/refusals.ts'
import type { KeyAccess } from './access-kind.ts'
import { clientAddress, type PeerLookup, type TrustedProxies } from './address.ts'
import { changesData } from './audited.ts'
import { fromAllowedDomain } from './origin.ts'
import { requireAction } from './permission.ts'

export interface RestrictionDeps {
  keys: Pick<Keyring, 'allows'>
  plans: Plans
  trusted: TrustedProxies
  /** The time that sign-ins begin and end by. */
  sessions: { now(): number }
  /** How long after signing in keys, people and secrets may be managed; 0: however long. */
  freshSignInMs: number
  /** The same is for people with a second factor of signing in alone. */
  twoFactorStep?: { isRequired: boolean; isOn(accountId: string): boolean }
  links(request: Request): Links
}

/** Checks that refuse the holder of a valid key: each throws its 403 or does nothing. */
export type Restrictions = ReturnType<typeof createRestrictions>

export const isSuspended = ({ key, account, holder, isRestricted }: KeyState): boolean =>
  account.isSuspended || holder.isSuspended || (isRestricted && key.suspendedAt !== null)

export const createRestrictions = ({
  keys,
  plans,
  trusted,
  sessions,
  freshSignInMs,
  twoFactorStep,
  links,
}: RestrictionDeps) => ({
  /** State and restrictions of the key. */
  refuseKey(access: KeyAccess, state: KeyState, request: Request, peer: PeerLookup) {
    if (isSuspended(state))
      throw new Problem('KEY_SUSPENDED', 'This API key has been suspended by the operator.')
    if (!state.isRestricted) return
    const { key } = state
    if (state.networks.length > 0 && !keys.allows(state, clientAddress(request, peer, trusted)))
      throw new Problem('IP_NOT_ALLOWED', 'This API key may not be used from this address.')
    if (key.allowedDomains.length > 0 && !fromAllowedDomain(key.allowedDomains, request))
      throw new Problem('DOMAIN_NOT_ALLOWED', 'This API key may not be used from this domain.')
    if (key.readOnly && changesData(access, request.method))
      throw new Problem('KEY_READ_ONLY', 'This API key is read-only.')
  },
  /** Refuses a key whose scopes do not include that of the route. */
  refuseScope(key: KeyState, route: string) {
    if (key.key.scopes.length === 0) return
    const scope = scopeOf(route)
    if (scope !== undefined && !hasScope(key, scope)) throw scopeMissing(key, scope, 'this path')
  },
  /** Refuses actions that a limited key may not do, or that require a recent sign-in. */
  refuseManaging(
    access: KeyAccess,
    { key }: KeyState,
    session: Session | undefined,
    request: Request,
  ) {
    const action = access.action ?? actionOf(request.method)
    if (isManaging(action) && isLimited(key))
      throw new Problem(
        'KEY_LIMITED',
        'This API key expires or is limited to networks, domains, reading or scopes: it manages no keys, people or payments and reads no secrets. Use a key without limits, or sign in.',
        { action },
      )
    if (!isSensitive(action) && !access.secret) return
    if (twoFactorStep?.isRequired && !(session && twoFactorStep.isOn(session.accountId)))
      throw new Problem(
        'SECOND_FACTOR_MISSING',
        'This requires a sign-in with two-factor authentication. Set it up with POST /v1/auth/second-factor or on /sign-in.',
        { action },
      )
    if (freshSignInMs === 0) return
    if (session && sessions.now() - session.begunAt < freshSignInMs) return
    throw new Problem(
      'FRESH_SIGN_IN_REQUIRED',
      `This asks for a person who has signed in within the last ${freshSignInMs / minuteMs} minutes; sign in again.`,
      { action, fresh_for_seconds: freshSignInMs / 1000 },
    )
  },
  /**
   * Checks the role in an organization. A user without an organization is admin of their account.
   */
  refuseRole(access: KeyAccess, key: KeyState, request: Request) {
    if (key.holder.role !== 'admin') requireAction(key, access.action ?? actionOf(request.method))
  },
  /** The plan. */
  refusePlan({ feature, flat }: KeyAccess, entitled: Entitlements, request: Request) {
    if (feature === undefined) return
    const anyOf: readonly Feature[] = typeof feature === 'string' ? [feature] : feature
    if (!anyOf.some(name => hasFeature(entitled, name)))
      throw featureMissing(plans, links(request), entitled, anyOf[0]!, flat && 'flat')
  },
})
