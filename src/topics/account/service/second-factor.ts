import type { Ids } from '../../../lib/ids.ts'
import { tokenHash } from '../../../lib/secrets/token.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { minuteMs } from '../../../lib/time/instant.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type { SecondFactorStore } from '../store/second-factors.ts'
import { createSignInAttempts } from './sign-in-attempts.ts'

/** A code that is not right, or one too many of them. */
export type CodeRefusal = { refused: 'code' } | { refused: 'code_locked'; waitMs: number }

/**
 * The second factor of signing in: a code of an authenticator (TOTP, RFC 6238: SHA-1, six digits,
 * thirty seconds), or one of ten recovery codes, each good once.
 */
export type SecondFactor = ReturnType<typeof createSecondFactor>

export interface SecondFactorStatus {
  state: 'off' | 'waiting' | 'on'
  confirmedAt: number | undefined
  recoveryCodesLeft: number
}

export interface SecondFactorDeps {
  store: SecondFactorStore
  vault: Vault
  clock: Pick<Clock, 'now' | 'monotonic'>
  ids: Pick<Ids, 'token'>
  /** The name of the service in an authenticator. */
  serviceName: string
}

/**
 * Loaded on first use of two-factor authentication, which makes the start faster. `require`,
 * because the callers are synchronous.
 */
const otpauth = (): typeof import('otpauth') => require('otpauth')

const periodSeconds = 30
/** A clock may be wrong by one period, either way. */
const periodsAround = 1
const secretBytes = 20
const recoveryCodes = 10
const recoveryBytes = 10
const triesMax = 5
const triesWindowMs = 15 * minuteMs
const wrong = { refused: 'code' } as const

export const contextOf = (accountId: string): string => `second factor ${accountId}`

export function createSecondFactor({ store, vault, clock, ids, serviceName }: SecondFactorDeps) {
  // By account alone: who knows its password must not get more tries from more addresses.
  const tries = createSignInAttempts(triesMax, triesWindowMs, clock.monotonic)

  const totpOf = (secret: string, email = '') => {
    const { Secret, TOTP } = otpauth()
    return new TOTP({
      issuer: serviceName,
      label: email,
      secret: Secret.fromBase32(secret),
      algorithm: 'SHA1',
      digits: 6,
      period: periodSeconds,
    })
  }
  const shown = (secret: string, email: string) => ({
    secret,
    url: totpOf(secret, email).toString(),
  })
  /** The time step that a code is of; undefined where it is not one of this time. */
  const stepOf = (secret: string, code: string): number | undefined => {
    const timestamp = clock.now()
    const delta = totpOf(secret).validate({ token: code, timestamp, window: periodsAround })
    return delta === null ? undefined : Math.floor(timestamp / (periodSeconds * 1000)) + delta
  }
  const tried = <T>(accountId: string, attempt: () => T | undefined): T | CodeRefusal => {
    const taken = tries.take(accountId)
    if (taken.waitMs !== undefined) return { refused: 'code_locked', waitMs: taken.waitMs }
    const result = attempt()
    if (result === undefined) return wrong
    taken.forgive()
    return result
  }
  const useTotp = (accountId: string, sealed: Uint8Array, code: string): true | undefined => {
    const step = stepOf(vault.open(contextOf(accountId), sealed), code)
    return step !== undefined && store.useStep(accountId, step) ? true : undefined
  }
  const rowOf = (accountId: string, isConfirmed: boolean) => {
    const row = store.of(accountId)
    return row && (row.confirmedAt !== null) === isConfirmed ? row : undefined
  }

  return {
    /** Whether signing in requires a code. */
    isOn: (accountId: string) => rowOf(accountId, true) !== undefined,
    statusOf(accountId: string): SecondFactorStatus {
      const row = store.of(accountId)
      return {
        state: row === undefined ? 'off' : row.confirmedAt === null ? 'waiting' : 'on',
        confirmedAt: row?.confirmedAt ?? undefined,
        recoveryCodesLeft: store.recoveryCodesLeft(accountId),
      }
    },
    /**
     * A new secret for an authenticator, instead of one that was not confirmed; undefined where
     * the second factor is on.
     */
    enrol(accountId: string, email: string) {
      if (rowOf(accountId, true)) return undefined
      const secret = base32(Buffer.from(ids.token(), 'hex').subarray(0, secretBytes))
      store.put(accountId, vault.seal(contextOf(accountId), secret), clock.now())
      return shown(secret, email)
    },
    /** Shows that secret again; undefined where none waits for its first code. */
    waiting(accountId: string, email: string) {
      const row = rowOf(accountId, false)
      return row && shown(vault.open(contextOf(accountId), row.secret), email)
    },
    /**
     * Turns the second factor on by the first code of the secret; undefined where none waits. The
     * recovery codes are nowhere at rest.
     */
    confirm(
      accountId: string,
      code: string,
    ): { recoveryCodes: string[] } | CodeRefusal | undefined {
      const row = rowOf(accountId, false)
      if (!row) return undefined
      const result = tried(accountId, () => useTotp(accountId, row.secret, spelled(code)))
      if (result !== true) return result
      const codes = Array.from({ length: recoveryCodes }, () => recoveryCode(ids.token()))
      store.confirm(accountId, codes.map(hashOf), clock.now())
      return { recoveryCodes: codes }
    },
    /** Uses up a code of the authenticator or a recovery code. */
    use(accountId: string, code: string): CodeRefusal | undefined {
      const row = rowOf(accountId, true)
      if (!row) return wrong
      const typedCode = spelled(code)
      const result = tried(accountId, () =>
        /^\d{6}$/.test(typedCode)
          ? useTotp(accountId, row.secret, typedCode)
          : store.useRecoveryCode(accountId, hashOf(typedCode), clock.now()) || undefined,
      )
      return result === true ? undefined : result
    },
    /** Turns it off. False where there was none. */
    remove: store.remove,
  }
}

/** People type codes with gaps, and in capitals. */
const spelled = (code: string): string => code.replaceAll(/[\s-]/g, '').toLowerCase().slice(0, 64)

const hashOf = (code: string): Uint8Array => tokenHash(spelled(code))

/** Eighty bits in four groups of four letters and digits. */
function recoveryCode(token: string): string {
  const text = base32(Buffer.from(token, 'hex').subarray(0, recoveryBytes)).toLowerCase()
  return text.match(/.{4}/g)!.join('-')
}

function base32(bytes: Uint8Array): string {
  const { Secret } = otpauth()
  return new Secret({ buffer: new Uint8Array(bytes).buffer }).base32
}
