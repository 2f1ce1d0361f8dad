import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { cookieOf, endedCookie } from '../../../http/gate/session-cookie.ts'
import { body, documentedBody, text } from '../../../http/input/body-schema.ts'
import { formOf } from '../../../http/input/form.ts'
import { parsed } from '../../../http/input/typed.ts'
import { envelopeOf, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { FlatProblem, NestedProblem } from '../../../http/problem/shape.ts'
import type { SignedIn } from '../service/sessions.ts'
import type { SignIn } from '../service/sign-in.ts'
import { signInLinkText } from '../service/sign-in-messages.ts'
import type { Session } from '../store/sessions.ts'
import { emailMax } from './account-form.ts'
import { refusalOf, resultOf, SessionAnswer, selfAccess, sessionRow } from './session-row.ts'

const open = { open: 'Signing in needs no credentials.', body: true } as const
const secretMax = 1000
const noStore = { 'cache-control': 'no-store' }
const emailField = text(emailMax, { examples: ['person@example.com'] })
const passwordFields = {
  email: emailField,
  password: text(secretMax, { examples: ['correct horse battery staple'] }),
}
const codeFields = {
  second_step: text(secretMax, {
    description: 'The `second_step` of the refusal `SECOND_FACTOR_REQUIRED`.',
  }),
  code: text(secretMax, {
    description: 'An authenticator code or a recovery code.',
    examples: ['123456'],
  }),
}
const linkFields = {
  link_token: text(secretMax, { description: 'The `token` of a one-time link.' }),
}
const PasswordBody = body(passwordFields)
const LinkTokenBody = body(linkFields)
const CodeBody = body(codeFields)
/** One of the three; which one shows in whether the body names `link_token` or `second_step`. */
const signInSchema = documentedBody(
  t.Union([t.Object(passwordFields), t.Object(linkFields), t.Object(codeFields)]),
  false,
)
const MailLinkBody = body({ email: emailField })

/**
 * Signing in, staying and going: sessions act with the rights of their account on every endpoint
 * that takes a key.
 */
export const sessionOperations: Operations = [
  operation('POST /v1/auth/session', {
    operationId: 'signIn',
    summary: 'Sign in',
    description:
      "Returns a session token for an address and password, or for the token of a one-time link. Unknown addresses get the same answer as a wrong password (401 `INVALID_CREDENTIALS`). Five failed attempts from one client address for one account within 15 minutes lock that pair until the first attempt is 15 minutes old (429 `LOGIN_LOCKED`).\n\nIf the account has two-factor authentication, correct credentials get 401 `SECOND_FACTOR_REQUIRED` with a `second_step` token, which signs in with a code within five minutes. Five wrong codes lock the account's codes for 15 minutes.",
    access: open,
    body: signInSchema,
    answers: {
      200: SessionAnswer,
      401: NestedProblem,
      403: NestedProblem,
      429: t.Union([NestedProblem, FlatProblem]),
    },
    handle: async ({ at: { addressOf, signIn, keys }, body, request, reply }) => {
      const proof = proofOf(body)
      Object.assign(reply.headers, noStore)
      const from = addressOf(request)
      return sessionRow(await resultOf<SignedIn>(attemptOf(signIn, proof, from)), keys)
    },
  }),
  operation('POST /v1/auth/link', {
    operationId: 'mailSignInLink',
    summary: 'Send a sign-in link by e-mail',
    description:
      'Sends a one-time sign-in link that is valid for 15 minutes. The response is the same for addresses without an account. At most three e-mails are sent to an account in 15 minutes. Where people sign in with a company account only (`oidc.only`), the response is 403 `COMPANY_SIGN_IN_REQUIRED`.',
    access: open,
    body: MailLinkBody.schema,
    answers: { 202: t.Object({ message: t.String() }), 403: NestedProblem },
    handle: ({ at: { signIn, mail, ownUrl }, body }) => {
      const { email } = MailLinkBody.read(body)
      const refusal = signIn.mailLink(email, ownUrl())
      if (refusal) throw refusalOf(refusal)
      return { message: signInLinkText(mail.reaches) }
    },
  }),
  stayOrGo,
]

const cameAsCookie = (request: Request) => request.headers.get('authorization') === null

function stayOrGo({ keys, sessions, ownUrl }: Context) {
  const isSecure = () => ownUrl().startsWith('https:')
  return [
    operation('POST /v1/auth/session/refresh', {
      operationId: 'refreshSession',
      summary: 'Refresh a session',
      description:
        'Returns a new session token. The old token is accepted for another 30 seconds, and refreshing it in that time returns the same new token. Reusing it later revokes the whole session, because it may have been stolen. A session can be refreshed for 30 days. Requires a session token; API keys get 401.',
      access: selfAccess,
      answers: SessionAnswer,
      handle: async ({ caller, request, reply }) => {
        Object.assign(reply.headers, noStore)
        const refreshed = await sessions.refresh(sessionOf(caller))
        if (!refreshed) throw new Problem('UNAUTHORIZED', 'The session has ended. Sign in again.')
        // A session from a cookie continues in the cookie: scripts of the page cannot write it.
        if (cameAsCookie(request))
          reply.headers['set-cookie'] = cookieOf(refreshed, sessions.now(), isSecure())
        return sessionRow(refreshed, keys)
      },
    }),
    operation('DELETE /v1/auth/session', {
      operationId: 'signOut',
      summary: 'Sign out',
      description:
        'Ends the current session, or with `all` every session of the account. Requires a session token; API keys get 401.',
      access: selfAccess,
      query: {
        all: parsed.flag('Whether to end every session of the account.', true, {
          default: false,
        }),
      },
      answers: envelopeOf({ revoked: t.Literal(true) }),
      handle: ({ caller, query, request, reply }) => {
        const session = sessionOf(caller)
        if (cameAsCookie(request)) reply.headers['set-cookie'] = endedCookie(isSecure())
        if (query.all) sessions.endAll(session.accountId)
        else sessions.end(session)
        return success({ revoked: true as const })
      },
    }),
  ]
}

type Proof =
  | { link: string }
  | { twoFactorStep: string; code: string }
  | { email: string; password: string }

function attemptOf(signIn: SignIn, proof: Proof, from: string) {
  if ('link' in proof) return signIn.withLink(proof.link, from)
  if ('code' in proof) return signIn.withCode(proof.twoFactorStep, proof.code, from)
  return signIn.withPassword(proof.email, proof.password, from)
}

function proofOf(input: unknown): Proof {
  if (formOf(input).has('link_token')) return { link: LinkTokenBody.read(input).link_token }
  if (formOf(input).has('second_step')) {
    const { second_step, code } = CodeBody.read(input)
    return { twoFactorStep: second_step, code }
  }
  return PasswordBody.read(input)
}

export function sessionOf({ session }: Caller): Session {
  if (!session)
    throw new Problem(
      'UNAUTHORIZED',
      'A session token is required. Send it as "Authorization: Bearer <SESSION_TOKEN>".',
    )
  return session
}
