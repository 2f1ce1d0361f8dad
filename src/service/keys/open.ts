import type { Limits } from '../../plan/limits.ts'
import type { Plans } from '../../plan/plans.ts'
import type { Runtime } from '../../runtime.ts'
import {
  createOrganizationStore,
  type OrganizationStore,
} from '../../store/account/organizations.ts'
import { createAccountStore } from '../../store/keys/accounts.ts'
import { createApiKeyStore } from '../../store/keys/api-keys.ts'
import { type CreditStore, createCreditStore } from '../../store/keys/credits.ts'
import { createUsageStore } from '../../store/keys/usage.ts'
import { configuredLimits, configuredPlans } from './configured-plans.ts'
import { type Credits, createCredits } from './credits.ts'
import { createKeyChanges, type KeyChanges } from './key-changes.ts'
import { createKeyring, type Keyring } from './keyring.ts'
import { createMeter, type Meter } from './meter.ts'
import { createVault, type Vault } from './vault.ts'

/** Who may ask for what, and how much of it. */
export interface KeyServices {
  plans: Plans
  limits: Limits
  keys: Keyring
  keyChanges: KeyChanges
  meter: Meter
  /** Bought requests. */
  credits: Credits
  creditStore: CreditStore
  organizationStore: OrganizationStore
  vault: Vault
}

export function openKeys({ db, config, clock, ids, masterKey }: Runtime): KeyServices {
  const limits = configuredLimits(config)
  const plans = configuredPlans(config, limits)
  const organizationStore = createOrganizationStore(db)
  const keys = createKeyring(
    {
      accounts: createAccountStore(db),
      keys: createApiKeyStore(db),
      memberships: organizationStore,
    },
    plans,
    clock,
    ids,
  )
  const creditStore = createCreditStore(db)
  const credits = createCredits(creditStore, clock)
  return {
    plans,
    limits,
    keys,
    keyChanges: createKeyChanges({ db, keys, limits, clock, ids }),
    meter: createMeter(
      createUsageStore(db),
      keys,
      clock,
      config.quota.scope,
      credits,
      // Beside other copies a quota must hold whatever dies.
      config.nats.servers.length > 0,
    ),
    credits,
    creditStore,
    organizationStore,
    vault: createVault(masterKey),
  }
}
