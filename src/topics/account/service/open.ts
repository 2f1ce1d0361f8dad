import type { Runtime } from '../../../config/runtime.ts'
import type { KeyChanges } from '../../keys/service/key-changes.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type { Mail } from '../../messages/service/mail.ts'
import type { NewAuditEntry } from '../../operator/store/audit.ts'
import type { OrganizationStore } from '../store/organizations.ts'
import { createPasswordStore } from '../store/passwords.ts'
import { createSecondFactorStore } from '../store/second-factors.ts'
import { createSessionStore } from '../store/sessions.ts'
import { createSignInLinkStore } from '../store/sign-in-links.ts'
import { createImpersonations, type Impersonations } from './impersonations.ts'
import { createOrganizations, type Organizations } from './organizations.ts'
import { createPasswordHashes } from './password-hashes.ts'
import { createSecondFactor, type SecondFactor } from './second-factor.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { createSignIn, type SignIn } from './sign-in.ts'
import { createSignInPlaces, type SignInPlaces } from './sign-in-places.ts'
import { createSignUp, type SignUp } from './sign-up.ts'

/** People: how they sign in, and the organizations they belong to. */
export interface AccountServices {
  sessions: Sessions
  /** Operators who see what an account sees. */
  impersonations: Impersonations
  secondFactor: SecondFactor
  signIn: SignIn
  /** How strangers come to an account. */
  signUp: SignUp
  organizations: Organizations
  /** From where people signed in for the first time. */
  signInPlaces: SignInPlaces
}

export interface AccountServicesDeps extends Runtime {
  keys: Keyring
  keyChanges: KeyChanges
  vault: Vault
  mail: Mail
  organizationStore: OrganizationStore
  audit: { note(entry: NewAuditEntry): void; signInPlaces(accountId: string): string[] }
}

export function openAccounts(deps: AccountServicesDeps): AccountServices {
  const { db, config, organizationStore, clock, sessionClock = clock } = deps
  const { serviceName } = config.brand
  const sessions = createSessions({
    ...deps,
    clock: sessionClock,
    store: createSessionStore(db),
    lifetimes: { tokenMs: config.sessions.lifetimeMs, signInMs: config.sessions.signInMaxMs },
  })
  const secondFactor = createSecondFactor({
    ...deps,
    store: createSecondFactorStore(db),
    serviceName,
  })
  const signInPlaces = createSignInPlaces(deps)
  const signIn = createSignIn({
    ...deps,
    sessions,
    secondFactor,
    places: signInPlaces,
    links: createSignInLinkStore(db),
    passwords: createPasswordStore(db),
    hashes: createPasswordHashes(),
    serviceName,
    linkLifetimeMs: config.sessions.linkLifetimeMs,
  })
  return {
    sessions,
    impersonations: createImpersonations({ ...deps, clock: sessionClock }),
    secondFactor,
    signInPlaces,
    signIn,
    signUp: createSignUp({ ...deps, signIn, mode: config.accounts.signup, serviceName }),
    organizations: createOrganizations({ ...deps, store: organizationStore, serviceName }),
  }
}
