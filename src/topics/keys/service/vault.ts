import { seal, unseal } from '../../../lib/secrets/seal.ts'

/**
 * Keeps what must be read again (webhook secrets, credentials of data sources) encrypted at rest,
 * under a key that is not in the database.
 */
export type Vault = ReturnType<typeof createVault>

/** Sealed under another master key, or damaged. */
export class DoesNotOpen extends Error {}

export const createVault = (masterKey: string) => ({
  /**
   * `context` names the owner of the text, such as `webhook <id>`; it opens under the same context
   * only.
   */
  seal: (context: string, text: string) => seal(masterKey, context, text),
  /**
   * Throws when the text was sealed under another master key: the database came without its key.
   */
  open(context: string, sealed: Uint8Array) {
    const text = unseal(masterKey, context, sealed)
    if (text === undefined)
      throw new DoesNotOpen(
        `What was sealed for "${context}" does not open with this directory's master.key.`,
      )
    return text
  },
})
