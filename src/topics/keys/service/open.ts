import type { Runtime } from '../../../config/runtime.ts'
import { createOrganizationStore } from '../../account/store/organizations.ts'
import { createAccountStore } from '../store/accounts.ts'
import { createApiKeyStore } from '../store/api-keys.ts'
import { createCreditStore } from '../store/credits.ts'
import { createUsageStore } from '../store/usage.ts'
import { configuredLimits, configuredPlans } from './configured-plans.ts'
import { createCredits } from './credits.ts'
import { createKeyChanges } from './key-changes.ts'
import { createKeyring } from './keyring.ts'
import { createMeter } from './meter.ts'
import { createVault } from './vault.ts'

/** Keys, plans, quotas and usage. */
export type KeyServices = ReturnType<typeof openKeys>

export function openKeys({ db, config, clock, ids, masterKey }: Runtime) {
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
  /** Bought requests. */
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
      // With other instances a quota must hold whichever process crashes.
      config.nats.servers.length > 0,
    ),
    credits,
    creditStore,
    organizationStore,
    vault: createVault(masterKey),
  }
}
