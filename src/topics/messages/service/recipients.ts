import { timingSafeEqual } from 'node:crypto'
import { keyedHash } from '../../../lib/secrets/keyed-hash.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Consent, RecipientStore } from '../store/recipients.ts'

/** E-mails that an account may have sent on a day (UTC). */
export interface MailLimits {
  /** To any address. */
  mailMessages: number
  /** To one address outside the account. */
  toUnverifiedRecipient: number
  /** Different addresses outside the account. */
  strangers: number
}

/** An address and the account whose e-mails it gets. */
export interface Recipient {
  accountId: string
  /** In lower case. */
  address: string
}

/**
 * `own`: of the account or of a member of its organization. Other addresses get scheduled e-mails
 * only after they have agreed, and no address gets them after it has declined.
 */
export type RecipientState = 'own' | 'confirmed' | 'waiting' | 'declined'

export type Recipients = ReturnType<typeof createRecipients>

export interface RecipientsDeps {
  store: RecipientStore
  keys: Pick<Keyring, 'account' | 'accountByEmail'>
  limits: MailLimits
  /** False: addresses outside an account need not agree. */
  confirmsRecipients: boolean
  masterKey: string
  clock: Clock
}

const tokenContext = 'e-mails to an address'
const nobody: Consent = { askedAt: null, confirmedAt: null, declinedAt: null }

export function createRecipients(deps: RecipientsDeps) {
  const { store, keys, limits, masterKey, clock } = deps
  const consentOf = ({ accountId, address }: Recipient) =>
    store.consent(accountId, address) ?? nobody
  const today = () => isoDay(clock.now())
  const isOwn = ({ accountId, address }: Recipient): boolean => {
    const account = keys.account(accountId)
    if (account?.account.email === address) return true
    // A member of its organization acts on it.
    return account !== undefined && keys.accountByEmail(address)?.actsOn === account
  }
  /** Whether the address has declined scheduled e-mails. */
  const hasDeclined = (recipient: Recipient) => consentOf(recipient).declinedAt !== null
  let forgotten = ''
  return {
    isOwn,
    /** Whether an e-mail may carry what the account has written. */
    takesText: (recipient: Recipient) => !deps.confirmsRecipients || isOwn(recipient),
    hasDeclined,
    state(recipient: Recipient): RecipientState {
      const { confirmedAt } = consentOf(recipient)
      if (hasDeclined(recipient)) return 'declined'
      if (isOwn(recipient)) return 'own'
      return confirmedAt !== null || !deps.confirmsRecipients ? 'confirmed' : 'waiting'
    },
    /** Why an e-mail of today is one too many; undefined where it is not. */
    overLimit(recipient: Recipient) {
      const { accountId, address } = recipient
      const on = today()
      const { mailMessages, strangers } = store.day(accountId, on)
      if (mailMessages >= limits.mailMessages)
        return `The account has used its ${limits.mailMessages} e-mails for today.`
      if (isOwn(recipient)) return undefined
      const toThis = store.mailMessages(accountId, on, address)
      if (toThis >= limits.toUnverifiedRecipient)
        return `The address gets no more than ${limits.toUnverifiedRecipient} e-mails a day from this account.`
      if (toThis === 0 && strangers >= limits.strangers)
        return `The account has written to ${limits.strangers} external addresses today, the maximum.`
      return undefined
    },
    /** Counts an e-mail, inside the transaction that posts it. */
    count(recipient: Recipient) {
      const on = today()
      store.add(recipient.accountId, on, recipient.address, !isOwn(recipient))
      if (forgotten === on) return
      store.forget(on)
      forgotten = on
    },
    /**
     * Requests e-mails of an account to an address. True when a request for consent must be sent,
     * because the last one is more than a day ago.
     */
    wish(recipient: Recipient) {
      const { accountId, address } = recipient
      const consent = consentOf(recipient)
      if (isOwn(recipient)) {
        if (consent.declinedAt !== null) store.put(accountId, address, nobody)
        return false
      }
      const isOpen = consent.confirmedAt === null && consent.declinedAt === null
      if (!deps.confirmsRecipients || !isOpen) return false
      const now = clock.now()
      if (consent.askedAt !== null && now - consent.askedAt < dayMs) return false
      store.put(accountId, address, { ...consent, askedAt: now })
      return true
    },
    token(recipient: Recipient) {
      const text = Buffer.from(JSON.stringify([recipient.accountId, recipient.address]))
      const named = text.toString('base64url')
      return `${named}.${Buffer.from(keyedHash(masterKey, tokenContext, named)).toString('base64url')}`
    },
    /** The recipient in the token of a link; undefined for any other text. */
    read(token: string): Recipient | undefined {
      const [named = '', proof = ''] = token.split('.')
      const expected = keyedHash(masterKey, tokenContext, named)
      const shown = Buffer.from(proof, 'base64url')
      if (shown.length !== expected.length || !timingSafeEqual(shown, expected)) return undefined
      const [accountId, address] = JSON.parse(
        Buffer.from(named, 'base64url').toString(),
      ) as string[]
      return keys.account(accountId!) && { accountId: accountId!, address: address! }
    },
    confirm(recipient: Recipient) {
      const consent = consentOf(recipient)
      const confirmedAt = consent.confirmedAt ?? clock.now()
      store.put(recipient.accountId, recipient.address, {
        ...consent,
        confirmedAt,
        declinedAt: null,
      })
    },
    decline(recipient: Recipient) {
      const consent = consentOf(recipient)
      const declinedAt = consent.declinedAt ?? clock.now()
      store.put(recipient.accountId, recipient.address, { ...consent, declinedAt })
    },
  }
}
