import type { Runtime } from '../../../config/runtime.ts'
import { keyedHash } from '../../../lib/secrets/keyed-hash.ts'
import { sameHash } from '../../../lib/secrets/token.ts'
import { sleep } from '../../../lib/time/clock.ts'
import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import { firstPlan } from '../../../plans/plans.ts'
import type { KeyChanges, MadeKey } from '../../keys/service/key-changes.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { Mail } from '../../messages/service/mail.ts'
import type { NewAuditEntry } from '../../operator/store/audit.ts'
import type { OrganizationStore } from '../store/organizations.ts'
import type { SignIn } from './sign-in.ts'
import { createSignInAttempts } from './sign-in-attempts.ts'
import { signUpMessage } from './sign-in-messages.ts'

/**
 * The policy of sign-up: closed, invited users, or open to all. `company`: accounts are made by
 * signing in at the identity provider.
 */
export type SignUpMode = 'closed' | 'company' | 'invite' | 'open'

export type SignUpRefusal =
  | { refused: 'closed' | 'company' | 'invite' }
  | { refused: 'limited'; waitMs: number }
  | { refused: 'invalid' | 'taken' }

export interface SignedUp {
  account: AccountState
  key: MadeKey
  /** Signs in once. */
  linkToken: string
}

/** Sign-up by anonymous visitors, where the operator allows it. */
export type SignUp = ReturnType<typeof createSignUp>

export interface SignUpDeps extends Pick<Runtime, 'ids' | 'log' | 'clock'> {
  mode: SignUpMode
  serviceName: string
  masterKey: string
  keys: Keyring
  keyChanges: KeyChanges
  organizationStore: Pick<OrganizationStore, 'holderOf'>
  mail: Pick<Mail, 'post'>
  signIn: Pick<SignIn, 'mailLink' | 'makeLink'>
  audit: { note(entry: NewAuditEntry): void }
}

const linkMs = dayMs
const invitationMs = 7 * dayMs
/**
 * E-mails per hour to one address, requested by one client, and to all unverified recipients
 * together.
 */
const perAddressMax = 2
const perClientMax = 5
const mailMessagesMax = 300
const hashBytes = 32

export const signUpUrl = (baseUrl: string, token: string): string =>
  `${baseUrl}/signup?token=${token}`

export function createSignUp(deps: SignUpDeps) {
  const { mode, keys, mail, ids, clock, masterKey, log } = deps
  const { monotonic } = clock
  const limits = [
    { tries: createSignInAttempts(perClientMax, hourMs, monotonic), of: 'client' },
    { tries: createSignInAttempts(perAddressMax, hourMs, monotonic), of: 'address' },
    { tries: createSignInAttempts(mailMessagesMax, hourMs, monotonic), of: 'all' },
  ] as const
  let pendingMail = Promise.resolve()

  // No row is stored for an address that has not been confirmed: the link holds all of the data.
  const tokenFor = (email: string, expiresAt: number): string => {
    const text = `${expiresAt} ${email}`
    const mark = keyedHash(masterKey, 'sign-up links', text)
    return Buffer.concat([mark, Buffer.from(text)]).toString('base64url')
  }
  /** The address that a link would create an account for; this does not use the link up. */
  const addressOf = (token: string): string | undefined => {
    const bytes = Buffer.from(token, 'base64url')
    const text = bytes.subarray(hashBytes).toString()
    const mark = new Uint8Array(bytes.subarray(0, hashBytes))
    if (mark.length < hashBytes || !sameHash(mark, keyedHash(masterKey, 'sign-up links', text)))
      return undefined
    const end = text.indexOf(' ')
    return clock.now() < Number(text.slice(0, end)) ? text.slice(end + 1) : undefined
  }

  const isTaken = (email: string): boolean =>
    keys.accountByEmail(email) !== undefined || deps.organizationStore.holderOf(email) !== undefined

  const post = (email: string, baseUrl: string, lifetimeMs: number, isInvited: boolean) => {
    const url = signUpUrl(baseUrl, tokenFor(email, clock.now() + lifetimeMs))
    mail.post({
      ...signUpMessage(deps.serviceName, url, lifetimeMs, isInvited),
      to: email,
      accountId: null,
      dedupe: `sign-up:${ids.uuid()}`,
      confidential: true,
    })
  }

  const refusalOf = (email: string, from: string): SignUpRefusal | undefined => {
    if (mode !== 'open') return { refused: mode }
    const names = { client: from, address: email, all: '' }
    for (const { tries, of } of limits) {
      const attempt = tries.take(names[of])
      if (attempt.waitMs !== undefined) return { refused: 'limited', waitMs: attempt.waitMs }
    }
    return undefined
  }

  return {
    mode,
    addressOf,
    /**
     * Sends a link to the address. An address that has an account gets a link to sign in, so that
     * the response does not reveal it. `from` is the group of the address of the client.
     */
    request(written: string, baseUrl: string, from: string) {
      const email = written.toLowerCase()
      const refusal = refusalOf(email, from)
      if (refusal) return refusal
      if (isTaken(email)) {
        deps.signIn.mailLink(email, baseUrl)
        return undefined
      }
      // The answer does not wait for the e-mail, as it does not for one to sign in.
      pendingMail = pendingMail
        .then(() => sleep(0))
        .then(() => post(email, baseUrl, linkMs, false))
        .catch(error => log.error('sign_up_email_failed', { error }))
      return undefined
    },
    /**
     * Sends the operator's invitation, which is valid for a week; refused where sign-up is closed.
     */
    invite(written: string, baseUrl: string): SignUpRefusal | { expiresAt: number } {
      const email = written.toLowerCase()
      if (mode === 'closed' || mode === 'company') return { refused: mode }
      if (isTaken(email)) return { refused: 'taken' }
      post(email, baseUrl, invitationMs, true)
      return { expiresAt: clock.now() + invitationMs }
    },
    /** Makes the account of a link, on the free plan, with its address confirmed. */
    confirm(token: string, from: string): SignUpRefusal | SignedUp {
      const email = addressOf(token)
      if (mode === 'closed' || mode === 'company') return { refused: mode }
      if (email === undefined) return { refused: 'invalid' }
      const created = isTaken(email)
        ? undefined
        : deps.keyChanges.createAccount({ email, plan: firstPlan, emailConfirmed: true })
      if (!created) return { refused: 'taken' }
      const { id } = created.account.account
      log.info('signed_up', { account: id, from })
      deps.audit.note({
        actor: `person ${id}`,
        accountId: id,
        action: 'sign up',
        thing: `account ${id}`,
        place: from,
        outcome: 'done',
      })
      return { ...created, linkToken: deps.signIn.makeLink(created.account) }
    },
    /** Resolves when the e-mails requested so far are in the outbox. */
    settled: () => pendingMail,
  }
}
