import type { Clock } from '../../lib/time/clock.ts'
import type { Entitlements, Plans } from '../../plans/plans.ts'
import type { QuotaWindow } from '../../plans/quota.ts'
import { type AdminRole, mayOperate, rolesThatMay } from '../../plans/roles/admin-roles.ts'
import type { Company } from '../../topics/account/service/company.ts'
import type { Impersonations } from '../../topics/account/service/impersonations.ts'
import type { Session } from '../../topics/account/store/sessions.ts'
import type { Keyring, KeyState } from '../../topics/keys/service/keyring.ts'
import type { Meter, QuotaUsage } from '../../topics/keys/service/meter.ts'
import { type RecentRequests, refusalText } from '../../topics/keys/service/recent-requests.ts'
import { consoleEndpoint } from '../../topics/keys/store/usage.ts'
import type { AdminTokens } from '../../topics/operator/service/admin-tokens.ts'
import type { Audit } from '../../topics/operator/service/audit.ts'
import { isShortJson, markComplete } from '../answer/complete.ts'
import { markText, type Text } from '../answer/own-text.ts'
import {
  addressHeaders,
  type GivenHeaders,
  keyAnswer,
  keyHeaders,
  type WindowReading,
} from '../answer/rate-headers.ts'
import { createTextBodies } from '../answer/text-body.ts'
import { Problem } from '../problem/problem.ts'
import { type Links, overloaded, quotaUsedUp, tooFast } from '../problem/refusals.ts'
import type { Access, KeyAccess, OpenAccess, OperatorAccess } from './access-kind.ts'
import { clientAddress, type PeerLookup, type TrustedProxies } from './address.ts'
import { type AuditedAction, changesByOperator, changesData, isAudited, whatOf } from './audited.ts'
import { credentialsOf, isSessionToken, linkKeyOf } from './credentials.ts'
import { createFileParts } from './file-parts.ts'
import { createRateSlots } from './rate-slots.ts'
import type { RateTables } from './rates.ts'
import { createRestrictions, isSuspended, type Restrictions } from './restrictions.ts'

export interface Caller {
  key: KeyState
  entitled: Entitlements
  /** The session that the request came with instead of a key. */
  session: Session | undefined
}

/** The account that calls. */
export const accountIdOf = ({ key }: Pick<Caller, 'key'>): string => key.account.account.id

/** A request that another thread has admitted: the caller, and the profile of the client. */
export interface Admitted {
  caller: Caller | undefined
  /** The name of the client's profile; undefined: none fits. */
  profile?: string | undefined
}

/**
 * One request on its way through the instance: made at the gate, settled when the status of its answer
 * is known.
 */
export interface RequestContext {
  access: Access
  caller: Caller | undefined
  /** The operator; undefined for requests of others. */
  actor: string | undefined
  /** Id of the operator's token; undefined for commands on this machine. */
  adminTokenId: string | undefined
  /** The role of the operator's token; undefined for commands on this machine. */
  adminRole: AdminRole | undefined
  /** The entry for the audit trail once the request is done; undefined: none. */
  action: AuditedAction | undefined
  /**
   * A page of the console sent the request: it is not charged to the account, and usage counts it
   * separately.
   */
  isBrowsing: boolean
  /**
   * The quota window that the request is charged to; it is credited if the response does not count.
   */
  reserved: QuotaWindow | undefined
  /** Set by a handler whose success is not charged, because it repeats an earlier response. */
  free: boolean
  /**
   * The request was made by this instance for an admitted caller, whose own request has been
   * charged.
   */
  vouched: boolean
  /** Names the file of which a part is requested; undefined: none is. */
  filePart: string | undefined
  /** The status to count, where the sent one hides a refusal. */
  outcome: number | undefined
  startedMs: number
  method: string
  route: string
  windows: WindowReading[]
  /** The quota in the headers while a simulated fault exhausts it. */
  simulated: SimulatedQuota | undefined
}

/** The header in which a command on this machine names its user. */
export const commandUserHeader = 'x-wellhead-user'

export type SimulatedQuota = Omit<QuotaUsage, 'entitled'>

/** Reads session tokens, which are tokens that are not API keys. */
export interface SessionReader {
  find(token: string): { key: KeyState; session: Session } | undefined
  /** Whether a session's token is good still, without its being shown. */
  lasts(session: Session): boolean
  /** The time that sign-ins begin and end by. */
  now(): number
}

export interface GateDeps {
  keys: Keyring
  meter: Meter
  plans: Plans
  rates: RateTables
  adminTokens: AdminTokens
  /** Sessions that may be used instead of an admin token. */
  operators?: { admits(request: Request, changes: boolean): boolean }
  audit: Pick<Audit, 'note'>
  sessions: SessionReader
  /** Operators who see what an account sees. */
  impersonations?: Pick<Impersonations, 'find'>
  /** Reads the access token of the company's identity provider that came with a request. */
  company?: Pick<Company, 'personOf'> | undefined
  clock: Clock
  /** How long after signing in keys, people and secrets may be managed; 0: however long. */
  freshSignInMs: number
  /** The same is restricted to users with two-factor authentication. */
  twoFactorStep?: { isRequired: boolean; isOn(accountId: string): boolean }
  /** Counts what was answered. */
  tally?: { count(route: string, status: number, plan: string, durationMs: number): void }
  /** The latest requests of each account, for developers of API clients. */
  recentRequests?: RecentRequests
  /** While true, heavy routes are refused. */
  isOverloaded(): boolean
  trusted: TrustedProxies
  /**
   * Requests that came through the socket in the data directory: a user who can open it owns the
   * data.
   */
  local: WeakSet<Request>
  links(request: Request): Links
  /**
   * Requests that another gate has admitted and counted and will settle: they are not checked
   * again. For query workers, which answer behind the gate of the main thread.
   */
  admitted?: WeakMap<Request, Admitted>
  /** Gets requests whose charge the stream of changes does not have yet; absent: none follows. */
  uncharged?: WeakSet<Request> | undefined
  /** Gets the context of each request, where it is needed later. */
  requestContexts?: WeakMap<Request, RequestContext> | undefined
  /**
   * Adds the headers that every response needs to a short text; absent: they are added when the
   * response is sent.
   */
  complete?: (headers: GivenHeaders) => void
}

export type Gate = ReturnType<typeof createGate>

export function createGate(deps: GateDeps) {
  const { clock, complete, admitted = new WeakMap() } = deps
  const vouched = new WeakMap<Request, Caller>()
  const restrictions = createRestrictions(deps)
  const fileParts = createFileParts()
  const entries = createEntries(deps, restrictions, fileParts)
  const settle = createSettlement(deps, fileParts)
  const textBody = createTextBodies()

  /** Records a successful action; refused requests have changed nothing. */
  const audit = (requestContext: RequestContext, action: AuditedAction, status: number) => {
    const outcome = requestContext.outcome ?? status
    // An action that failed with 503 is not recorded: on a full disk the entry would use the room
    // that is reserved for sign-ins.
    if (requestContext.free || (outcome >= 400 && outcome < 500) || outcome === 503) return
    deps.audit.note({ ...action, outcome: String(outcome) })
  }

  return {
    open: (access: Access, route: string): RequestContext => ({
      access,
      caller: undefined,
      actor: undefined,
      adminTokenId: undefined,
      adminRole: undefined,
      action: undefined,
      isBrowsing: false,
      reserved: undefined,
      free: false,
      vouched: false,
      filePart: undefined,
      outcome: undefined,
      startedMs: clock.monotonic(),
      method: '',
      route,
      windows: [],
      simulated: undefined,
    }),
    /** Admits the request or throws the error. The order of its checks is part of the API. */
    enter(requestContext: RequestContext, request: Request, peer: PeerLookup) {
      const { access } = requestContext
      requestContext.method = request.method
      deps.requestContexts?.set(request, requestContext)
      const elsewhere = admitted.get(request)
      if (elsewhere) {
        requestContext.vouched = true
        requestContext.caller = elsewhere.caller
        return
      }
      const caller = vouched.get(request)
      if ('meter' in access && caller)
        entries.enterVouched(requestContext, access, caller, request, peer)
      else if ('meter' in access) entries.enterKeyed(requestContext, access, request, peer)
      else if ('operator' in access) entries.enterOperator(requestContext, access, request, peer)
      else if (access.rate !== 'none') entries.enterOpen(requestContext, access, request, peer)
    },
    /**
     * Settles the quota and returns all headers of the response: those of the handler, and those
     * that depend on the quota; undefined: only those of the handler.
     */
    leave(requestContext: RequestContext, status: number, handlerHeaders: GivenHeaders) {
      if (requestContext.action) audit(requestContext, requestContext.action, status)
      if (requestContext.vouched) return undefined
      const now = clock.now()
      const quotaUsage = settle(requestContext, status, now, handlerHeaders)
      return quotaUsage
        ? keyHeaders(handlerHeaders, quotaUsage, requestContext.windows, now)
        : addressHeaders(handlerHeaders, requestContext.windows, now)
    },
    /**
     * The same for an answer that is a text: the answer itself with all of its headers; undefined:
     * it has only those given.
     */
    answer(
      requestContext: RequestContext,
      status: number,
      handlerHeaders: GivenHeaders,
      text: Text,
    ) {
      if (requestContext.action) audit(requestContext, requestContext.action, status)
      if (requestContext.vouched) return undefined
      const now = clock.now()
      const quotaUsage = settle(requestContext, status, now, handlerHeaders, text)
      const isWhole = complete !== undefined && isShortJson(text, handlerHeaders)
      if (isWhole) complete(handlerHeaders)
      const body = textBody(text)
      const answer = quotaUsage
        ? keyAnswer(body, status, handlerHeaders, quotaUsage, requestContext.windows, now)
        : new Response(body, {
            status,
            headers: addressHeaders(handlerHeaders, requestContext.windows, now),
          })
      return isWhole ? markComplete(answer) : markText(answer, text)
    },
    /**
     * Makes a request of this instance count as one of an admitted caller: only the plan's feature
     * is checked and the additional window of the route is taken; the request takes no general
     * slot, costs no quota and is not recorded.
     */
    vouch: (request: Request, caller: Caller) => void vouched.set(request, caller),
    /**
     * For responses that continue: returns a function that checks whether the admitted request
     * would be refused now, whatever its windows and its quota; undefined: it would not. Key,
     * restrictions, role, plan and account are checked again, with the address of the connection.
     */
    stay: (requestContext: RequestContext, request: Request, peer: PeerLookup) =>
      createRecheck(deps, restrictions, requestContext, request, peer),
  }
}

const keyLength = 64

/** Explains the form of a key if the one that was sent cannot be one; never repeats it. */
const wrongKey = (token: string): string =>
  /^[0-9a-f]{64}$/i.test(token)
    ? 'The API key is not valid: it is unknown, expired or revoked.'
    : `The API key is not valid: a key has ${keyLength} hexadecimal digits; got ${token.length} characters.`

const notSignedIn = 'The session is not valid: it has ended, or it never was one. Sign in again.'
/** The user of a command on this machine: only its programs can name one. */
function commandOf(request: Request): string {
  const user = request.headers.get(commandUserHeader) ?? ''
  return /^[\w.-]{1,64}$/.test(user) ? `command ${user}` : 'command'
}

const operatorOnly =
  'The admin token is required; send it as "Authorization: Bearer <ADMIN_TOKEN>".'

/** Without this text the last message that a customer reads would hide the cause. */
const quotaReason = ' The limit is this low because the request quota of the plan is used up.'

type FileParts = ReturnType<typeof createFileParts>

/** The entry checks for each kind of access. The order of the checks is part of the API. */
function createEntries(deps: GateDeps, restrictions: Restrictions, fileParts: FileParts) {
  const { refuseKey, refuseScope, refuseManaging, refuseRole, refusePlan } = restrictions
  const { keys, meter, plans, clock } = deps
  const { takeAddress, takeBrowsing, takeBurst, takeOwn } = createRateSlots(deps)

  const unauthorized = (
    requestContext: RequestContext,
    request: Request,
    peer: PeerLookup,
    why: string,
  ): never => {
    takeAddress('unauthenticated', requestContext.windows, request, peer)
    throw new Problem('UNAUTHORIZED', why, {
      signup_url: deps.links(request).signupUrl,
      demo_endpoint: '/v1/demo/prices',
    })
  }

  const placeOf = (request: Request, peer: PeerLookup) => clientAddress(request, peer, deps.trusted)

  const actionOf = (
    requestContext: RequestContext,
    { key, session }: Caller,
    request: Request,
    peer: PeerLookup,
  ): AuditedAction => ({
    actor: session ? `person ${session.accountId}` : `key ${key.key.id}`,
    accountId: session?.accountId ?? key.holder.account.id,
    place: placeOf(request, peer),
    ...whatOf(request, requestContext.route),
  })

  /**
   * The operator who sent the request; throws where there is none, or their token does not permit
   * it.
   */
  const operatorOf = (
    requestContext: RequestContext,
    { operator: area }: OperatorAccess,
    changes: boolean,
    request: Request,
    peer: PeerLookup,
  ): string => {
    if (deps.local.has(request)) return commandOf(request)
    const [scheme, text] = (request.headers.get('authorization') ?? '').split(' ')
    const token =
      scheme?.toLowerCase() === 'bearer' && text ? deps.adminTokens.find(text) : undefined
    if (!text && deps.operators?.admits(request, changes)) return 'operator'
    if (!token) return unauthorized(requestContext, request, peer, operatorOnly)
    if (!mayOperate(token.role, area, changes))
      throw new Problem(
        'ADMIN_ROLE_MISSING',
        `This admin token has the role ${token.role}, which cannot ${changes ? 'change' : 'read'} ${area}.`,
        { role: token.role, roles: rolesThatMay(area, changes) },
      )
    requestContext.adminTokenId = token.id
    requestContext.adminRole = token.role
    return token.name === null ? 'operator' : `operator ${token.name}`
  }

  /** Refuses only heavy routes, which leaves capacity to the others. */
  const loadShed = (access: KeyAccess) => {
    if (access.heavy && deps.isOverloaded()) throw overloaded()
  }

  /** The rest of the way, once it is clear whose request it is. */
  const admit = (
    requestContext: RequestContext,
    access: KeyAccess,
    key: KeyState,
    session: Session | undefined,
    request: Request,
    peer: PeerLookup,
    mayBrowse = false,
  ) => {
    // Read once: the clock costs as much to read as the quota.
    const at = clock.now()
    const { entitled, state } = meter.quotaUsage(key, at)
    requestContext.caller = { key, entitled, session }

    const isHeldBack = state === 'exhausted' || isSuspended(key)
    const { windows, startedMs } = requestContext
    // A download of whole histories is always charged as use of the data, also in the console.
    const isRead = mayBrowse && !access.weighed && !isSuspended(key)
    const browsing = isRead && session ? takeBrowsing(windows, session, startedMs) : undefined
    requestContext.isBrowsing = browsing !== undefined
    requestContext.filePart = access.weighed && fileParts.nameOf(key.key.id, request)
    const isCovered = fileParts.covers(requestContext.filePart, startedMs)
    const burst =
      browsing ??
      takeBurst(windows, key, entitled.requestsPerMinute, isHeldBack, startedMs, isCovered)
    refuseKey(access, key, request, peer)
    refuseScope(key, requestContext.route)
    refuseManaging(access, key, session, request)
    refuseRole(access, key, request)
    refusePlan(access, entitled, request)
    if (!burst.admitted) throw tooFast(burst, state === 'exhausted' ? quotaReason : '')
    loadShed(access)
    takeOwn(access, windows, key)
    if (isAudited(access, request.method))
      requestContext.action = actionOf(requestContext, requestContext.caller, request, peer)
    if (!access.meter || requestContext.isBrowsing) return
    requestContext.reserved = meter.reserve(key, at)
    if (!requestContext.reserved)
      throw quotaUsedUp(meter, plans, deps.links(request), key, at, access.feature === 'futures')
    // The cost of a weighed response is known at its end.
    if (deps.uncharged && (access.weighed || !meter.isCharged(key))) deps.uncharged.add(request)
  }

  /**
   * Admits an operator who impersonates the account, without changing, revealing, notifying or
   * counting anything.
   */
  const look = (
    requestContext: RequestContext,
    access: KeyAccess,
    key: KeyState,
    request: Request,
  ) => {
    if (changesData(access, request.method) || isAudited(access, request.method))
      throw new Problem(
        'KEY_READ_ONLY',
        'This impersonation is read-only: it cannot change data or read secrets.',
      )
    refusePlan(access, keys.entitlements(key.account), request)
    loadShed(access)
    requestContext.vouched = true
    requestContext.caller = { key, entitled: keys.entitlements(key.account), session: undefined }
  }

  return {
    enterOpen(
      requestContext: RequestContext,
      access: OpenAccess,
      request: Request,
      peer: PeerLookup,
    ) {
      const name = access.rate === 'demo' ? 'demo' : 'unauthenticated'
      takeAddress(name, requestContext.windows, request, peer)
    },
    enterOperator(
      requestContext: RequestContext,
      access: OperatorAccess,
      request: Request,
      peer: PeerLookup,
    ) {
      const changes = changesByOperator(access, request.method)
      requestContext.actor = operatorOf(requestContext, access, changes, request, peer)
      if (!changes || access.unaudited) return
      const place = deps.local.has(request) ? 'this machine' : placeOf(request, peer)
      requestContext.action = {
        actor: requestContext.actor,
        place,
        ...whatOf(request, requestContext.route),
      }
    },
    enterVouched(
      requestContext: RequestContext,
      access: KeyAccess,
      caller: Caller,
      request: Request,
      peer: PeerLookup,
    ) {
      requestContext.vouched = true
      requestContext.caller = caller
      refuseScope(caller.key, requestContext.route)
      refusePlan(access, caller.entitled, request)
      loadShed(access)
      takeOwn(access, requestContext.windows, caller.key)
      if (isAudited(access, request.method))
        requestContext.action = actionOf(requestContext, caller, request, peer)
    },
    enterKeyed(
      requestContext: RequestContext,
      access: KeyAccess,
      request: Request,
      peer: PeerLookup,
    ) {
      const credentials =
        (access.linkKey && linkKeyOf(request)) ||
        credentialsOf(request, access.header === true, access.parameter)
      const { token } = credentials
      if (token === undefined) return unauthorized(requestContext, request, peer, credentials.fault)
      const key = keys.find(token)
      if (key && credentials.isLink && !key.key.readOnly)
        return unauthorized(requestContext, request, peer, 'A key in a path must be read-only.')
      if (key) return admit(requestContext, access, key, undefined, request, peer)
      const signedIn = credentials.maySession
        ? (deps.sessions.find(token) ?? deps.company?.personOf(request))
        : undefined
      if (signedIn) {
        const { isBrowsing } = credentials
        return admit(
          requestContext,
          access,
          signedIn.key,
          signedIn.session,
          request,
          peer,
          isBrowsing,
        )
      }
      const looked = credentials.maySession ? deps.impersonations?.find(token) : undefined
      if (looked) return look(requestContext, access, looked.key, request)
      const why = isSessionToken(token) ? notSignedIn : wrongKey(token)
      return unauthorized(requestContext, request, peer, why)
    },
  }
}

/** Counts a request and returns the usage of its key; undefined where it came without one. */
const createSettlement =
  ({ meter, clock, tally, recentRequests }: GateDeps, fileParts: FileParts) =>
  (
    requestContext: RequestContext,
    status: number,
    now: number,
    headers: GivenHeaders,
    text?: Text,
  ): QuotaUsage | undefined => {
    const { caller, route } = requestContext
    const outcome = requestContext.outcome ?? status
    const durationMs = clock.monotonic() - requestContext.startedMs
    tally?.count(route, outcome, caller?.entitled.planId ?? '', durationMs)
    if (!caller) return undefined
    if (requestContext.filePart && outcome === 206)
      fileParts.note(requestContext.filePart, String(headers.etag), requestContext.startedMs)
    const counts =
      requestContext.reserved !== undefined &&
      outcome >= 200 &&
      outcome < 300 &&
      !requestContext.free
    if (requestContext.reserved && !counts) meter.refund(caller.key, requestContext.reserved)
    // A response that has started is sent: a cost beyond the remaining quota is waived.
    if (counts && 'weighed' in requestContext.access && requestContext.access.weighed)
      for (let taken = 1; taken < Number(headers['x-quota-requests'] ?? 1); taken += 1)
        if (!meter.reserve(caller.key, now)) break
    const endpoint = requestContext.isBrowsing ? consoleEndpoint(route) : route
    const quotaUsage = meter.record(caller.key, endpoint, outcome, counts, durationMs, now)
    if (!requestContext.isBrowsing)
      recentRequests?.note(caller.key.account.account.id, {
        at: now,
        keyId: caller.key.key.id,
        method: requestContext.method,
        route,
        status: outcome,
        durationMs,
        requestId: String(headers['x-request-id'] ?? '') || null,
        refusal: outcome >= 400 && typeof text === 'string' ? refusalText(text) : null,
      })
    return requestContext.simulated
      ? { ...requestContext.simulated, entitled: quotaUsage.entitled }
      : quotaUsage
  }

/** Checks a caller again at each call, for responses that continue. */
function createRecheck(
  { keys, sessions }: GateDeps,
  { refuseKey, refuseScope, refuseRole, refusePlan }: Restrictions,
  requestContext: RequestContext,
  request: Request,
  peer: PeerLookup,
): () => Problem | undefined {
  const access = requestContext.access as KeyAccess
  const { key: first, session } = requestContext.caller!
  const address = peer?.requestIP(request) ?? null
  const then: PeerLookup = { requestIP: () => address }
  // The connection's own request is gone when it has become a socket.
  const copy = new Request(request.url, { headers: new Headers(request.headers) })
  const token = credentialsOf(copy, access.header === true, access.parameter).token ?? ''
  const accountId = first.account.account.id
  const sessionKey = (signIn: Session): KeyState | undefined => {
    const account = sessions.lasts(signIn) ? keys.account(signIn.accountId) : undefined
    return account && keys.sessionKey(account)
  }
  return () => {
    const key = session ? sessionKey(session) : keys.find(token)
    if (key?.account.account.id !== accountId)
      return new Problem('UNAUTHORIZED', 'The API key or session is not valid any more.')
    try {
      refuseKey(access, key, copy, then)
      refuseScope(key, requestContext.route)
      refuseRole(access, key, copy)
      refusePlan(access, keys.entitlements(key.account), copy)
      return undefined
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
  }
}
