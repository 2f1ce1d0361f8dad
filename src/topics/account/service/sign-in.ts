import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { isToken, tokenHash } from '../../../lib/secrets/token.ts'
import { sleep } from '../../../lib/time/clock.ts'
import { dayMs, hourMs, minuteMs } from '../../../lib/time/instant.ts'
import { passwordFault } from '../../../plans/password.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { Mail } from '../../messages/service/mail.ts'
import type { NewAuditEntry } from '../../operator/store/audit.ts'
import type { PasswordStore } from '../store/passwords.ts'
import type { Session, SignInMethod } from '../store/sessions.ts'
import type { SignInLinkStore } from '../store/sign-in-links.ts'
import type { PasswordHashes } from './password-hashes.ts'
import type { CodeRefusal, SecondFactor } from './second-factor.ts'
import type { Sessions, SignedIn } from './sessions.ts'
import { createSignInAttempts } from './sign-in-attempts.ts'
import { signInLinkMessage } from './sign-in-messages.ts'
import type { SignInPlaces } from './sign-in-places.ts'
import { createTwoFactorSteps, type TwoFactorSteps } from './two-factor-steps.ts'

/**
 * `locked`: too many failed attempts; with the time until the next one is accepted. `provider`:
 * users sign in at the identity provider only.
 */
export type SignInRefusal =
  | { refused: 'invalid' }
  | { refused: 'provider' }
  | { refused: 'locked'; waitMs: number }

/** The first factor was right, and the account requires a code: `withCode` takes both. */
export interface TwoFactorStep {
  twoFactorStep: string
}

/** Sign-in by password or by one-time link. */
export interface SignIn {
  /**
   * `from` is the group of the client's address. An unknown address is refused like a wrong
   * password, in the same time.
   */
  withPassword(
    email: string,
    password: string,
    from: string,
  ): Promise<SignedIn | TwoFactorStep | SignInRefusal>
  /** Uses the link up. */
  withLink(token: string, from: string): Promise<SignedIn | TwoFactorStep | SignInRefusal>
  /** Completes two-factor authentication, within five minutes of the password or link. */
  withCode(
    twoFactorStep: string,
    code: string,
    from: string,
  ): Promise<SignedIn | SignInRefusal | CodeRefusal>
  /** Whether a two-factor code is still expected. */
  isTwoFactorPending(twoFactorStep: string): boolean
  /** The account that a link would sign in; this does not use the link up. */
  linked(token: string): AccountState | undefined
  /** For a user who has proved by other means that they own the account's address. */
  asOwner(account: AccountState, from: string): Promise<SignedIn>
  /**
   * For a user whom the company's identity provider has authenticated; `also` is written with the
   * session.
   */
  withProvider(
    account: AccountState,
    from: string,
    also: (session: Session) => void,
  ): Promise<SignedIn>
  /** A one-time link's token, which is nowhere at rest. */
  makeLink(account: AccountState, options?: { lifetimeMs?: number; mailed?: boolean }): string
  /**
   * Mails a link if the address has an account. It returns at once either way, so that the time
   * does not reveal which. `next`: the path of this site to continue at.
   */
  mailLink(email: string, baseUrl: string, next?: string): SignInRefusal | undefined
  /** Resolves when the e-mails requested so far are in the outbox. */
  settled(): Promise<void>
  /** Whether a change of the password requires the current one. */
  needsPassword(account: AccountState, session: Session): boolean
  /** Sets a password and ends all other sign-ins. `fault` ends a sentence about the new one. */
  changePassword(
    account: AccountState,
    change: { password: string; current: string; session: Session; from: string },
  ): Promise<SignInRefusal | { fault: string } | undefined>
  /** The operator's: without the old one, and every sign-in ends. */
  setPassword(account: AccountState, password: string): Promise<{ fault: string } | undefined>
}

export interface SignInDeps extends Pick<Runtime, 'db' | 'ids' | 'log' | 'clock'> {
  keys: Keyring
  sessions: Sessions
  secondFactor: Pick<SecondFactor, 'isOn' | 'use'>
  links: SignInLinkStore
  passwords: PasswordStore
  hashes: PasswordHashes
  mail: Pick<Mail, 'post'>
  /** The audit trail. */
  audit: { note(entry: NewAuditEntry): void }
  serviceName: string
  linkLifetimeMs: number
  /**
   * Users sign in at the identity provider; the only other way is a link that the operator makes.
   */
  onlyProvider: boolean
  places: Pick<SignInPlaces, 'note'>
}

const triesMax = 5
const triesWindowMs = 15 * minuteMs
/** E-mails with a link to one account in the same time. */
const mailMessagesMax = 3
/**
 * For so long after a sign-in by link the old password is not required: users who have forgotten it
 * need this.
 */
const freshLinkMs = hourMs

/** No address is longer. */
const addressCharacters = 320

const invalid = { refused: 'invalid' } as const
const atProvider = { refused: 'provider' } as const

/**
 * The page of a link. It requires a click on its button, so that a mail scanner that opens links
 * does not use them up.
 */
/** How long a link is valid that a person reads and hands over; a mailed one arrives at once. */
export const handedLinkMs = hourMs

export const linkUrl = (baseUrl: string, token: string, next?: string): string =>
  `${baseUrl}/sign-in?token=${token}${next === undefined ? '' : `&next=${encodeURIComponent(next)}`}`

export function createSignIn(deps: SignInDeps): SignIn {
  const steps = createTwoFactorSteps(deps.ids.token, deps.clock.monotonic)
  const half: TwoFactorPending = ({ account }, method) =>
    deps.secondFactor.isOn(account.id)
      ? { twoFactorStep: steps.begin({ accountId: account.id, method }) }
      : undefined
  return audited(
    deps,
    { ...withPasswords(deps, half), ...withLinks(deps, half), ...withCodes(deps, steps) },
    steps,
  )
}

/**
 * Creates the pending two-factor step of a user who has given the first factor; undefined where one
 * factor is enough.
 */
type TwoFactorPending = (account: AccountState, method: SignInMethod) => TwoFactorStep | undefined

type UnauditedSignIn = Omit<SignIn, 'withLink' | 'asOwner' | 'withCode' | 'withProvider'> & {
  withLink(token: string): ReturnType<SignIn['withLink']>
  asOwner(account: AccountState): ReturnType<SignIn['asOwner']>
  withProvider(
    account: AccountState,
    also: (session: Session) => void,
  ): ReturnType<SignIn['withProvider']>
  withCode(twoFactorStep: string, code: string): ReturnType<SignIn['withCode']>
}

/** The code of an authenticator, or one for recovery, after the first proof. */
function withCodes(
  { db, keys, sessions, secondFactor }: SignInDeps,
  steps: TwoFactorSteps,
): Pick<UnauditedSignIn, 'withCode' | 'isTwoFactorPending'> {
  return {
    isTwoFactorPending: twoFactorStep => steps.find(twoFactorStep) !== undefined,
    async withCode(twoFactorStep, code) {
      const half = steps.find(twoFactorStep)
      const account = half && keys.account(half.accountId)
      if (!half || !account) return invalid
      const refusal = secondFactor.use(half.accountId, code)
      if (refusal) return refusal
      steps.end(twoFactorStep)
      const signedIn = await sessions.issue(account, half.method)
      transact(db, () => sessions.write(signedIn.session))
      return signedIn
    },
  }
}

/** Writes every sign-in to the audit trail, and every refused one of an existing account. */
function audited(
  { audit, keys, places, log }: SignInDeps,
  signIn: UnauditedSignIn,
  steps: TwoFactorSteps,
): SignIn {
  const note = (
    account: AccountState,
    outcome: SignedIn | TwoFactorStep | SignInRefusal | CodeRefusal,
    how: string,
    place: string,
  ) => {
    const { id } = account.account
    const refused = 'refused' in outcome
    if ('session' in outcome) {
      places.note(id, place)
      log.info('signed_in', { account: id, method: outcome.session.method, from: place })
    }
    audit.note({
      // The user of a failed sign-in is unknown.
      actor: refused ? 'anonymous' : `person ${id}`,
      accountId: id,
      action: `sign in with ${how}`,
      thing: `account ${id}`,
      place,
      outcome: refused
        ? outcome.refused
        : 'twoFactorStep' in outcome
          ? 'two-factor code required'
          : 'done',
    })
  }
  return {
    ...signIn,
    async withPassword(email, password, from) {
      const outcome = await signIn.withPassword(email, password, from)
      const account = keys.accountByEmail(email.toLowerCase())
      if (account) note(account, outcome, 'a password', from)
      return outcome
    },
    async withLink(token, from) {
      const account = signIn.linked(token)
      const outcome = await signIn.withLink(token)
      if (account) note(account, outcome, 'a link', from)
      return outcome
    },
    async withCode(twoFactorStep, code, from) {
      const half = steps.find(twoFactorStep)
      const account = half && keys.account(half.accountId)
      const outcome = await signIn.withCode(twoFactorStep, code)
      if (account) note(account, outcome, 'a code', from)
      return outcome
    },
    async asOwner(account, from) {
      const signedIn = await signIn.asOwner(account)
      note(account, signedIn, 'an invitation', from)
      return signedIn
    },
    async withProvider(account, from, also) {
      const signedIn = await signIn.withProvider(account, also)
      note(account, signedIn, 'the identity provider', from)
      return signedIn
    },
  }
}

function withPasswords(
  { db, keys, sessions, passwords, hashes, clock, onlyProvider }: SignInDeps,
  half: TwoFactorPending,
) {
  const tries = createSignInAttempts(triesMax, triesWindowMs, clock.monotonic)

  /** Takes as long for an account that is not there, or has no password. */
  const proved = async (
    account: AccountState | undefined,
    password: string,
    name: string,
  ): Promise<true | SignInRefusal> => {
    const attempt = tries.take(name)
    if (attempt.waitMs !== undefined) return { refused: 'locked', waitMs: attempt.waitMs }
    if (!(await hashes.matches(password, account && passwords.of(account.account.id))))
      return invalid
    attempt.forgive()
    return true
  }
  // Shortened, because anonymous clients choose the text and each attempt is remembered.
  const tryName = (email: string, from: string) => `${from} ${email.slice(0, addressCharacters)}`

  const set = async (account: AccountState, password: string, except?: Session) => {
    const { id, email } = account.account
    const fault = passwordFault(password, email)
    if (fault !== undefined) return { fault }
    const hash = await hashes.hash(password)
    transact(db, () => {
      passwords.put(id, hash, clock.now())
      sessions.endAll(id, except)
    })
    return undefined
  }

  const needsPassword: SignIn['needsPassword'] = ({ account }, { method, begunAt }) =>
    passwords.of(account.id) !== undefined &&
    !(method === 'link' && clock.now() - begunAt < freshLinkMs)

  return {
    needsPassword,
    async withPassword(
      email: string,
      password: string,
      from: string,
    ): Promise<SignedIn | TwoFactorStep | SignInRefusal> {
      if (onlyProvider) return atProvider
      const address = email.toLowerCase()
      const account = keys.accountByEmail(address)
      const proof = await proved(account, password, tryName(address, from))
      if (proof !== true) return proof
      const step = half(account!, 'password')
      if (step) return step
      const signedIn = await sessions.issue(account!, 'password')
      transact(db, () => sessions.write(signedIn.session))
      return signedIn
    },
    changePassword: (async (account, { password, current, session, from }) => {
      if (needsPassword(account, session)) {
        const proof = await proved(account, current, tryName(account.account.email, from))
        if (proof !== true) return proof
      }
      return set(account, password, session)
    }) satisfies SignIn['changePassword'],
    setPassword: (account: AccountState, password: string) => set(account, password),
  }
}

function withLinks(
  {
    db,
    keys,
    sessions,
    links,
    mail,
    clock,
    ids,
    log,
    serviceName,
    linkLifetimeMs,
    onlyProvider,
  }: SignInDeps,
  half: TwoFactorPending,
) {
  let pendingMail = Promise.resolve()

  const confirm = (state: AccountState) => {
    const { account } = state
    if (account.emailConfirmedAt === null)
      keys.putAccount({ ...account, emailConfirmedAt: clock.now() })
  }

  const makeLink: SignIn['makeLink'] = (
    { account },
    { lifetimeMs = linkLifetimeMs, mailed = false } = {},
  ) => {
    const token = ids.token()
    const now = clock.now()
    links.forget(now - dayMs)
    links.put({
      tokenHash: tokenHash(token),
      accountId: account.id,
      mailed,
      createdAt: now,
      expiresAt: now + lifetimeMs,
      usedAt: null,
    })
    return token
  }

  const sendLink = (email: string, baseUrl: string, next: string | undefined) => {
    const account = keys.accountByEmail(email)
    const now = clock.now()
    // Limits e-mails, so that no one can fill the mailbox of an address.
    if (!account || links.mailedSince(account.account.id, now - triesWindowMs) >= mailMessagesMax)
      return
    transact(db, () => {
      const token = makeLink(account, { mailed: true })
      const mailMessage = signInLinkMessage(
        serviceName,
        linkUrl(baseUrl, token, next),
        Math.round(linkLifetimeMs / minuteMs),
      )
      const { id, email: to } = account.account
      mail.post({
        ...mailMessage,
        to,
        accountId: id,
        dedupe: `sign-in:${ids.uuid()}`,
        confidential: true,
      })
    })
  }

  const usable = (token: string) =>
    isToken(token) ? links.usable(tokenHash(token), clock.now()) : undefined

  return {
    makeLink,
    linked(token: string) {
      const link = usable(token)
      return link && keys.account(link.accountId)
    },
    async withLink(token: string): Promise<SignedIn | TwoFactorStep | SignInRefusal> {
      const link = usable(token)
      const account = link && keys.account(link.accountId)
      if (!link || !account) return invalid
      const step = half(account, 'link')
      if (step) {
        if (!links.use(link.tokenHash, clock.now())) return invalid
        if (link.mailed) confirm(account)
        return step
      }
      const signedIn = await sessions.issue(account, 'link')
      const used = transact(db, () => {
        if (!links.use(link.tokenHash, clock.now())) return false
        sessions.write(signedIn.session)
        return true
      })
      if (!used) return invalid
      if (link.mailed) confirm(account)
      return signedIn
    },
    async asOwner(account: AccountState): Promise<SignedIn> {
      const signedIn = await sessions.issue(account, 'link')
      transact(db, () => sessions.write(signedIn.session))
      confirm(account)
      return signedIn
    },
    async withProvider(account: AccountState, also: (session: Session) => void): Promise<SignedIn> {
      const signedIn = await sessions.issue(account, 'provider')
      transact(db, () => {
        sessions.write(signedIn.session)
        also(signedIn.session)
      })
      return signedIn
    },
    mailLink(email: string, baseUrl: string, next?: string) {
      if (onlyProvider) return atProvider
      pendingMail = pendingMail
        .then(() => sleep(0))
        .then(() => sendLink(email.toLowerCase(), baseUrl, next))
        .catch(error => log.error('sign_in_email_failed', { error }))
      return undefined
    },
    settled: () => pendingMail,
  }
}
