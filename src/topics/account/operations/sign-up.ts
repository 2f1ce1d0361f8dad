import { t } from 'elysia'
import { body, text } from '../../../http/input/body-schema.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import { type Operation, operation } from '../../../http/operations/operation.ts'
import { Problem, validationFailed } from '../../../http/problem/problem.ts'
import { FlatProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { SignUpRefusal } from '../service/sign-up.ts'
import { emailField } from './account-form.ts'

const open = { open: 'Whoever signs up has nothing to show yet.', body: true } as const
const tokenMax = 1000
const AddressBody = body({ email: emailField })
const TokenBody = body({
  token: text(tokenMax, { description: 'The `token` of the link in the letter.' }),
})
const limited = { 429: t.Union([NestedProblem, FlatProblem]) }

const NewAccount = envelope(
  t.Object({
    email: t.String({ examples: ['person@example.com'] }),
    plan: t.String({ examples: ['free'] }),
    api_key: t.String({ description: 'The first key, shown in this answer only.' }),
    link_token: t.String({
      description: 'Signs in once, as `link_token` of `POST /v1/auth/session`.',
    }),
  }),
)

/** How strangers come to an account, where the operator lets them. */
export const signUpOperations: readonly Operation[] = [
  operation('POST /v1/auth/signup', {
    operationId: 'signUp',
    summary: 'Sign up',
    description:
      'Mails a link that makes an account on the free plan, within 24 hours. An address that has an account already gets a link to sign in; the answer is the same. Where the operator lets nobody sign up (`accounts.signup`), or only whom they invite, 403 `SIGNUP_CLOSED`. Two letters an hour to one address, and five at the wish of one client address (429 `SIGNUP_LIMITED`).',
    access: open,
    body: AddressBody.schema,
    answers: { 202: t.Object({ message: t.String() }), 403: NestedProblem, ...limited },
    handle: ({ at, body, request, reply }) => {
      const { signUp, addressOf, ownUrl } = at
      const { email } = AddressBody.read(body)
      const refusal = signUp.request(email, ownUrl(), addressOf(request))
      if (refusal) throw problemOf(refusal)
      reply.status = 202
      return { message: 'A letter to the address is on its way; its link makes the account.' }
    },
  }),
  operation('POST /v1/auth/signup/confirm', {
    operationId: 'confirmSignUp',
    summary: 'Make the account of a letter',
    description:
      'The account of the address that the letter went to, on the free plan, with its first key. The link is good once: afterwards, and when its time is over, 401 `INVALID_CREDENTIALS`.',
    access: open,
    body: TokenBody.schema,
    answers: { 201: NewAccount, 401: NestedProblem, 403: NestedProblem },
    handle: ({ at, body, request, reply }) => {
      const { signUp, keys, addressOf } = at
      const { token } = TokenBody.read(body)
      const outcome = signUp.confirm(token, addressOf(request))
      if ('refused' in outcome) throw problemOf(outcome)
      reply.status = 201
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

/** Letters by which the operator lets people in. */
export const signUpAdminOperations: readonly Operation[] = [
  operation('POST /admin/v1/invitations', {
    operationId: 'inviteToSignUp',
    summary: 'Invite somebody to make an account',
    description:
      'Mails a link that makes an account on the free plan, within seven days. Needs `accounts.signup` `invite` or `open` (403 `SIGNUP_CLOSED`).',
    tags: ['operator'],
    access: AdminAccess,
    idempotent: true,
    body: AddressBody.schema,
    answers: {
      201: envelope(t.Object({ email: t.String(), expires_at: t.String({ format: 'date-time' }) })),
    },
    handle: ({ at, body, reply }) => {
      const { signUp, ownUrl } = at
      const { email } = AddressBody.read(body)
      const outcome = signUp.invite(email, ownUrl())
      if ('refused' in outcome) {
        if (outcome.refused !== 'taken') throw problemOf(outcome)
        throw validationFailed([
          { field: 'email', message: 'email: has an account already.', value: email },
        ])
      }
      reply.status = 201
      return success({ email: email.toLowerCase(), expires_at: isoInstant(outcome.expiresAt) })
    },
  }),
]

function problemOf(refusal: SignUpRefusal): Problem {
  switch (refusal.refused) {
    case 'closed':
      return new Problem(
        'SIGNUP_CLOSED',
        'There is no sign-up here. Ask who runs this service for an account.',
      )
    case 'invite':
      return new Problem(
        'SIGNUP_CLOSED',
        'An account is made by invitation here. Ask who runs this service for one.',
      )
    case 'limited': {
      const seconds = Math.max(1, Math.ceil(refusal.waitMs / 1000))
      return new Problem(
        'SIGNUP_LIMITED',
        `Too many letters were asked for. Try again in ${seconds} s.`,
        { retry_after: seconds },
        { headers: { 'retry-after': String(seconds) } },
      )
    }
    case 'taken':
      return new Problem(
        'INVALID_CREDENTIALS',
        'The link has been used: the address has an account. Sign in with it.',
      )
    case 'invalid':
      return new Problem('INVALID_CREDENTIALS', 'The link is not valid, or its time is over.')
  }
}
