import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import type { Ids } from '../../../lib/ids.ts'
import { keyedHash } from '../../../lib/secrets/keyed-hash.ts'
import { sameHash } from '../../../lib/secrets/token.ts'
import { dayMs, minuteMs } from '../../../lib/time/instant.ts'
import type { Phone, PhoneStore } from '../store/phones.ts'
import type { SmsStore } from '../store/sms.ts'
import type { TextMessages } from './sms.ts'

/** Why no code goes out now. */
export interface TooMany {
  refused: 'too_many'
  /** Whose codes are counted. */
  of: 'account' | 'number' | 'instance'
  retryAt: number
  limit: number
  windowMs: number
}

export interface CodeOut {
  phone: Phone
  /** False: one is out already, or there is no way to send it. */
  isSent: boolean
  expiresAt: number
}

export type Verified =
  | { phone: Phone }
  | { refused: 'no_phone' | 'locked' | 'expired' }
  | { refused: 'wrong'; triesLeft: number }

/** The numbers of accounts: added, proved by a code, agreed to be written to. */
export type Phones = ReturnType<typeof createPhones>

export interface PhonesDeps extends Pick<Runtime, 'db' | 'ids' | 'log' | 'clock'> {
  phones: PhoneStore
  sms: SmsStore
  textMessages: TextMessages
  masterKey: string
  serviceName: string
  /** Codes of the whole instance in 24 hours. */
  codesPerDay: number
}

export const codeLivesMs = 10 * minuteMs
const resendEveryMs = minuteMs
const wrongTriesMax = 5
/**
 * Codes in 24 hours for an account, and for a number from all accounts: messages cost money, and a
 * phone must not ring all day. The instance has a limit too, for many accounts with many numbers.
 */
const codesPerDayMax = 5

/** The code of a number: made, sent and compared. */
function createPhoneCodes({
  phones: store,
  sms,
  textMessages,
  clock,
  ids,
  log,
  masterKey,
  serviceName,
  codesPerDay,
}: PhonesDeps) {
  const hash = (accountId: string, number: string, code: string) =>
    keyedHash(masterKey, `phone code ${accountId} ${number}`, code)
  return {
    crowded(accountId: string, number: string): TooMany | undefined {
      const limits = [
        { of: 'account', whose: { accountId }, limit: codesPerDayMax },
        { of: 'number', whose: { number }, limit: codesPerDayMax },
        { of: 'instance', whose: {}, limit: codesPerDay },
      ] as const
      for (const { of, whose, limit } of limits) {
        const sentAt = sms.codeBefore(whose, clock.now() - dayMs + 1, limit - 1)
        if (sentAt === undefined) continue
        if (of === 'instance') log.warn('verification_codes_used_up', { limit })
        return { refused: 'too_many', of, retryAt: sentAt + dayMs, limit, windowMs: dayMs }
      }
      return undefined
    },
    send(phone: Phone): CodeOut {
      const now = clock.now()
      const code = sixDigits(ids)
      const id = textMessages.post({
        to: phone.number,
        accountId: phone.accountId,
        purpose: 'verification',
        dedupe: ids.uuid(),
        text: `${serviceName}: your code is ${code}. It is valid for 10 minutes. If you did not request it, ignore this message.`,
      })
      const out: Phone = {
        ...phone,
        codeHash: id === undefined ? null : hash(phone.accountId, phone.number, code),
        codeSentAt: now,
        codeExpiresAt: now + codeLivesMs,
        wrongTries: 0,
      }
      store.put(out)
      return { phone: out, isSent: id !== undefined, expiresAt: now + codeLivesMs }
    },
    verify(phone: Phone, code: string): Verified {
      const now = clock.now()
      if (phone.verifiedAt !== null) return { phone }
      if (phone.wrongTries >= wrongTriesMax) return { refused: 'locked' }
      if (!phone.codeHash || now >= (phone.codeExpiresAt ?? 0)) return { refused: 'expired' }
      if (!sameHash(phone.codeHash, hash(phone.accountId, phone.number, code))) {
        const wrongTries = phone.wrongTries + 1
        store.put({ ...phone, wrongTries })
        return { refused: 'wrong', triesLeft: wrongTriesMax - wrongTries }
      }
      const proved: Phone = {
        ...phone,
        verifiedAt: now,
        codeHash: null,
        codeExpiresAt: null,
        wrongTries: 0,
      }
      store.put(proved)
      return { phone: proved }
    },
  }
}

export function createPhones(deps: PhonesDeps) {
  const { db, phones: store, clock } = deps
  const { crowded, send, verify } = createPhoneCodes(deps)
  const justSent = (phone: Phone) =>
    phone.codeSentAt !== null && clock.now() < phone.codeSentAt + resendEveryMs

  return {
    of: store.of,
    /**
     * Replaces an older number, its proof and its consent; sends a code. The same unproved number
     * within a minute keeps the code that is out.
     */
    add: (accountId: string, number: string, country: string): CodeOut | TooMany =>
      transact(db, () => {
        const before = store.of(accountId)
        const repeated = before?.number === number && before.verifiedAt === null && justSent(before)
        if (repeated) return { phone: before, isSent: false, expiresAt: before.codeExpiresAt! }
        const none = {
          verifiedAt: null,
          optedInAt: null,
          codeHash: null,
          codeSentAt: null,
          codeExpiresAt: null,
          wrongTries: 0,
        }
        return (
          crowded(accountId, number) ??
          send({ accountId, number, country, addedAt: clock.now(), ...none })
        )
      }),
    verify: (accountId: string, code: string): Verified =>
      transact(db, () => {
        const phone = store.of(accountId)
        return phone ? verify(phone, code) : { refused: 'no_phone' }
      }),
    /** A new code; the old one ends. A proved number needs none. */
    resend: (accountId: string): CodeOut | TooMany | { refused: 'no_phone' | 'verified' } =>
      transact(db, () => {
        const phone = store.of(accountId)
        if (!phone) return { refused: 'no_phone' }
        if (phone.verifiedAt !== null) return { refused: 'verified' }
        if (justSent(phone)) {
          return {
            refused: 'too_many',
            of: 'account',
            retryAt: phone.codeSentAt! + resendEveryMs,
            limit: 1,
            windowMs: resendEveryMs,
          }
        }
        return crowded(accountId, phone.number) ?? send(phone)
      }),
    remove: store.remove,
    optIn: (accountId: string): Phone | { refused: 'not_verified' } =>
      transact(db, () => {
        const phone = store.of(accountId)
        if (!phone || phone.verifiedAt === null) return { refused: 'not_verified' }
        const agreed = { ...phone, optedInAt: phone.optedInAt ?? clock.now() }
        store.put(agreed)
        return agreed
      }),
    /** When the consent ended; now, if there was none. */
    optOut: (accountId: string) =>
      transact(db, () => {
        const phone = store.of(accountId)
        if (phone) store.put({ ...phone, optedInAt: null })
        return clock.now()
      }),
  }
}

const sixDigits = (ids: Ids): string =>
  String(Number.parseInt(ids.token().slice(0, 12), 16) % 1_000_000).padStart(6, '0')
