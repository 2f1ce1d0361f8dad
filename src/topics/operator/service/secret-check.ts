import type { Ids } from '../../../lib/ids.ts'
import { contextOf as secondFactorContext } from '../../account/service/second-factor.ts'
import type { Vault } from '../../keys/service/vault.ts'
import { contextOf as sourceContext } from '../../sources/service/sources.ts'
import { contextOf as accountContext } from '../../webhooks/service/account-secrets.ts'
import {
  hintOf,
  newWebhookSecret,
  contextOf as webhookContext,
} from '../../webhooks/service/endpoint-secrets.ts'
import type { Replaced, SealedKind, SecretCheckStore } from '../store/secret-check.ts'

const contexts: Readonly<Record<SealedKind, (id: string) => string>> = {
  webhook: webhookContext,
  account: accountContext,
  source: sourceContext,
  second_factor: secondFactorContext,
}

/**
 * Takes a new master key into use where the old one is lost. Endpoints sign with new secrets, which
 * their owners must fetch; credentials of data sources must be entered again.
 */
export const giveUpSealed = (
  vault: Vault,
  store: Pick<SecretCheckStore, 'replaceSealed'>,
  ids: Ids,
): Replaced =>
  store.replaceSealed(id => {
    const secret = newWebhookSecret(ids)
    return { sealed: vault.seal(webhookContext(id), secret), hint: hintOf(secret) }
  })

/** Whether a vault opens what a database holds: of each kind the newest text is tried. */
export const opensEverySample = (
  vault: Vault,
  store: Pick<SecretCheckStore, 'sealedSamples'>,
): boolean =>
  store.sealedSamples().every(({ kind, id, sealed }) => {
    try {
      vault.open(contexts[kind](id), sealed)
      return true
    } catch {
      return false
    }
  })
