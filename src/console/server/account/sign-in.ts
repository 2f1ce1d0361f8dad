import { t } from '../../../http/answer/schema.ts'
import { isOwnPage } from '../../../http/gate/origin.ts'
import { cookieOf, endedCookie, sessionCookieOf } from '../../../http/gate/session-cookie.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { refusalOf } from '../../../topics/account/operations/session-row.ts'
import {
  invitationState,
  type OrganizationRefusal,
} from '../../../topics/account/service/memberships.ts'
import { TooManyWaiting } from '../../../topics/account/service/password-hashes.ts'
import type { CodeRefusal } from '../../../topics/account/service/second-factor.ts'
import type { SignedIn } from '../../../topics/account/service/sessions.ts'
import type { SignInRefusal } from '../../../topics/account/service/sign-in.ts'
import { signInLinkText } from '../../../topics/account/service/sign-in-messages.ts'
import type { Session } from '../../../topics/account/store/sessions.ts'
import { isActive } from '../../../topics/keys/service/key-changes.ts'
import { heldKeys, type KeyState } from '../../../topics/keys/service/keyring.ts'
import { ownPath } from '../own-path.ts'
import { formBody, pageAnswer, seeOther } from '../page.ts'
import { renewedCookie } from '../renewed-cookie.ts'
import {
  codeForm,
  invitationPage,
  linkForm,
  message,
  type Notice,
  recoveryCodesPage,
  signedInPage,
  signInForms,
} from './sign-in-pages.ts'

interface Person {
  key: KeyState
  session: Session
}

export const showing = { open: 'Signing in needs no credentials.', rate: 'none' } as const
export const taking = { open: 'The form has the proof, or the cookie is it.' } as const

/** An operation that takes a form. */
export const posted = (operationId: string, summary: string) => ({
  operationId,
  summary,
  hidden: true as const,
  access: taking,
  ...formBody,
})

const expired: Notice = {
  text: 'This link has been used or has expired. Request a new one.',
  wrong: true,
}

const tooLate: Notice = {
  text: 'That took too long. Start again with your password or a link.',
  wrong: true,
}

/**
 * The pages for signing in with a browser. Their session is the API's session token in a cookie.
 */
export const signInOperations = (deps: Context) => {
  const shared = frame(deps)
  return [
    ...comeIn(deps, shared),
    ...account(deps, shared),
    ...twoFactorStep(deps, shared),
    ...invited(deps, shared),
  ]
}

/** The page after a sign-in without another target. */
export const firstPage = '/market'

type Frame = ReturnType<typeof frame>
type TakeForm = (fields: URLSearchParams, request: Request) => Response | Promise<Response>

/** The helpers of all pages: the signed-in user, and the frame of a response. */
export function frame({
  sessions,
  ownUrl,
  serviceName,
}: Pick<Context, 'sessions' | 'ownUrl' | 'serviceName'>) {
  const isSecure = () => ownUrl().startsWith('https:')
  const personOf = (request: Request): Person | undefined => {
    const token = sessionCookieOf(request)
    return token === undefined ? undefined : sessions.find(token)
  }
  return {
    isSecure,
    personOf,
    page: (title: string, body: string, options?: { status?: number; cookie?: string }) =>
      pageAnswer({ serviceName, title, body }, options),
    cookieOf: (signedIn: SignedIn) => cookieOf(signedIn, sessions.now(), isSecure()),
    /**
     * An operation for a form of our pages. A form of another site gets nothing done here, whatever
     * cookies come with it.
     */
    form: (path: string, operationId: string, summary: string, work: TakeForm) =>
      operation(`POST ${path}`, {
        ...posted(operationId, summary),
        handle: async ({ body, request }) => {
          if (isOwnPage(request)) return work(fieldsOf(body), request)
          const text = 'This form was not submitted from this site.'
          const refused = message({ text, wrong: true }, { href: '/sign-in', text: 'Sign in' })
          return pageAnswer({ serviceName, title: 'Refused', body: refused }, { status: 403 })
        },
      }),
  }
}

export const fieldsOf = (body: unknown): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams()

/** A message about what was wrong, with the status of its page. */
const wrongly = (text: string, status: number): { notice: Notice; status: number } => ({
  notice: { text, wrong: true },
  status,
})

/** The outcome of a proof; otherwise the message for the user. */
async function outcomeOf<T extends object>(
  attempt: Promise<T | SignInRefusal | CodeRefusal>,
): Promise<{ done: T } | ReturnType<typeof wrongly>> {
  try {
    const result = await attempt
    if (!('refused' in result)) return { done: result }
    if (result.refused === 'invalid') return wrongly('Wrong e-mail address or password.', 401)
    if (result.refused === 'code') return wrongly('The code is wrong or already used.', 401)
    if (result.refused === 'provider') return noticeOfRefusal(result)
    const minutes = Math.max(1, Math.ceil(result.waitMs / 60_000))
    const otherwise = result.refused === 'locked' ? ', or sign in with a link' : ''
    return wrongly(`Too many failed attempts. Try again in ${minutes} min${otherwise}.`, 429)
  } catch (error) {
    if (!(error instanceof TooManyWaiting)) throw error
    return wrongly('Too many sign-ins at the moment. Try again.', 503)
  }
}

function noticeOfRefusal(refusal: SignInRefusal) {
  const { message, status } = refusalOf(refusal)
  return wrongly(message, status)
}

function comeIn(deps: Context, { page, personOf, cookieOf, isSecure, form }: Frame) {
  const { signIn, mail, addressOf, ownUrl, company, sessions } = deps
  const forms = (notice?: Notice, next?: string) => signInForms(notice, next, company)
  return [
    operation('GET /sign-in', {
      operationId: 'showSignIn',
      summary: 'Sign in',
      hidden: true,
      access: showing,
      query: { token: t.Optional(t.String()), next: t.Optional(t.String()) },
      handle: async ({ query, request }) => {
        if (query.token !== undefined) {
          const linked = signIn.linked(query.token)
          return linked
            ? page('Sign in', linkForm(query.token, linked.account.email, ownPath(query.next)))
            : page('Sign in', forms(expired), { status: 410 })
        }
        const person = personOf(request)
        if (!person) return page('Sign in', forms(undefined, ownPath(query.next)))
        const cookie = await renewedCookie(sessions, person.session, isSecure())
        return page(
          'Your account',
          accountBody(deps, person),
          cookie === undefined ? {} : { cookie },
        )
      },
    }),
    form('/sign-in', 'takeSignIn', 'Sign in', async (fields, request) => {
      const [token, step] = [fields.get('token'), fields.get('second_step')]
      const next = ownPath(fields.get('next') ?? undefined)
      if (step !== null) {
        const attempt = signIn.withCode(step, fields.get('code') ?? '', addressOf(request))
        const outcome = await outcomeOf(attempt)
        if ('done' in outcome) return seeOther(next ?? firstPage, cookieOf(outcome.done))
        return signIn.isTwoFactorPending(step)
          ? page('Sign in', codeForm(step, outcome.notice, next), { status: outcome.status })
          : page('Sign in', forms(tooLate, next), { status: 410 })
      }
      const attempt =
        token === null
          ? signIn.withPassword(
              fields.get('email') ?? '',
              fields.get('password') ?? '',
              addressOf(request),
            )
          : signIn.withLink(token, addressOf(request))
      const outcome = await outcomeOf(attempt)
      if ('done' in outcome)
        return 'twoFactorStep' in outcome.done
          ? page('Sign in', codeForm(outcome.done.twoFactorStep, undefined, next))
          : seeOther(next ?? firstPage, cookieOf(outcome.done))
      return page('Sign in', forms(token === null ? outcome.notice : expired, next), {
        status: outcome.status,
      })
    }),
    form('/sign-in/link', 'askForLink', 'Mail a link', fields => {
      const next = ownPath(fields.get('next') ?? undefined)
      const refusal = signIn.mailLink(fields.get('email') ?? '', ownUrl(), next)
      if (refusal) {
        const { notice, status } = noticeOfRefusal(refusal)
        return page('Sign in', forms(notice, next), { status })
      }
      return page('Sign in', message({ text: signInLinkText(mail.reaches) }))
    }),
  ]
}

function accountBody(
  { keys, organizations, signIn, secondFactor, now }: Context,
  { key, session }: Person,
  notice?: Notice,
): string {
  const { holder, account } = key
  const belonging = organizations.of(holder)
  return signedInPage(
    {
      email: holder.account.email,
      planName: keys.entitlements(account).planName,
      organization: belonging && { name: belonging.organization.name, role: belonging.me.role },
      keys: heldKeys(holder).map(key => ({
        name: key.key.name,
        hint: key.key.tokenHint,
        active: isActive(key, now()),
      })),
      needsPassword: signIn.needsPassword(holder, session),
      secondFactor: {
        ...secondFactor.statusOf(session.accountId),
        waiting: secondFactor.waiting(session.accountId, holder.account.email),
      },
    },
    notice,
  )
}

function account(deps: Context, { page, personOf, isSecure, form }: Frame) {
  const { sessions, signIn, addressOf } = deps
  return [
    form('/sign-in/password', 'takePassword', 'Set a password', async (fields, request) => {
      const person = personOf(request)
      if (!person) return seeOther('/sign-in', endedCookie(isSecure()))
      const [password, current] = [fields.get('password') ?? '', fields.get('current') ?? '']
      const { session, key } = person
      const change = signIn.changePassword(key.holder, {
        password,
        current,
        session,
        from: addressOf(request),
      })
      const outcome = await outcomeOf(change.then(result => result ?? {}))
      const notice: Notice =
        'notice' in outcome
          ? outcome.notice
          : 'fault' in outcome.done
            ? { text: `The new password ${outcome.done.fault}`, wrong: true }
            : {
                text: 'The password is set. All other sessions of this account are signed out.',
              }
      const status = 'notice' in outcome ? outcome.status : notice.wrong ? 422 : 200
      return page('Your account', accountBody(deps, person, notice), { status })
    }),
    form('/sign-out', 'takeSignOut', 'Sign out', (fields, request) => {
      const person = personOf(request)
      if (person && fields.get('all') === 'true') sessions.endAll(person.session.accountId)
      else if (person) sessions.end(person.session)
      return seeOther('/sign-in', endedCookie(isSecure()))
    }),
  ]
}

/** Sets up two-factor authentication, turns it on by a first code, and off by one. */
function twoFactorStep(deps: Context, { page, personOf, isSecure, form }: Frame) {
  const { sessions, secondFactor, audit } = deps
  const byPerson = (
    path: string,
    operationId: string,
    summary: string,
    work: (person: Person, fields: URLSearchParams) => Response | Promise<Response>,
  ) =>
    form(path, operationId, summary, (fields, request) => {
      const person = personOf(request)
      return person ? work(person, fields) : seeOther('/sign-in', endedCookie(isSecure()))
    })
  const refusedPage = async (person: Person, refusal: CodeRefusal) => {
    const outcome = await outcomeOf(Promise.resolve(refusal))
    return 'notice' in outcome
      ? page('Your account', accountBody(deps, person, outcome.notice), { status: outcome.status })
      : seeOther('/sign-in')
  }
  return [
    byPerson(
      '/sign-in/second-step',
      'takeSecondStep',
      'Set up two-factor authentication',
      ({ key, session }) => {
        secondFactor.enrol(session.accountId, key.holder.account.email)
        return seeOther('/sign-in')
      },
    ),
    byPerson(
      '/sign-in/second-step/on',
      'takeSecondStepOn',
      'Enable two-factor authentication',
      (person, fields) => {
        const { session } = person
        const code = fields.get('code') ?? ''
        const result = secondFactor.confirm(session.accountId, code)
        if (!result) return seeOther('/sign-in')
        if ('refused' in result) return refusedPage(person, result)
        sessions.endAll(session.accountId, session)
        audit.noteOwn(person.session.accountId, 'enable two-factor authentication')
        return page('Recovery codes', recoveryCodesPage(result.recoveryCodes))
      },
    ),
    byPerson(
      '/sign-in/second-step/off',
      'takeSecondStepOff',
      'Disable two-factor authentication',
      (person, fields) => {
        const { accountId } = person.session
        const refusal = secondFactor.use(accountId, fields.get('code') ?? '')
        if (refusal) return refusedPage(person, refusal)
        secondFactor.remove(accountId)
        audit.noteOwn(person.session.accountId, 'disable two-factor authentication')
        return seeOther('/sign-in')
      },
    ),
  ]
}

/** What a person can do who may accept the invitation later. */
const refusedMembers: Readonly<Partial<Record<OrganizationRefusal['refused'], string>>> = {
  already_member: 'You belong to another organization. Leave it before you accept this invitation.',
  own_subscription:
    'Your account has its own subscription, which would still be charged. Cancel it, then accept the invitation.',
}

function invited(
  { organizations, signIn, keys, addressOf, now, company }: Context,
  { page, personOf, cookieOf, form }: Frame,
) {
  const title = 'Invitation'
  const viewOf = (token: string) => {
    const view = organizations.invitationByToken(token)
    return view && invitationState(view.invitation, now()) === 'pending' ? view : undefined
  }
  const over = (token: string) => {
    const view = organizations.invitationByToken(token)
    const why = view && organizations.whyOver(view.invitation)
    const text = why ?? 'This invitation does not exist. Request a new one.'
    return page(title, message({ text, wrong: true }), { status: 410 })
  }
  const signInFirst = (email: string) => {
    const text = company?.isOnly
      ? 'Sign in with your company account, then open the link in the e-mail again.'
      : `${email} has an account here. Sign in, then open the link in the e-mail again.`
    return page(title, message({ text }, { href: '/sign-in', text: 'Sign in' }))
  }

  return [
    operation('GET /invitation', {
      operationId: 'showInvitation',
      summary: 'Invitation',
      hidden: true,
      access: showing,
      query: { token: t.Optional(t.String()) },
      handle: ({ query, request }) => {
        const token = query.token ?? ''
        const view = viewOf(token)
        if (!view) return over(token)
        const { invitation, organization } = view
        const person = personOf(request)
        if (!person && keys.accountByEmail(invitation.email)) return signInFirst(invitation.email)
        const as = person?.key.holder.account.email ?? invitation.email
        return page(
          title,
          invitationPage({ ...invitation, token, organization: organization.name, as }),
        )
      },
    }),
    form('/invitation', 'takeInvitation', 'Accept an invitation', async (fields, request) => {
      const token = fields.get('token') ?? ''
      const view = viewOf(token)
      if (!view) return over(token)
      const person = personOf(request)
      // The e-mail proves an address that has no account yet. It does not sign in to an
      // existing account: it is valid too long for that.
      const newcomer = person || company?.isOnly ? undefined : organizations.newcomer(token)
      const who = person?.key.holder ?? newcomer
      if (!who) return signInFirst(view.invitation.email)
      const cookie = newcomer && cookieOf(await signIn.asOwner(newcomer, addressOf(request)))
      const accepted = organizations.accept(view.invitation.id, who, token)
      if (accepted && !('refused' in accepted)) return seeOther('/sign-in', cookie)
      const text = accepted && refusedMembers[accepted.refused]
      if (text === undefined) return over(token)
      return page(title, message({ text, wrong: true }), { status: 422 })
    }),
  ]
}
