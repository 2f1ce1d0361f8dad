import { tokenName } from '../../../lib/secrets/token.ts'
import { minuteMs } from '../../../lib/time/instant.ts'
import type { SignInMethod } from '../store/sessions.ts'

/** The account and method of a completed first factor. */
export interface HalfSignIn {
  accountId: string
  method: SignInMethod
}

/** Sign-ins that wait for their second factor, by a token that is not stored. */
export type TwoFactorSteps = ReturnType<typeof createTwoFactorSteps>

const lifetimeMs = 5 * minuteMs
/** Beyond this number, the oldest one is dropped. */
const waitingMax = 10_000

export function createTwoFactorSteps(token: () => string, monotonic: () => number) {
  const waiting = new Map<string, HalfSignIn & { until: number }>()
  return {
    begin({ accountId, method }: HalfSignIn) {
      // A refusal carries it, and refusals show no text in the form of a key.
      const stepToken = Buffer.from(token(), 'hex').toString('base64url')
      waiting.set(tokenName(stepToken), { accountId, method, until: monotonic() + lifetimeMs })
      if (waiting.size > waitingMax) waiting.delete(waiting.keys().next().value!)
      return stepToken
    },
    /** Undefined if there is none, or it has expired. */
    find(token: string): HalfSignIn | undefined {
      const signIn = waiting.get(tokenName(token))
      return signIn && monotonic() < signIn.until ? signIn : undefined
    },
    end: (token: string) => void waiting.delete(tokenName(token)),
  }
}
