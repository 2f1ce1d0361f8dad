import type { SealedKind, SecretCheckStore } from '../../store/operator/secret-check.ts'
import type { Vault } from '../keys/vault.ts'
import { contextOf as sourceContext } from '../sources/sources.ts'
import { contextOf as accountContext } from '../webhooks/account-secrets.ts'
import { contextOf as webhookContext } from '../webhooks/webhooks.ts'

const contexts: Readonly<Record<SealedKind, (id: string) => string>> = {
  webhook: webhookContext,
  account: accountContext,
  source: sourceContext,
}

/** Whether a vault opens what a database holds: of each kind the newest text is tried. */
export const opensAll = (vault: Vault, store: Pick<SecretCheckStore, 'sealedSamples'>): boolean =>
  store.sealedSamples().every(({ kind, id, sealed }) => {
    try {
      vault.open(contexts[kind](id), sealed)
      return true
    } catch {
      return false
    }
  })
