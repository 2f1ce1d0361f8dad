import { t } from '../../../http/answer/schema.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import { Problem, passing } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import { TooManyWaiting } from '../service/password-hashes.ts'
import type { CodeRefusal } from '../service/second-factor.ts'
import type { SignedIn } from '../service/sessions.ts'
import type { SignInRefusal, TwoFactorStep } from '../service/sign-in.ts'

/** The access of what callers do with their own sign-in and membership. */
export const selfAccess = { meter: false, header: true, action: 'self' } as const

export const SessionAnswer = envelope(
  t.object('Session', {
    token: t.string(
      'A JWT (HS256): `sub` the account, `iat`, `exp`, `jti`, `typ` `session`. Returned only in this response.',
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ0eXAiOiJzZXNzaW9uIn0.c2lnbmF0dXJl',
    ),
    token_type: t.Literal('Bearer'),
    expires_at: t.String({ format: 'date-time' }),
    account: t.Object({
      email: t.String({ examples: ['eval@example.com'] }),
      tier: t.string("The effective plan: the organization's plan for its members.", 'starter'),
    }),
  }),
)

export const sessionRow = (
  { token, session, account }: SignedIn,
  keys: Keyring,
): (typeof SessionAnswer)['static'] =>
  success({
    token,
    token_type: 'Bearer',
    expires_at: isoInstant(session.expiresAt),
    account: { email: account.account.email, tier: keys.entitlements(account.actsOn).planId },
  })

/** Returns the result of a sign-in attempt, or throws its error. */
export async function resultOf<T extends object>(
  attempt: Promise<T | TwoFactorStep | SignInRefusal | CodeRefusal>,
): Promise<T> {
  const result = await attempt.catch((error: unknown) => {
    if (!(error instanceof TooManyWaiting)) throw error
    throw passing('OVERLOADED', 'Too many sign-ins at the moment. Try again.', 2)
  })
  if ('refused' in result) throw refusalOf(result)
  if ('twoFactorStep' in result)
    throw new Problem(
      'SECOND_FACTOR_REQUIRED',
      'This account requires two-factor authentication: send the second_step of this response with an authenticator or recovery code to POST /v1/auth/session within five minutes.',
      { second_step: result.twoFactorStep },
    )
  return result
}

const tooMany = {
  locked:
    'Too many failed attempts from your address for this account. You can also sign in with a link by e-mail.',
  code_locked: 'Too many wrong codes for this account.',
}

export function refusalOf(refusal: SignInRefusal | CodeRefusal): Problem {
  if (refusal.refused === 'invalid')
    return new Problem('INVALID_CREDENTIALS', 'The address, password or link is not valid.')
  if (refusal.refused === 'provider')
    return new Problem(
      'COMPANY_SIGN_IN_REQUIRED',
      'Passwords and e-mailed links are turned off. Sign in with your company account on the page /sign-in.',
    )
  if (refusal.refused === 'code')
    return new Problem('INVALID_CREDENTIALS', 'The code is wrong or already used.')
  const seconds = Math.max(1, Math.ceil(refusal.waitMs / 1000))
  return passing('LOGIN_LOCKED', `${tooMany[refusal.refused]} Try again in ${seconds} s.`, seconds)
}
