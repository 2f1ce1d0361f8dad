import { t } from '../../../http/answer/schema.ts'
import { body, text } from '../../../http/input/body-schema.ts'
import { envelopeOf, success } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Problem, type ProblemCode, passing, refusedField } from '../../../http/problem/problem.ts'
import { FlatProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { SignUpRefusal } from '../service/sign-up.ts'
import { emailField } from './account-form.ts'

const open = { open: 'Signing up needs no credentials.', body: true } as const
const tokenMax = 1000
const AddressBody = body({ email: emailField })
const TokenBody = body({
  token: text(tokenMax, { description: 'The `token` of the link in the e-mail.' }),
})
const limited = { 429: t.Union([NestedProblem, FlatProblem]) }

const NewAccount = envelopeOf({
  email: t.String({ examples: ['person@example.com'] }),
  plan: t.String({ examples: ['free'] }),
  api_key: t.string('The first API key, returned only in this response.'),
  link_token: t.string('Signs in once, as `link_token` of `POST /v1/auth/session`.'),
})

/** Sign-up by anonymous visitors, where the operator allows it. */
export const signUpOperations = [
  operation('POST /v1/auth/signup', {
    operationId: 'signUp',
    summary: 'Sign up',
    description:
      'Sends a link that creates an account on the free plan, valid for 24 hours. An address that already has an account gets a sign-in link; the response is the same. If sign-up is closed or by invitation (`accounts.signup`), the response is 403 `SIGNUP_CLOSED`; where people sign in with a company account only (`oidc.only`), it is 403 `COMPANY_SIGN_IN_REQUIRED`. Limits per hour: two e-mails to one address and five from one client address (429 `SIGNUP_LIMITED`).',
    access: open,
    body: AddressBody.schema,
    answers: { 202: t.Object({ message: t.String() }), 403: NestedProblem, ...limited },
    handle: ({ at, body, request }) => {
      const { signUp, mail, addressOf, ownUrl } = at
      const { email } = AddressBody.read(body)
      const refusal = signUp.request(email, ownUrl(), addressOf(request))
      if (refusal) throw problemOf(refusal)
      return {
        message: mail.reaches
          ? 'Check your inbox: we sent a link to create your account.'
          : 'No e-mail was sent, because this service has no mail provider. The operator can create an account.',
      }
    },
  }),
  operation('POST /v1/auth/signup/confirm', {
    operationId: 'confirmSignUp',
    summary: 'Confirm a sign-up',
    description:
      'Creates the account on the free plan and returns it with its first API key. The link works once; used and expired links get 401 `INVALID_CREDENTIALS`.',
    access: open,
    body: TokenBody.schema,
    answers: { 201: NewAccount, 401: NestedProblem, 403: NestedProblem },
    handle: ({ at, body, request, reply }) => {
      const { signUp, keys, addressOf } = at
      const { token } = TokenBody.read(body)
      const outcome = signUp.confirm(token, addressOf(request))
      if ('refused' in outcome) throw problemOf(outcome)
      reply.headers['cache-control'] = 'no-store'
      const { account, key, linkToken } = outcome
      return success({
        email: account.account.email,
        plan: keys.entitlements(account.actsOn).planId,
        api_key: key.token,
        link_token: linkToken,
      })
    },
  }),
]

const AdminAccess = { operator: 'people' } as const

/** E-mails by which the operator lets people in. */
export const signUpAdminOperations = [
  operation('POST /admin/v1/invitations', {
    operationId: 'inviteToSignUp',
    summary: 'Invite a person to sign up',
    description:
      'Sends a link that creates an account on the free plan, valid for seven days. Requires `accounts.signup` to be `invite` or `open` (403 `SIGNUP_CLOSED`).',
    tags: ['Operator'],
    access: AdminAccess,
    idempotent: true,
    body: AddressBody.schema,
    answers: {
      201: envelopeOf({
        email: t.String(),
        expires_at: t.String({ format: 'date-time' }),
        message: t.string('Whether an e-mail was sent.', 'An invitation was sent.'),
      }),
    },
    handle: ({ at, body }) => {
      const { signUp, mail, ownUrl } = at
      const { email } = AddressBody.read(body)
      const outcome = signUp.invite(email, ownUrl())
      if ('refused' in outcome) {
        if (outcome.refused !== 'taken') throw problemOf(outcome)
        throw refusedField('email', 'email: has an account already.', email)
      }
      return success({
        email: email.toLowerCase(),
        expires_at: isoInstant(outcome.expiresAt),
        message: mail.reaches
          ? `An invitation was sent to ${email}. Its link is valid for 7 days.`
          : `No e-mail was sent to ${email}, because mail.provider is none. Create an account for this address, and hand over its sign-in link.`,
      })
    },
  }),
]

const refusals: Record<Exclude<SignUpRefusal['refused'], 'limited'>, [ProblemCode, string]> = {
  closed: ['SIGNUP_CLOSED', 'Sign-up is closed. Contact the operator for an account.'],
  company: [
    'COMPANY_SIGN_IN_REQUIRED',
    'Accounts are for people of the company. Sign in with your company account on the page /sign-in.',
  ],
  invite: ['SIGNUP_CLOSED', 'Sign-up is by invitation. Contact the operator for one.'],
  taken: [
    'INVALID_CREDENTIALS',
    'The link has already been used. Sign in with your e-mail address.',
  ],
  invalid: ['INVALID_CREDENTIALS', 'The link is not valid or has expired.'],
}

function problemOf(refusal: SignUpRefusal): Problem {
  if (refusal.refused !== 'limited') return new Problem(...refusals[refusal.refused])
  const seconds = Math.max(1, Math.ceil(refusal.waitMs / 1000))
  return passing(
    'SIGNUP_LIMITED',
    `Too many sign-up e-mails were requested. Try again in ${seconds} s.`,
    seconds,
  )
}
