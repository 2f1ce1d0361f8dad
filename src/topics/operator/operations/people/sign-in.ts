import { t } from '../../../../http/answer/schema.ts'
import { body, noBody, text } from '../../../../http/input/body-schema.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { notFound, refusedField } from '../../../../http/problem/problem.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import { resultOf } from '../../../account/operations/session-row.ts'
import { handedLinkMs, linkUrl } from '../../../account/service/sign-in.ts'
import type { AccountState } from '../../../keys/service/keyring.ts'
import { accountOf } from './accounts.ts'

const access = { operator: 'people' } as const
const params = { id: t.String({ examples: ['00000000-0000-4000-8000-000000000001'] }) }
const Done = envelopeOf({ id: t.String(), email: t.String() })
const passwordMax = 1000
const PasswordBody = body({
  password: text(passwordMax, {
    minLength: 10,
    description: 'At least 10 characters.',
    examples: ['correct horse battery staple'],
  }),
})

/** An operator's control over sign-ins and sessions of users. */
export function signInAdminOperations({
  keys,
  sessions,
  secondFactor,
  signIn,
  ownUrl,
  now,
}: Context) {
  const done = ({ account }: AccountState) => success({ id: account.id, email: account.email })
  return [
    operation('POST /admin/v1/accounts/:id/password', {
      operationId: 'setAccountPassword',
      summary: 'Set the password of an account',
      description: 'Sets the password of an account and ends all its sessions.',
      access,
      params,
      body: PasswordBody.schema,
      answers: Done,
      handle: async ({ body, params: { id } }) => {
        const account = accountOf(keys, id)
        const { password } = PasswordBody.read(body)
        const { fault } = await resultOf(
          signIn.setPassword(account, password).then(result => result ?? { fault: undefined }),
        )
        if (fault !== undefined) throw refusedField('password', `password: ${fault}`)
        return done(account)
      },
    }),
    operation('POST /admin/v1/accounts/:id/link', {
      operationId: 'createAccountLink',
      summary: 'Create a sign-in link',
      description:
        'Returns a one-time sign-in link for an account, valid for an hour. It is returned only in this response.',
      access,
      idempotent: true,
      params,
      body: noBody,
      answers: {
        201: envelopeOf({ sign_in_url: t.String(), expires_at: t.String({ format: 'date-time' }) }),
      },
      handle: ({ params: { id }, reply }) => {
        const account = accountOf(keys, id)
        reply.headers['cache-control'] = 'no-store'
        const token = signIn.makeLink(account, { lifetimeMs: handedLinkMs })
        return success({
          sign_in_url: linkUrl(ownUrl(), token),
          expires_at: isoInstant(now() + handedLinkMs),
        })
      },
    }),
    operation('DELETE /admin/v1/accounts/:id/second-factor', {
      operationId: 'removeAccountSecondFactor',
      summary: 'Remove two-factor authentication from an account',
      description:
        'Removes two-factor authentication for users who have lost their authenticator and recovery codes. All sessions of the account end.',
      access,
      params,
      answers: Done,
      handle: ({ params: { id } }) => {
        const account = accountOf(keys, id)
        if (!secondFactor.remove(id)) throw notFound('Two-factor authentication of the account')
        sessions.endAll(id)
        return done(account)
      },
    }),
    operation('DELETE /admin/v1/accounts/:id/sessions', {
      operationId: 'endAccountSessions',
      summary: 'End all sessions of an account',
      description: 'Ends all sessions of an account; its API keys keep working.',
      access,
      params,
      answers: Done,
      handle: ({ params: { id } }) => {
        const account = accountOf(keys, id)
        sessions.endAll(id)
        return done(account)
      },
    }),
  ]
}
