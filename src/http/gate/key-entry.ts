import type { Clock } from '../../lib/time/clock.ts'
import type { Plans } from '../../plans/plans.ts'
import type { Company } from '../../topics/account/service/company.ts'
import type { Impersonations } from '../../topics/account/service/impersonations.ts'
import type { Session } from '../../topics/account/store/sessions.ts'
import type { Keyring, KeyState } from '../../topics/keys/service/keyring.ts'
import type { Meter } from '../../topics/keys/service/meter.ts'
import { Problem } from '../problem/problem.ts'
import { type Links, overloaded, quotaUsedUp, tooFast } from '../problem/refusals.ts'
import type { KeyAccess } from './access-kind.ts'
import { clientAddress, type TrustedProxies } from './address.ts'
import { changesData, isAudited, whatOf } from './audited.ts'
import { credentialsOf, isSessionToken, linkKeyOf } from './credentials.ts'
import type { FileParts } from './file-parts.ts'
import type { RateSlots } from './rate-slots.ts'
import type { Caller, RequestContext } from './request-context.ts'
import { isSuspended, type Restrictions } from './restrictions.ts'
import type { Unauthorized } from './unauthorized.ts'

/** Reads session tokens, which are tokens that are not API keys. */
export interface SessionReader {
  find(token: string): { key: KeyState; session: Session } | undefined
  /** Whether a session's token is good still, without its being shown. */
  lasts(session: Session): boolean
  /** The time that sign-ins begin and end by. */
  now(): number
}

export interface KeyEntryDeps {
  keys: Keyring
  meter: Meter
  plans: Plans
  sessions: SessionReader
  /** Operators who see what an account sees. */
  impersonations?: Pick<Impersonations, 'find'>
  /** Reads the access token of the company's identity provider that came with a request. */
  company?: Pick<Company, 'personOf'> | undefined
  clock: Clock
  trusted: TrustedProxies
  /** While true, heavy routes are refused. */
  isOverloaded(): boolean
  links(request: Request): Links
  /** Gets requests whose charge the stream of changes does not have yet; absent: none follows. */
  uncharged?: WeakSet<Request> | undefined
}

const keyLength = 64
const notSignedIn = 'The session is not valid: it has ended, or it never was one. Sign in again.'
/** Without this text the last message that a customer reads would hide the cause. */
const quotaReason = ' The limit is this low because the request quota of the plan is used up.'

/** Admits requests of keys and of signed-in users. The order of the checks is part of the API. */
export function createKeyEntry(
  deps: KeyEntryDeps,
  restrictions: Restrictions,
  slots: RateSlots,
  fileParts: FileParts,
  unauthorized: Unauthorized,
) {
  const { refuseKey, refuseScope, refuseManaging, refuseRole, refusePlan } = restrictions
  const { keys, meter, plans, clock } = deps

  /** Refuses only heavy routes, which leaves capacity to the others. */
  const loadShed = (access: KeyAccess) => {
    if (access.heavy && deps.isOverloaded()) throw overloaded()
  }

  const audit = (context: RequestContext, access: KeyAccess, { key, session }: Caller) => {
    const { request, peer, route } = context
    if (!isAudited(access, request.method)) return
    context.action = {
      actor: session ? `person ${session.accountId}` : `key ${key.key.id}`,
      accountId: session?.accountId ?? key.holder.account.id,
      place: clientAddress(request, peer, deps.trusted),
      ...whatOf(request, route),
    }
  }

  /** Takes a slot in the window that the request belongs to; the caller checks the result. */
  const takeSlot = (
    context: RequestContext,
    access: KeyAccess,
    { key, entitled, session }: Caller,
    isExhausted: boolean,
    mayBrowse: boolean,
  ) => {
    // A download of whole histories is always charged as use of the data, also in the console.
    const isRead = mayBrowse && !access.weighed && !isSuspended(key)
    const browsing = isRead && session ? slots.takeBrowsing(context, session) : undefined
    context.isBrowsing = browsing !== undefined
    context.filePart = access.weighed && fileParts.nameOf(key.key.id, context.request)
    if (browsing) return browsing
    const isCovered = fileParts.covers(context.filePart, context.startedMs)
    const isHeldBack = isExhausted || isSuspended(key)
    return slots.takeBurst(context, key, entitled.requestsPerMinute, isHeldBack, isCovered)
  }

  const charge = (context: RequestContext, access: KeyAccess, key: KeyState, at: number) => {
    const { request } = context
    context.reserved = meter.reserve(key, at)
    if (!context.reserved)
      throw quotaUsedUp(meter, plans, deps.links(request), key, at, access.feature === 'futures')
    // The cost of a weighed response is known at its end.
    if (deps.uncharged && (access.weighed || !meter.isCharged(key))) deps.uncharged.add(request)
  }

  const admit = (
    context: RequestContext,
    access: KeyAccess,
    key: KeyState,
    session: Session | undefined,
    mayBrowse: boolean,
  ) => {
    const { request, peer, route } = context
    // Read once: the clock costs as much to read as the quota.
    const at = clock.now()
    const { entitled, state } = meter.quotaUsage(key, at)
    const caller = { key, entitled, session }
    context.caller = caller
    const isExhausted = state === 'exhausted'
    const window = takeSlot(context, access, caller, isExhausted, mayBrowse)
    refuseKey(access, key, request, peer)
    refuseScope(key, route)
    refuseManaging(access, key, session, request)
    refuseRole(access, key, request)
    refusePlan(access, entitled, request)
    if (!window.admitted) throw tooFast(window, isExhausted ? quotaReason : '')
    loadShed(access)
    slots.takeOwn(context, access, key)
    audit(context, access, caller)
    if (access.meter && !context.isBrowsing) charge(context, access, key, at)
  }

  /**
   * Admits an operator who impersonates the account, without changing, revealing, notifying or
   * counting anything.
   */
  const impersonate = (context: RequestContext, access: KeyAccess, key: KeyState) => {
    const { request } = context
    if (changesData(access, request.method) || isAudited(access, request.method))
      throw new Problem(
        'KEY_READ_ONLY',
        'This impersonation is read-only: it cannot change data or read secrets.',
      )
    const entitled = keys.entitlements(key.account)
    refusePlan(access, entitled, request)
    loadShed(access)
    context.vouched = true
    context.caller = { key, entitled, session: undefined }
  }

  return {
    enter(context: RequestContext, access: KeyAccess) {
      const { request } = context
      const credentials =
        (access.linkKey && linkKeyOf(request)) ||
        credentialsOf(request, access.header === true, access.parameter)
      const { token } = credentials
      if (token === undefined) return unauthorized(context, credentials.fault)
      const key = keys.find(token)
      if (key && credentials.isLink && !key.key.readOnly)
        return unauthorized(context, 'A key in a path must be read-only.')
      if (key) return admit(context, access, key, undefined, false)
      if (credentials.maySession) {
        const signedIn = deps.sessions.find(token) ?? deps.company?.personOf(request)
        if (signedIn)
          return admit(
            context,
            access,
            signedIn.key,
            signedIn.session,
            credentials.isBrowsing === true,
          )
        const impersonation = deps.impersonations?.find(token)
        if (impersonation) return impersonate(context, access, impersonation.key)
      }
      return unauthorized(context, isSessionToken(token) ? notSignedIn : wrongKey(token))
    },
    /** Admits a request that this instance makes for an admitted caller. */
    enterVouched(context: RequestContext, access: KeyAccess, caller: Caller) {
      context.vouched = true
      context.caller = caller
      refuseScope(caller.key, context.route)
      refusePlan(access, caller.entitled, context.request)
      loadShed(access)
      slots.takeOwn(context, access, caller.key)
      audit(context, access, caller)
    },
  }
}

/** Explains the form of a key if the one that was sent cannot be one; never repeats it. */
const wrongKey = (token: string): string =>
  /^[0-9a-f]{64}$/i.test(token)
    ? 'The API key is not valid: it is unknown, expired or revoked.'
    : `The API key is not valid: a key has ${keyLength} hexadecimal digits; got ${token.length} characters.`
