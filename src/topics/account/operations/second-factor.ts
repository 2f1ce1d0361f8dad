import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { body, text } from '../../../http/input/body-schema.ts'
import { envelopeOf, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { refusedField } from '../../../http/problem/problem.ts'
import { FlatProblem, NestedProblem, ValidationProblem } from '../../../http/problem/shape.ts'
import { isoOrNull } from '../../../lib/time/instant.ts'
import { refusalOf, selfAccess } from './session-row.ts'
import { sessionOf } from './sessions.ts'

const noStore = { 'cache-control': 'no-store' }
const codeMax = 100
const CodeBody = body({
  code: text(codeMax, {
    description: 'The current code of the authenticator.',
    examples: ['123456'],
  }),
})
const Status = envelopeOf({
  state: t.oneOf(
    ['off', 'waiting', 'on'],
    '`waiting`: a secret was created, but not yet confirmed with a code.',
  ),
  confirmed_at: t.instantOrNull('When it was enabled.'),
  recovery_codes_left: t.integer({ examples: [10] }),
})
const refusals = {
  422: ValidationProblem,
  429: t.Union([NestedProblem, FlatProblem]),
}

/** Two-factor authentication of the signed-in user. */
export function secondFactorOperations({ keys, secondFactor, sessions, audit }: Context) {
  const personOf = (caller: Caller) => {
    const session = sessionOf(caller)
    return { session, id: session.accountId, email: keys.account(session.accountId)!.account.email }
  }
  const statusRow = (accountId: string): (typeof Status)['static'] => {
    const { state, confirmedAt, recoveryCodesLeft } = secondFactor.statusOf(accountId)
    return success({
      state,
      confirmed_at: isoOrNull(confirmedAt ?? null),
      recovery_codes_left: recoveryCodesLeft,
    })
  }
  return [
    operation('GET /v1/auth/second-factor', {
      operationId: 'getSecondFactor',
      summary: 'Get two-factor authentication status',
      description:
        'Returns whether two-factor authentication is enabled. Requires a session token; API keys get 401.',
      access: selfAccess,
      answers: Status,
      handle: ({ caller }) => statusRow(personOf(caller).id),
    }),
    operation('POST /v1/auth/second-factor', {
      operationId: 'enrolSecondFactor',
      summary: 'Set up two-factor authentication',
      description:
        'Returns a new authenticator secret, replacing any unconfirmed one. Codes are required at sign-in only after the first code is sent to `confirm`. Requires a session token; API keys get 401.',
      access: selfAccess,
      answers: {
        201: envelopeOf({
          secret: t.string(
            'Base32, for an authenticator (TOTP: SHA-1, 6 digits, 30 s).',
            'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
          ),
          otpauth_url: t.string('The secret as an `otpauth` URI.'),
        }),
        422: ValidationProblem,
      },
      handle: ({ caller, reply }) => {
        Object.assign(reply.headers, noStore)
        const { id, email } = personOf(caller)
        const enrolment = secondFactor.enrol(id, email)
        if (!enrolment)
          throw refused(
            'Two-factor authentication is already enabled. Disable it before you set it up again.',
          )
        return success({ secret: enrolment.secret, otpauth_url: enrolment.url })
      },
    }),
    operation('POST /v1/auth/second-factor/confirm', {
      operationId: 'confirmSecondFactor',
      summary: 'Enable two-factor authentication',
      description:
        'Enables two-factor authentication with the first code of the new secret and returns recovery codes. All other sessions of the account end. Each code works once.',
      access: selfAccess,
      body: CodeBody.schema,
      answers: {
        200: envelopeOf({
          recovery_codes: t.Array(t.String({ examples: ['abcd-efgh-ijkl-mnop'] }), {
            description: 'Each replaces a code once. Returned only in this response.',
          }),
        }),
        ...refusals,
      },
      handle: ({ caller, body, reply }) => {
        Object.assign(reply.headers, noStore)
        const { id, session } = personOf(caller)
        const result = secondFactor.confirm(id, CodeBody.read(body).code)
        if (!result)
          throw refused('No two-factor secret is waiting for confirmation. Create one first.')
        if ('refused' in result) throw refusalOf(result)
        sessions.endAll(id, session)
        audit.noteOwn(id, 'enable two-factor authentication')
        return success({ recovery_codes: result.recoveryCodes })
      },
    }),
    operation('POST /v1/auth/second-factor/disable', {
      operationId: 'disableSecondFactor',
      summary: 'Disable two-factor authentication',
      description:
        'Disables two-factor authentication. Requires a code of the authenticator or a recovery code.',
      access: selfAccess,
      body: CodeBody.schema,
      answers: { 200: Status, ...refusals },
      handle: ({ caller, body }) => {
        const { id } = personOf(caller)
        if (!secondFactor.isOn(id)) throw refused('Two-factor authentication is disabled.')
        const refusal = secondFactor.use(id, CodeBody.read(body).code)
        if (refusal) throw refusalOf(refusal)
        secondFactor.remove(id)
        audit.noteOwn(id, 'disable two-factor authentication')
        return statusRow(id)
      },
    }),
  ]
}

const refused = (message: string) => refusedField('second_factor', `second_factor: ${message}`)
