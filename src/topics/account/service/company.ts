import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import type { Ids } from '../../../lib/ids.ts'
import { tokenName } from '../../../lib/secrets/token.ts'
import { withCertificateAdvice } from '../../../lib/text/certificate-advice.ts'
import { errorMessage } from '../../../lib/text/error-message.ts'
import { minuteMs, secondMs } from '../../../lib/time/instant.ts'
import { companyRightsOf, groupsOf } from '../../../plans/roles/company-roles.ts'
import type { KeyChanges } from '../../keys/service/key-changes.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { Settings } from '../../operator/store/settings.ts'
import type { Identity, IdentityStore } from '../store/identities.ts'
import type { OrganizationStore } from '../store/organizations.ts'
import type { Session, SessionStore } from '../store/sessions.ts'
import type { JoinRefusal, Organizations } from './organizations.ts'
import type { Provider, ProviderAttempt, ProviderClaims } from './provider.ts'
import type { SignedIn } from './sessions.ts'
import type { SignIn } from './sign-in.ts'

/** Signing in at the company's identity provider. */
export type Company = ReturnType<typeof createCompany>

export interface CompanyDeps extends Pick<Runtime, 'db' | 'config' | 'clock' | 'log'> {
  provider: Provider
  identities: IdentityStore
  sessionStore: SessionStore
  organizationStore: Pick<OrganizationStore, 'holderOf'>
  settings: Settings
  keys: Keyring
  keyChanges: Pick<KeyChanges, 'addPerson' | 'changeAccount'>
  organizations: Pick<Organizations, 'placeIn'>
  /** Whether a subscription continues: its plan is what the account pays for. */
  isSubscribed(accountId: string): boolean
  signIn: Pick<SignIn, 'withProvider'>
  ids: Pick<Ids, 'token'>
}

/** Why the provider's word is not enough; the text is for the person. */
export interface CompanyRefusal {
  refused: string
}

/** A sign-in that succeeded; `apart`: why the account stays outside of the organization. */
export interface CompanySignIn {
  signedIn: SignedIn
  next: string | undefined
  apart: string | undefined
}

/** What the provider sends a person back with, and the mark of the browser. */
type Returned = Record<'state' | 'code' | 'iss' | 'browser', string | undefined>

interface WaitingAttempt extends ProviderAttempt {
  /** The browser that began the attempt; the response counts for no other one. */
  browser: string
  next: string | undefined
  endsAt: number
}

const attemptMs = 10 * minuteMs
/** Anybody may begin a sign-in, so that the oldest make way. */
const attemptsMax = 10_000
const logoutTokensMax = 10_000
/** Which organization people of the provider belong to. */
const organizationSetting = 'oidc.organization'

const reasonOf = (error: unknown): string => withCertificateAdvice(errorMessage(error))

export function createCompany(deps: CompanyDeps) {
  const { db, config, provider, identities, sessionStore, signIn, clock, ids, log } = deps
  const { keys, settings } = deps
  const attempts = new Map<string, WaitingAttempt>()
  const spentLogouts = new Map<string, number>()
  /** Sessions of verified access tokens, by request: the gate cannot wait for a signature. */
  const proved = new WeakMap<Request, Session>()
  const admit = createAdmission(deps)
  const { roleClaim, roles, plans } = config.oidc

  /** Ends the sign-ins of a session of the provider, or all of a person, and returns their number. */
  const endSignIns = (session: string | null, subject: string | null): number => {
    const families = identities.families(provider.issuer, session, subject)
    transact(db, () => {
      for (const familyId of families) sessionStore.endFamily(familyId, clock.now())
    })
    return families.length
  }

  const keepAttempt = (state: string, attempt: WaitingAttempt) => {
    dropUntil(attempts, attemptsMax - 1, ({ endsAt }) => endsAt <= clock.now())
    attempts.set(tokenName(state), attempt)
  }

  return {
    /** The address for signing in, and the cookie that the browser keeps until it returns. */
    async begin(redirectUri: string, next: string | undefined) {
      const [state, browser] = [ids.token(), ids.token()]
      const { url, attempt } = await provider.begin(redirectUri, state)
      keepAttempt(state, {
        ...attempt,
        next,
        browser: tokenName(browser),
        endsAt: clock.now() + attemptMs,
      })
      return { url, browser, lifetimeMs: attemptMs }
    },
    /** Completes a sign-in; the attempt ends, whatever the result. */
    async complete(
      { state, code, iss, browser }: Returned,
      from: string,
    ): Promise<CompanySignIn | CompanyRefusal> {
      const name = tokenName(state ?? '')
      const attempt = attempts.get(name)
      if (!attempt || attempt.endsAt <= clock.now() || attempt.browser !== tokenName(browser ?? ''))
        return { refused: 'This sign-in was not started in this browser or took too long.' }
      attempts.delete(name)
      if (code === undefined) return { refused: 'The identity provider did not sign you in.' }
      let claims: ProviderClaims
      try {
        claims = await provider.complete(attempt, code, iss)
      } catch (error) {
        log.warn('provider_sign_in_refused', {
          reason: reasonOf(error),
          from,
        })
        return { refused: 'The response of the identity provider could not be verified.' }
      }
      const admitted = admit(claims)
      if ('refused' in admitted) {
        // The provider no longer lets the person in, so earlier sign-ins must not outlast this.
        const sessions = endSignIns(null, claims.sub)
        log.warn('provider_sign_in_refused', { reason: admitted.refused, from, sessions })
        return admitted
      }
      const { account, apart } = admitted
      const session = typeof claims.sid === 'string' ? claims.sid : null
      const signedIn = await signIn.withProvider(account, from, ({ familyId }) =>
        identities.putSession(familyId, provider.issuer, claims.sub, session),
      )
      return { signedIn, next: attempt.next, apart }
    },
    /** Ends the sign-ins that a logout token names; false: the token proves nothing. */
    async logOut(token: string): Promise<boolean> {
      try {
        const { subject, session } = await provider.loggedOut(token)
        const now = clock.now()
        dropUntil(spentLogouts, logoutTokensMax - 1, endsAt => endsAt <= now)
        const name = tokenName(token)
        if (spentLogouts.has(name)) return false
        spentLogouts.set(name, now + attemptMs)
        log.info('provider_signed_out', { sessions: endSignIns(session, subject) })
        return true
      } catch (error) {
        log.warn('provider_sign_out_refused', {
          reason: reasonOf(error),
        })
        return false
      }
    },
    /** Checks the access token of a request, if it may be one of the provider. */
    async meet(request: Request, token: string): Promise<void> {
      try {
        const claims = await provider.accessed(token)
        const identity = identities.find(provider.issuer, claims.sub)
        // A token that lists groups must list one with a role, as at a sign-in.
        if (!identity || !companyRightsOf(groupsOf(claims, roleClaim), roles, plans)) return
        const beganAt = Number(claims.auth_time ?? claims.iat) * secondMs
        const id = `${provider.issuer} ${claims.sub}`
        proved.set(request, {
          id,
          familyId: id,
          accountId: identity.accountId,
          method: 'provider',
          begunAt: beganAt,
          createdAt: Number(claims.iat) * secondMs,
          expiresAt: claims.exp * secondMs,
          endedAt: null,
          replaced: false,
          isForeign: true,
        })
      } catch (error) {
        log.debug('provider_token_refused', { reason: reasonOf(error) })
      }
    },
    /** The user of the access token that came with a request. */
    personOf(request: Request) {
      const session = proved.get(request)
      const account = session && keys.account(session.accountId)
      return session && account && { key: keys.sessionKey(account), session }
    },
    isOperator: ({ accountId, method }: Pick<Session, 'accountId' | 'method'>): boolean =>
      method === 'provider' &&
      identities.ofAccount(provider.issuer, accountId)?.isOperator === true,
    isOnly: config.oidc.only,
    /** Accounts of its people that stay outside of the organization, and why. */
    apart(limit: number) {
      const organizationId = settings.get(organizationSetting)
      return organizationId === undefined
        ? []
        : identities.apart(provider.issuer, organizationId, limit)
    },
  }
}

/** Makes room: drops ended entries, then the oldest. */
function dropUntil<T>(map: Map<string, T>, size: number, hasEnded: (value: T) => boolean): void {
  for (const [name, value] of map) {
    if (map.size <= size && !hasEnded(value)) return
    map.delete(name)
  }
}

/** Why an account stays outside of the organization of the company, and how it joins. */
const apartBecause: Readonly<Record<JoinRefusal, (name: string) => string>> = {
  own_subscription: name =>
    `Your account is not part of the organization ${name}, because it has its own subscription, which would still be charged. To join, cancel the subscription under Account, Plan, and sign in again.`,
  already_member: name =>
    `Your account is not part of the organization ${name}, because it belongs to another organization. To join, leave that one, and sign in again.`,
}

/** Which account a person of the provider has, and with which rights; or why none. */
function createAdmission(deps: CompanyDeps) {
  const { db, config, provider, identities, organizationStore, settings, keys } = deps
  const { keyChanges, organizations } = deps
  const { roles, plans, roleClaim, domains, autoCreate } = config.oidc

  /** The e-mail address that the provider has verified; undefined: there is none. */
  const addressOf = ({ email, email_verified }: ProviderClaims): string | undefined => {
    if (typeof email !== 'string' || email_verified === false) return undefined
    const address = email.toLowerCase()
    const [domain = ''] = address.split('@').slice(1)
    // With configured domains, an address in them is accepted without the claim `email_verified`.
    if (domains.length > 0 ? !domains.includes(domain) : email_verified !== true) return undefined
    return /^[^\s@]+@[^\s@]+$/.test(address) ? address : undefined
  }

  const accountOf = (known: Identity | undefined, email: string): AccountState | CompanyRefusal => {
    const account = known ? keys.account(known.accountId) : keys.accountByEmail(email)
    if (account && !known && identities.ofAccount(provider.issuer, account.account.id))
      return { refused: 'The account of this e-mail address belongs to another person.' }
    if (account) return account
    if (known) return { refused: 'This account has been closed.' }
    if (organizationStore.holderOf(email) !== undefined)
      return { refused: 'This e-mail address belongs to another account.' }
    if (!autoCreate) return { refused: 'You have no account here. Ask the operator for one.' }
    return keyChanges.addPerson(email)
  }

  return (
    claims: ProviderClaims,
  ): { account: AccountState; apart: string | undefined } | CompanyRefusal => {
    const email = addressOf(claims)
    if (email === undefined)
      return { refused: 'The identity provider did not confirm an e-mail address of your company.' }
    const rights = companyRightsOf(groupsOf(claims, roleClaim), roles, plans)
    const known = identities.find(provider.issuer, claims.sub)
    if (!rights) {
      if (known) identities.put({ ...known, isOperator: false })
      return { refused: 'None of your groups has a role here. Ask the operator for one.' }
    }
    return transact(db, () => {
      const account = accountOf(known, email)
      if ('refused' in account) return account
      const { id } = account.account
      const { isOperator, role, plan } = rights
      identities.put({ issuer: provider.issuer, subject: claims.sub, accountId: id, isOperator })
      if (plan !== undefined && plan !== account.account.plan && !deps.isSubscribed(id))
        keyChanges.changeAccount(account, { plan })
      const earlier = settings.get(organizationSetting)
      const { organization, refused } = organizations.placeIn(earlier, account, role)
      if (organization) settings.set(organizationSetting, organization.id)
      return { account, apart: refused && apartBecause[refused](organization?.name ?? '') }
    })
  }
}
