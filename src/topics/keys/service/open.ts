import type { Runtime } from '../../../config/runtime.ts'
import type { Limits } from '../../../plans/limits.ts'
import type { Plans } from '../../../plans/plans.ts'
import {
  createOrganizationStore,
  type OrganizationStore,
} from '../../account/store/organizations.ts'
import { createAccountStore } from '../store/accounts.ts'
import { createApiKeyStore } from '../store/api-keys.ts'
import { type CreditStore, createCreditStore } from '../store/credits.ts'
import { createUsageStore } from '../store/usage.ts'
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
