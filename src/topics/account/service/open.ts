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
import { createImpersonations } from './impersonations.ts'
import { createOrganizations } from './organizations.ts'
import { createPasswordHashes } from './password-hashes.ts'
import { createSecondFactor } from './second-factor.ts'
import { createSessions } from './sessions.ts'
import { createSignIn } from './sign-in.ts'
import { createSignInPlaces } from './sign-in-places.ts'
import { createSignUp } from './sign-up.ts'

/** People: how they sign in, and the organizations they belong to. */
export type AccountServices = ReturnType<typeof openAccounts>

export interface AccountServicesDeps extends Runtime {
  keys: Keyring
  keyChanges: KeyChanges
  vault: Vault
  mail: Mail
  organizationStore: OrganizationStore
  audit: { note(entry: NewAuditEntry): void; signInPlaces(accountId: string): string[] }
}

export function openAccounts(deps: AccountServicesDeps) {
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
  /** From where people signed in for the first time. */
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
    /** Operators who see what an account sees. */
    impersonations: createImpersonations({ ...deps, clock: sessionClock }),
    secondFactor,
    signInPlaces,
    signIn,
    /** How strangers come to an account. */
    signUp: createSignUp({ ...deps, signIn, mode: config.accounts.signup, serviceName }),
    organizations: createOrganizations({ ...deps, store: organizationStore, serviceName }),
  }
}
