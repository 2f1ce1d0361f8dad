import { t } from '../../../http/answer/schema.ts'
import { accountIdOf } from '../../../http/gate/request-context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { notFound, Problem, passing, stateForbids } from '../../../http/problem/problem.ts'
import { FlatProblem, NestedProblem, ValidationProblem } from '../../../http/problem/shape.ts'
import { isoInstant, secondMs } from '../../../lib/time/instant.ts'
import type { CodeOut, TooMany, Verified } from '../service/phones.ts'
import type { Phone } from '../store/phones.ts'
import { CodeBody, codeOf, PhoneBody, phoneOf } from './phone-form.ts'

const phoneFields = {
  phone: t.stringOrNull('In E.164; null: none.', '+15550100001'),
  verified: t.boolean('Whether the code sent to the number was entered.'),
  country_code: t.orNull(t.String({ examples: ['US'] })),
  added_at: t.orNull(t.String({ format: 'date-time' })),
}
const message = t.string('For a person.')
const expiresAt = t.instant('Expiry of the code.')
const PhoneShape = t.Object(phoneFields)
export type PhoneShape = (typeof PhoneShape)['static']
const Added = t.Object({
  ...phoneFields,
  message,
  verification: t.Object({ sent: t.Boolean(), expires_at: expiresAt }),
})
const Proved = t.Object({ ...phoneFields, message })
const Resent = t.Object({ sent: t.Boolean(), message, expires_at: t.orNull(expiresAt) })
const Deleted = t.Object({ deleted: t.Literal(true), message })

const TooManyOrLocked = t.Union([FlatProblem, ValidationProblem])
const access = { meter: false, header: true } as const

const number = [
  operation('GET /v1/phone', {
    operationId: 'getPhone',
    summary: 'Get the phone number',
    description: 'Returns the phone number of the account; null and false without one.',
    access: { meter: false },
    answers: PhoneShape,
    handle: ({ at, caller }) => phoneRow(at.phones.of(accountIdOf(caller))),
  }),
  operation('POST /v1/phone', {
    operationId: 'addPhone',
    summary: 'Add a phone number',
    description:
      'Sets the phone number of the account and sends a verification code to it. Replacing a number withdraws consent to text messages. Numbers of other countries are refused with `country_not_supported`. In 24 hours an account gets at most five codes, and so does a number (429 `RATE_LIMIT_EXCEEDED`).',
    access,
    idempotent: true,
    body: PhoneBody.schema,
    answers: { 201: Added },
    prepare: ({ body }) => phoneOf(body),
    handle: ({ at, caller, prepared: { number, country } }) => {
      const { phones, textMessages, now } = at
      const out = phones.add(accountIdOf(caller), number, country)
      if ('refused' in out) throw tooManyCodes(out, now())
      const verification = { sent: out.isSent, expires_at: isoInstant(out.expiresAt) }
      return {
        ...phoneRow(out.phone),
        message: sentMessage(out, textMessages.reaches),
        verification,
      }
    },
  }),
  operation('DELETE /v1/phone', {
    operationId: 'deletePhone',
    summary: 'Remove the phone number',
    description: 'Removes the number with its verification and the consent to text messages.',
    access,
    answers: { 200: Deleted, 404: NestedProblem },
    handle: ({ at, caller }) => {
      const { phones } = at
      if (!phones.remove(accountIdOf(caller))) throw noPhone()
      return {
        deleted: true as const,
        message: 'The phone number was removed. No more text messages are sent.',
      }
    },
  }),
]

const proof = [
  operation('POST /v1/phone/verify', {
    operationId: 'verifyPhone',
    summary: 'Verify the phone number',
    description:
      'Verifies the number with the code. A wrong code is `invalid_code`; a code older than ten minutes is `code_expired`. After five wrong codes request a new one (429 `verification_locked`).',
    access,
    body: CodeBody.schema,
    answers: { 200: Proved, 404: NestedProblem, 429: TooManyOrLocked },
    handle: ({ at, body, caller }) => {
      const { phones } = at
      const code = codeOf(body)
      const before = phones.of(accountIdOf(caller))?.verifiedAt ?? null
      const proved = granted(phones.verify(accountIdOf(caller), code))
      return {
        ...phoneRow(proved),
        message:
          before === null
            ? 'The phone number is verified.'
            : 'The phone number is already verified.',
      }
    },
  }),
  operation('POST /v1/phone/resend', {
    operationId: 'resendPhoneCode',
    summary: 'Resend the verification code',
    description:
      'Sends a new code by text message, at most one in 60 seconds (429 `RATE_LIMIT_EXCEEDED`), and invalidates the previous one.',
    access,
    idempotent: true,
    answers: { 200: Resent, 404: NestedProblem },
    handle: ({ at, caller }) => {
      const { phones, textMessages, now } = at
      const out = phones.resend(accountIdOf(caller))
      if (!('refused' in out))
        return {
          sent: out.isSent,
          message: sentMessage(out, textMessages.reaches),
          expires_at: isoInstant(out.expiresAt),
        }
      if (out.refused === 'no_phone') throw noPhone()
      if (out.refused === 'too_many') throw tooManyCodes(out, now())
      return { sent: false, message: 'The phone number is already verified.', expires_at: null }
    },
  }),
]

const phoneRow = (phone: Phone | undefined) => ({
  phone: phone?.number ?? null,
  verified: phone !== undefined && phone.verifiedAt !== null,
  country_code: phone?.country ?? null,
  added_at: phone ? isoInstant(phone.addedAt) : null,
})

function sentMessage({ isSent }: CodeOut, reaches: boolean): string {
  if (isSent) return 'A six-digit code was sent to the number. It is valid for ten minutes.'
  if (reaches) return 'A code was sent to the number less than a minute ago and is still valid.'
  return 'No code could be sent: no SMS provider is configured.'
}

const noPhone = (): Problem => notFound('A phone number of the account')

const countedFor: Readonly<Record<TooMany['of'], string>> = {
  account: 'for an account',
  number: 'for a phone number',
  instance: 'for all customers together',
}

function tooManyCodes({ of, retryAt, limit, windowMs }: TooMany, now: number): Problem {
  const retryAfter = Math.max(1, Math.ceil((retryAt - now) / secondMs))
  const windowSeconds = windowMs / secondMs
  return passing(
    'RATE_LIMIT_EXCEEDED',
    `At most ${limit === 1 ? 'one code' : `${limit} codes`} in ${windowSeconds === 60 ? '60 seconds' : '24 hours'} ${countedFor[of]}. Try again in ${retryAfter} s.`,
    retryAfter,
    { limit, window_seconds: windowSeconds },
  )
}

/** The verified number, or the refusal thrown. */
function granted(verified: Verified): Phone {
  if (!('refused' in verified)) return verified.phone
  switch (verified.refused) {
    case 'no_phone':
      throw noPhone()
    case 'locked':
      throw stateForbids(
        'verification_locked',
        'Five wrong codes were entered. Request a new one with POST /v1/phone/resend.',
      )
    case 'expired':
      throw stateForbids(
        'code_expired',
        'The code has expired. Request a new one with POST /v1/phone/resend.',
      )
    case 'wrong': {
      const { triesLeft } = verified
      const message = `Wrong verification_code; ${triesLeft} of 5 attempts left.`
      const fault = { field: 'verification_code', message, value: null }
      throw new Problem(
        'invalid_code',
        message,
        { field: fault.field, value: null, errors: [fault], tries_left: triesLeft },
        { status: 422, shape: 'valid' },
      )
    }
  }
}

/** The phone number of the caller's account: text messages go nowhere else. */
export const phoneOperations = [...number, ...proof]
