import type { Ids } from '../../../lib/ids.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type { AccountSecretStore } from '../store/account-secrets.ts'
import { newWebhookSecret } from './endpoint-secrets.ts'

export interface OpenSecret {
  secret: string
  createdAt: number
}

/** The secrets that sign events of an account to target URLs outside of its endpoints. */
export type AccountSecrets = ReturnType<typeof createAccountSecrets>

/** The context that the vault seals it with. */
export const contextOf = (accountId: string) => `webhook account ${accountId}`

export function createAccountSecrets({
  store,
  vault,
  clock,
  ids,
}: {
  ids: Ids
  store: AccountSecretStore
  vault: Vault
  clock: Clock
}) {
  const openSecrets = new Map<string, OpenSecret>()
  /** The old one signs nothing from now on. */
  const roll = (accountId: string): OpenSecret => {
    const rolled = { secret: newWebhookSecret(ids), createdAt: clock.now() }
    store.put({
      accountId,
      secret: vault.seal(contextOf(accountId), rolled.secret),
      createdAt: rolled.createdAt,
    })
    openSecrets.set(accountId, rolled)
    return rolled
  }
  return {
    /** Created at the first call for an account. */
    current(accountId: string) {
      const remembered = openSecrets.get(accountId)
      if (remembered) return remembered
      const stored = store.of(accountId)
      if (!stored) return roll(accountId)
      const opened = {
        secret: vault.open(contextOf(accountId), stored.secret),
        createdAt: stored.createdAt,
      }
      openSecrets.set(accountId, opened)
      return opened
    },
    roll,
  }
}
