import type { Ids } from '../../../lib/ids.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type { Endpoint } from '../store/webhooks.ts'

const secretPrefix = 'whsec_'
const secretCharacters = 48

export const newWebhookSecret = (ids: Ids): string =>
  secretPrefix + ids.token().slice(0, secretCharacters)

/** The last four characters, by which people recognise a secret. */
export const hintOf = (secret: string): string =>
  `${secret.startsWith(secretPrefix) ? secretPrefix : ''}…${secret.slice(-4)}`

/** The context that the vault seals it with. */
export const contextOf = (id: string) => `webhook ${id}`

/** Converts secrets to the columns of a row, and back. */
export function createEndpointSecrets(vault: Vault) {
  return {
    sealed: (id: string, secret: string) => ({
      secret: vault.seal(contextOf(id), secret),
      secretHint: hintOf(secret),
    }),
    open: ({ id, secret, previousSecret }: Endpoint) => ({
      current: vault.open(contextOf(id), secret),
      previous: previousSecret === null ? undefined : vault.open(contextOf(id), previousSecret),
    }),
  }
}
