import { isAtOnce } from '../../lib/process/loop-turns.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Audit } from '../../topics/operator/service/audit.ts'
import { isPlainJson, markComplete } from '../answer/complete.ts'
import { markText, type Text } from '../answer/own-text.ts'
import { addressHeaders, type GivenHeaders, keyAnswer, keyHeaders } from '../answer/rate-headers.ts'
import { createTextBodies } from '../answer/text-body.ts'
import type { Access } from './access-kind.ts'
import type { PeerLookup } from './address.ts'
import { createFileParts } from './file-parts.ts'
import { createKeyEntry, type KeyEntryDeps } from './key-entry.ts'
import { createOperatorEntry, type OperatorEntryDeps } from './operator-entry.ts'
import { createRateSlots } from './rate-slots.ts'
import type { RateTables } from './rates.ts'
import { createRecheck } from './recheck.ts'
import {
  type Admitted,
  type Caller,
  newRequestContext,
  type RequestContext,
} from './request-context.ts'
import { createRestrictions, type RestrictionDeps } from './restrictions.ts'
import { createSettlement, type SettlementDeps } from './settlement.ts'
import { createUnauthorized } from './unauthorized.ts'

export interface GateDeps
  extends KeyEntryDeps,
    OperatorEntryDeps,
    SettlementDeps,
    Pick<RestrictionDeps, 'freshSignInMs' | 'twoFactorStep'> {
  clock: Clock
  rates: RateTables
  audit: Pick<Audit, 'note'>
  /**
   * Requests that another gate has admitted and counted and will settle: they are not checked
   * again. For query workers, which answer behind the gate of the main thread.
   */
  admitted?: WeakMap<Request, Admitted>
  /** Gets the context of each request, where it is needed later. */
  requestContexts?: WeakMap<Request, RequestContext> | undefined
  /**
   * Adds the headers that every response needs to a text that is not encoded; absent: they are
   * added when the response is sent.
   */
  complete?: (headers: GivenHeaders) => void
}

export type Gate = ReturnType<typeof createGate>

export function createGate(deps: GateDeps) {
  const { clock, complete, admitted = new WeakMap() } = deps
  const vouched = new WeakMap<Request, Caller>()
  const restrictions = createRestrictions(deps)
  const slots = createRateSlots(deps)
  const fileParts = createFileParts()
  const unauthorized = createUnauthorized(slots, deps.links)
  const enterOperator = createOperatorEntry(deps, unauthorized)
  const keyEntry = createKeyEntry(deps, restrictions, slots, fileParts, unauthorized)
  const settle = createSettlement(deps, fileParts)
  const textBody = createTextBodies()

  /** Records a successful action; refused requests have changed nothing. */
  const audit = ({ action, outcome, free }: RequestContext, status: number) => {
    if (!action) return
    const finalStatus = outcome ?? status
    // An action that failed with 503 is not recorded: on a full disk the entry would use the room
    // that is reserved for sign-ins.
    if (free || (finalStatus >= 400 && finalStatus < 500) || finalStatus === 503) return
    deps.audit.note({ ...action, outcome: String(finalStatus) })
  }

  return {
    open: (access: Access, request: Request, peer: PeerLookup, route: string): RequestContext =>
      newRequestContext(access, request, peer, route, clock.monotonic()),
    /** Admits the request or throws the error. The order of its checks is part of the API. */
    enter(context: RequestContext) {
      const { access, request } = context
      deps.requestContexts?.set(request, context)
      const elsewhere = admitted.get(request)
      if (elsewhere) {
        context.vouched = true
        context.caller = elsewhere.caller
        return
      }
      if ('meter' in access) {
        const caller = vouched.get(request)
        if (caller) keyEntry.enterVouched(context, access, caller)
        else keyEntry.enter(context, access)
      } else if ('operator' in access) enterOperator(context, access)
      else if (access.rate !== 'none')
        slots.takeAddress(context, access.rate === 'demo' ? 'demo' : 'unauthenticated')
    },
    /**
     * Settles the quota and returns all headers of the response: those of the handler, and those
     * that depend on the quota; undefined: only those of the handler.
     */
    leave(context: RequestContext, status: number, headers: GivenHeaders) {
      audit(context, status)
      if (context.vouched) return undefined
      const now = clock.now()
      const quotaUsage = settle(context, { status, headers }, now)
      return quotaUsage
        ? keyHeaders(headers, quotaUsage, context.windows, now)
        : addressHeaders(headers, context.windows, now)
    },
    /**
     * The same for an answer that is a text: the answer itself with all of its headers; undefined:
     * it has only those given.
     */
    answer(context: RequestContext, status: number, headers: GivenHeaders, text: Text) {
      audit(context, status)
      if (context.vouched) return undefined
      const now = clock.now()
      const quotaUsage = settle(context, { status, headers, text }, now)
      const isWhole = complete !== undefined && isPlainJson(text, headers, context.request)
      if (isWhole) complete(headers)
      const body = textBody(text, isAtOnce(context.request))
      const answer = quotaUsage
        ? keyAnswer(body, status, headers, quotaUsage, context.windows, now)
        : new Response(body, { status, headers: addressHeaders(headers, context.windows, now) })
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
    stay: (context: RequestContext) => createRecheck(deps, restrictions, context),
  }
}
