import type { CheckupStore, SealedKind } from '../store/checkup.ts'
import { contextOf as accountContext } from './account-secrets.ts'
import { contextOf as sourceContext } from './data-sources.ts'
import type { Vault } from './vault.ts'
import { contextOf as webhookContext } from './webhooks.ts'

const contexts: Readonly<Record<SealedKind, (id: string) => string>> = {
  webhook: webhookContext,
  account: accountContext,
  source: sourceContext,
}

/** Whether a vault opens what a database holds: of each kind the newest text is tried. */
export const opensAll = (vault: Vault, store: Pick<CheckupStore, 'sealedSamples'>): boolean =>
  store.sealedSamples().every(({ kind, id, sealed }) => {
    try {
      vault.open(contexts[kind](id), sealed)
      return true
    } catch {
      return false
    }
  })
