import type { Clock } from '../../lib/clock.ts'
import { addressGroup } from '../../plan/address.ts'
import { type Entitlements, hasFeature, type Plans } from '../../plan/plans.ts'
import type { QuotaWindow } from '../../plan/quota.ts'
import { actionOf } from '../../plan/roles.ts'
import type { Feature } from '../../plan/tiers.ts'
import type { Keyring, KeyState } from '../../service/keys/keyring.ts'
import type { Meter, Standing } from '../../service/keys/meter.ts'
import type { AdminTokens } from '../../service/operator/admin-tokens.ts'
import type { Session } from '../../store/account/sessions.ts'
import {
  addressHeaders,
  type GivenHeaders,
  keyAnswer,
  keyHeaders,
  reading,
  type WindowReading,
} from '../answer/rate-headers.ts'
import { Problem } from '../problem/problem.ts'
import {
  featureMissing,
  type Links,
  overloaded,
  quotaUsedUp,
  tooFast,
} from '../problem/refusals.ts'
import type { Access, KeyAccess } from './access-kind.ts'
import { clientAddress, type PeerLookup, type TrustedProxies } from './address.ts'
import { credentialsOf, isSessionToken } from './credentials.ts'
import { fromAllowedDomain } from './origin.ts'
import { requireAction } from './permission.ts'
import type { RateTables } from './rates.ts'

export interface Caller {
  key: KeyState
  entitled: Entitlements
  /** The sign-in that the request came with in place of a key. */
  session: Session | undefined
}

/**
 * One request on its way through the instance: made at the gate, settled when the status of its answer
 * is known.
 */
export interface Pass {
  access: Access
  caller: Caller | undefined
  /** The window of which a request is taken; it is given back if the answer does not count. */
  reserved: QuotaWindow | undefined
  /** Set by a handler whose 2xx does not count: an answer given before. */
  free: boolean
  /**
   * Of a request that this instance makes for a caller who is in already: it was paid for when they
   * came in.
   */
  vouched: boolean
  /** The status that counts, where the one that is sent hides a refusal. */
  outcome: number | undefined
  startedMs: number
  route: string
  windows: WindowReading[]
}

/** What a token is good for that is no API key. */
export interface SessionReader {
  find(token: string): { key: KeyState; session: Session } | undefined
  /** Whether a session's token is good still, without its being shown. */
  lasts(session: Session): boolean
}

export interface GateDeps {
  keys: Keyring
  meter: Meter
  plans: Plans
  rates: RateTables
  adminTokens: AdminTokens
  sessions: SessionReader
  clock: Clock
  /** Heavy routes are refused while it is so. */
  isOverloaded(): boolean
  trusted: TrustedProxies
  /**
   * Requests that came through the socket in the data directory: whoever can open it owns the data.
   */
  local: WeakSet<Request>
  links(request: Request): Links
  /**
   * Requests that another gate has let in, counted and will settle: nothing of them is asked again.
   * For readers, which answer behind the gate of the main thread.
   */
  admitted?: WeakMap<Request, { caller: Caller | undefined }>
}

export interface Gate {
  open(access: Access, route: string): Pass
  /**
   * Lets the request in or throws the refusal. The order of its checks is part of the interface.
   */
  enter(pass: Pass, request: Request, peer: PeerLookup): void
  /**
   * Settles the quota and answers all headers of the answer: what the handler gave and what depends
   * on the quota; undefined: only what it gave.
   */
  leave(pass: Pass, status: number, handlerHeaders: GivenHeaders): Headers | undefined
  /**
   * The same for an answer that is a text: the answer itself with all of its headers; undefined: it
   * has only those given.
   */
  answer(
    pass: Pass,
    status: number,
    handlerHeaders: GivenHeaders,
    text: string,
  ): Response | undefined
  /**
   * Makes a request of this instance come from a caller who has been let in: only the plan's feature
   * is asked for and a window that the route has of its own is taken; the request takes no general
   * slot, costs no quota and is not recorded.
   */
  vouch(request: Request, caller: Caller): void
  /**
   * For answers that go on: what asks, of a request that has been let in, why it would be refused
   * now, whatever its windows and its quota say; undefined: it would not. Key, restrictions, role,
   * plan and account are looked at anew, from the address of then.
   */
  stay(pass: Pass, request: Request, peer: PeerLookup): () => Problem | undefined
}

export function createGate(deps: GateDeps): Gate {
  const { keys, meter, plans, rates, clock } = deps
  const vouched = new WeakMap<Request, Caller>()
  const { admitted = new WeakMap() } = deps

  const takeAddress = (
    name: 'unauthenticated' | 'demo',
    pass: Pass,
    request: Request,
    peer: PeerLookup,
  ) => {
    const group = addressGroup(clientAddress(request, peer, deps.trusted))
    const window = reading(
      name === 'demo' ? 'demo' : 'address',
      rates.take(name, group, clock.monotonic()),
    )
    pass.windows.push(window)
    if (!window.admitted) throw tooFast(window)
  }

  const unauthorized = (pass: Pass, request: Request, peer: PeerLookup, why: string): never => {
    takeAddress('unauthenticated', pass, request, peer)
    throw new Problem('UNAUTHORIZED', why, {
      signup_url: deps.links(request).signupUrl,
      demo_endpoint: '/v1/demo/prices',
    })
  }

  const enterOperator = (pass: Pass, request: Request, peer: PeerLookup) => {
    if (deps.local.has(request)) return
    const [scheme, token] = (request.headers.get('authorization') ?? '').split(' ')
    if (scheme?.toLowerCase() === 'bearer' && token && deps.adminTokens.accepts(token)) return
    unauthorized(
      pass,
      request,
      peer,
      'The admin token is required; send it as "Authorization: Bearer <ADMIN_TOKEN>".',
    )
  }

  /** State and restrictions of the key: 403. */
  const refuse = ({ key }: Caller, request: Request, peer: PeerLookup) => {
    if (isSuspended(key))
      throw new Problem('KEY_SUSPENDED', 'This API key has been suspended by the operator.')
    if (key.networks.length > 0) {
      const address = clientAddress(request, peer, deps.trusted)
      if (!keys.allows(key, address))
        throw new Problem('IP_NOT_ALLOWED', 'This API key may not be used from this address.')
    }
    if (key.key.allowedDomains.length > 0 && !fromAllowedDomain(key.key.allowedDomains, request)) {
      throw new Problem('DOMAIN_NOT_ALLOWED', 'This API key may not be used from this domain.')
    }
    if (key.key.readOnly && request.method !== 'GET' && request.method !== 'HEAD') {
      throw new Problem('KEY_READ_ONLY', 'This API key is read-only.')
    }
  }

  /** The role in an organization: 403. Whoever is in none is admin of their own account. */
  const refuseRole = (access: KeyAccess, { key }: Caller, request: Request) => {
    if (key.holder.role !== 'admin') requireAction(key, access.action ?? actionOf(request.method))
  }

  /** The plan: 403. */
  const refusePlan = (access: KeyAccess, { entitled }: Caller, request: Request) => {
    if (access.feature === undefined) return
    const anyOf: readonly Feature[] =
      typeof access.feature === 'string' ? [access.feature] : access.feature
    if (!anyOf.some(feature => hasFeature(entitled, feature))) {
      throw featureMissing(plans, deps.links(request), entitled, anyOf[0]!, access.flat && 'flat')
    }
  }

  /** The window that a route has of its own, in addition to the general one. */
  const takeOwn = (pass: Pass, access: KeyAccess, { key }: Caller) => {
    if (!access.rate) return
    const now = clock.monotonic()
    const marine =
      access.rate === 'marine'
        ? reading('marine', rates.take('marine', key.key.id, now))
        : undefined
    const window =
      marine ?? reading('marine_historical', rates.take('marineHistorical', key.key.id, now))
    pass.windows.push(window)
    if (!window.admitted) throw tooFast(window)
  }

  /** Only the heavy ones: what they would take is left to the others. */
  const shed = (access: KeyAccess) => {
    if (access.heavy && deps.isOverloaded()) throw overloaded()
  }

  const enterVouched = (pass: Pass, access: KeyAccess, caller: Caller, request: Request) => {
    pass.vouched = true
    pass.caller = caller
    refusePlan(access, caller, request)
    shed(access)
    takeOwn(pass, access, caller)
  }

  const enterKeyed = (pass: Pass, access: KeyAccess, request: Request, peer: PeerLookup) => {
    const credentials = credentialsOf(request, access.header === true, access.parameter)
    if (credentials.token === undefined) return unauthorized(pass, request, peer, credentials.fault)
    let key = keys.find(credentials.token)
    let session: Session | undefined
    if (!key && credentials.maySession) {
      const signedIn = deps.sessions.find(credentials.token)
      key = signedIn?.key
      session = signedIn?.session
    }
    if (!key)
      return unauthorized(
        pass,
        request,
        peer,
        isSessionToken(credentials.token) ? notSignedIn : 'The API key is not valid.',
      )
    // Read once: a look at the clock costs as much as a look at the quota.
    const at = clock.now()
    const standing = meter.standing(key, at)
    const caller = { key, entitled: standing.entitled, session }
    pass.caller = caller

    const now = pass.startedMs
    // Past the quota, and for a suspended key, a smaller window of its own applies in place of the
    // general one.
    const isHeldBack = standing.state === 'exhausted' || isSuspended(key)
    const burst = reading(
      'burst',
      isHeldBack
        ? rates.take('overQuota', key.key.id, now)
        : rates.take('authenticated', key.key.id, now, caller.entitled.requestsPerMinute),
    )
    pass.windows.push(burst)
    refuse(caller, request, peer)
    refuseRole(access, caller, request)
    refusePlan(access, caller, request)
    if (!burst.admitted) throw tooFast(burst)
    shed(access)
    takeOwn(pass, access, caller)
    if (!access.meter) return
    pass.reserved = meter.reserve(key, at)
    if (!pass.reserved)
      throw quotaUsedUp(meter, plans, deps.links(request), key, at, access.feature === 'futures')
  }

  const keyOf = (session: Session): KeyState | undefined => {
    const account = deps.sessions.lasts(session) ? keys.account(session.accountId) : undefined
    return account && keys.sessionKey(account)
  }

  /** Counts the request and says where its key stands now; undefined where it came without one. */
  const settle = (pass: Pass, status: number, now: number): Standing | undefined => {
    const { caller } = pass
    if (!caller) return undefined
    const outcome = pass.outcome ?? status
    const counts = pass.reserved !== undefined && outcome >= 200 && outcome < 300 && !pass.free
    if (pass.reserved && !counts) meter.refund(caller.key, pass.reserved)
    return meter.record(
      caller.key,
      pass.route,
      outcome,
      counts,
      clock.monotonic() - pass.startedMs,
      now,
    )
  }

  return {
    open: (access, route) => ({
      access,
      caller: undefined,
      reserved: undefined,
      free: false,
      vouched: false,
      outcome: undefined,
      startedMs: clock.monotonic(),
      route,
      windows: [],
    }),
    enter(pass, request, peer) {
      const { access } = pass
      const elsewhere = admitted.get(request)
      if (elsewhere) {
        pass.vouched = true
        pass.caller = elsewhere.caller
        return
      }
      const caller = vouched.get(request)
      if ('meter' in access && caller) enterVouched(pass, access, caller, request)
      else if ('meter' in access) enterKeyed(pass, access, request, peer)
      else if ('operator' in access) enterOperator(pass, request, peer)
      else if (access.rate !== 'none')
        takeAddress(access.rate === 'demo' ? 'demo' : 'unauthenticated', pass, request, peer)
    },
    leave(pass, status, handlerHeaders) {
      if (pass.vouched) return undefined
      const now = clock.now()
      const standing = settle(pass, status, now)
      return standing
        ? keyHeaders(handlerHeaders, standing, pass.windows, now)
        : addressHeaders(handlerHeaders, pass.windows, now)
    },
    answer(pass, status, handlerHeaders, text) {
      if (pass.vouched) return undefined
      const now = clock.now()
      const standing = settle(pass, status, now)
      if (standing) return keyAnswer(text, status, handlerHeaders, standing, pass.windows, now)
      return new Response(text, {
        status,
        headers: addressHeaders(handlerHeaders, pass.windows, now),
      })
    },
    vouch: (request, caller) => void vouched.set(request, caller),
    stay(pass, request, peer) {
      const access = pass.access as KeyAccess
      const { key: first, session } = pass.caller!
      const address = peer?.requestIP(request) ?? null
      const then: PeerLookup = { requestIP: () => address }
      // The connection's own request is gone when it has become a socket.
      const copy = new Request(request.url, { headers: new Headers(request.headers) })
      const token = credentialsOf(copy, access.header === true, access.parameter).token ?? ''
      const accountId = first.account.account.id
      return () => {
        const key = session ? keyOf(session) : keys.find(token)
        if (key?.account.account.id !== accountId)
          return new Problem('UNAUTHORIZED', 'The API key or session is not valid any more.')
        const caller = { key, entitled: keys.entitlements(key.account), session }
        try {
          refuse(caller, copy, then)
          refuseRole(access, caller, copy)
          refusePlan(access, caller, copy)
          return undefined
        } catch (error) {
          if (error instanceof Problem) return error
          throw error
        }
      }
    },
  }
}

const notSignedIn = 'The session is not valid: it has ended, or it never was one. Sign in again.'

const isSuspended = ({ key, account, holder }: KeyState): boolean =>
  key.suspendedAt !== null ||
  account.account.suspendedAt !== null ||
  holder.account.suspendedAt !== null
