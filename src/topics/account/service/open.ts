import { readFileSync } from 'node:fs'
import type { Config } from '../../../config/config.ts'
import type { Runtime } from '../../../config/runtime.ts'
import { createAskProvider } from '../../../send/sign-in/provider-http.ts'
import type { KeyChanges } from '../../keys/service/key-changes.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type { Mail } from '../../messages/service/mail.ts'
import type { NewAuditEntry } from '../../operator/store/audit.ts'
import type { Settings } from '../../operator/store/settings.ts'
import { createDisplayPreferenceStore } from '../store/display-preferences.ts'
import { createIdentityStore } from '../store/identities.ts'
import type { OrganizationStore } from '../store/organizations.ts'
import { createPasswordStore } from '../store/passwords.ts'
import { createSecondFactorStore } from '../store/second-factors.ts'
import { createSessionStore } from '../store/sessions.ts'
import { createSignInLinkStore } from '../store/sign-in-links.ts'
import { createCompany } from './company.ts'
import { createImpersonations } from './impersonations.ts'
import { createOrganizations } from './organizations.ts'
import { createPasswordHashes } from './password-hashes.ts'
import { createProvider } from './provider.ts'
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
  settings: Settings
  isSubscribed(accountId: string): boolean
  audit: { note(entry: NewAuditEntry): void; signInPlaces(accountId: string): string[] }
}

export const clientOf = ({ issuer, clientId, clientSecretFile, audience }: Config['oidc']) => ({
  issuer,
  clientId,
  clientSecret: clientSecretFile === '' ? '' : readFileSync(clientSecretFile, 'utf8').trim(),
  audience,
})

export function openAccounts(deps: AccountServicesDeps) {
  const { db, config, organizationStore, clock, sessionClock = clock } = deps
  const { serviceName } = config.brand
  const hasProvider = config.oidc.issuer !== ''
  const sessionStore = createSessionStore(db)
  const sessions = createSessions({
    ...deps,
    clock: sessionClock,
    store: sessionStore,
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
    onlyProvider: hasProvider && config.oidc.only,
  })
  const organizations = createOrganizations({ ...deps, store: organizationStore, serviceName })
  return {
    /** Sign-in at the company's identity provider; undefined: there is none. */
    company: hasProvider
      ? createCompany({
          ...deps,
          clock: sessionClock,
          provider: createProvider({
            ...deps,
            clock: sessionClock,
            client: clientOf(config.oidc),
            ask: createAskProvider(sessionClock),
          }),
          identities: createIdentityStore(db),
          sessionStore,
          organizations,
          signIn,
        })
      : undefined,
    sessions,
    /** Operators who see what an account sees. */
    impersonations: createImpersonations({ ...deps, clock: sessionClock }),
    secondFactor,
    signInPlaces,
    signIn,
    /** Sign-up by anonymous visitors. */
    signUp: createSignUp({
      ...deps,
      signIn,
      mode: hasProvider && config.oidc.only ? 'company' : config.accounts.signup,
      serviceName,
    }),
    organizations,
    displayPreferences: createDisplayPreferenceStore(db),
  }
}
