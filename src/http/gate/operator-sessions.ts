import ipaddr from 'ipaddr.js'
import { isLoopbackName } from '../../lib/text/loopback.ts'
import { minuteMs } from '../../lib/time/instant.ts'
import type { Company } from '../../topics/account/service/company.ts'
import type { Session } from '../../topics/account/store/sessions.ts'
import { Problem } from '../problem/problem.ts'
import type { SessionReader } from './key-entry.ts'
import { isMadeByOwnPage } from './origin.ts'
import { sessionCookieOf } from './session-cookie.ts'

/** How long after signing in the operator may make changes without the admin token. */
const freshMs = 15 * minuteMs

export interface OperatorSessionsDeps {
  sessions: SessionReader
  /** The operator's own account, where this instance has noted which one it is. */
  operatorAccount(): string | undefined
  /** People whom the company's identity provider calls operators. */
  company: Pick<Company, 'isOperator'> | undefined
  /** The account of a browser that opens a demo instance on this machine. */
  visitorAccount: string | undefined
  addressOf(request: Request): string
}

export type OperatorSessions = ReturnType<typeof createOperatorSessions>

/** Sign-ins that replace the admin token: of the operator's account, in pages of this host. */
export function createOperatorSessions(deps: OperatorSessionsDeps) {
  const { sessions, operatorAccount, visitorAccount, addressOf, company } = deps
  const isVisitor = (request: Request) =>
    visitorAccount !== undefined && isOnThisMachine(request, addressOf(request))
  const holderOf = (request: Request) => {
    const token = sessionCookieOf(request)
    return token === undefined ? undefined : sessions.find(token)
  }
  const isCompanyOperator = (session: Session | undefined, accountId: string): boolean =>
    session?.accountId === accountId && company?.isOperator(session) === true
  return {
    /** The account of the visitor, for a browser that opens a page of a demo instance here. */
    visitorOf(request: Request): string | undefined {
      const site = request.headers.get('sec-fetch-site')
      const isOpened = request.headers.get('sec-fetch-mode') === 'navigate'
      // A page of another site cannot sign a person in here, and a program gets no session.
      const isOwn = site === 'none' || site === 'same-origin'
      return isOpened && isOwn && isVisitor(request) ? visitorAccount : undefined
    },
    /** Whether pages of the operator are open to an account. */
    isOperator: (accountId: string, request: Request): boolean =>
      accountId === operatorAccount() ||
      (accountId === visitorAccount && isVisitor(request)) ||
      isCompanyOperator(holderOf(request)?.session, accountId),
    /** Whether a request is the operator's by its session; throws where it is too old to change. */
    admits(request: Request, changes: boolean): boolean {
      if (!isMadeByOwnPage(request)) return false
      const person = holderOf(request)
      if (!person) return false
      const { accountId, begunAt } = person.session
      if (accountId === visitorAccount) return isVisitor(request)
      if (accountId !== operatorAccount() && !isCompanyOperator(person.session, accountId))
        return false
      if (!changes || sessions.now() - begunAt < freshMs) return true
      throw new Problem(
        'FRESH_SIGN_IN_REQUIRED',
        `Changes require a sign-in within the last ${freshMs / minuteMs} minutes, or the admin token.`,
        { fresh_for_seconds: freshMs / 1000 },
      )
    },
  }
}

/** Whether a connection comes from this machine under a loopback name, and through no proxy. */
function isOnThisMachine(request: Request, address: string): boolean {
  const isForwarded = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'].some(name =>
    request.headers.has(name),
  )
  return (
    !isForwarded &&
    isLoopbackName(new URL(request.url).hostname) &&
    ipaddr.isValid(address) &&
    ipaddr.process(address).range() === 'loopback'
  )
}
