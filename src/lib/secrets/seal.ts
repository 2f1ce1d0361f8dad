import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const cipher = 'aes-256-gcm'
const saltBytes = 16
const nonceBytes = 12
const tagBytes = 16

// Each text has its own salt, so that no cipher key meets the same nonce twice.
const keyOf = (secret: string, salt: Uint8Array, context: string) =>
  new Uint8Array(hkdfSync('sha256', secret, salt, context, 32))

/**
 * Encrypts a text so that only a holder of `secret` can read it: AES-256-GCM under a key that
 * HKDF-SHA-256 derives from the secret. The secret must be as hard to guess as a token; a password
 * is not. `context` names the use of the text, and the result opens only with the same one.
 */
export function seal(secret: string, context: string, text: string): Uint8Array {
  const salt = randomBytes(saltBytes)
  const nonce = randomBytes(nonceBytes)
  const sealing = createCipheriv(cipher, keyOf(secret, salt, context), nonce)
  const body = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()])
  return Buffer.concat([salt, nonce, sealing.getAuthTag(), body])
}

/**
 * The text, or undefined when it was sealed with another secret or for another context, or was
 * changed since.
 */
export function unseal(secret: string, context: string, sealed: Uint8Array): string | undefined {
  if (sealed.length < saltBytes + nonceBytes + tagBytes) return undefined
  const nonceEnd = saltBytes + nonceBytes
  const opening = createDecipheriv(
    cipher,
    keyOf(secret, sealed.subarray(0, saltBytes), context),
    sealed.subarray(saltBytes, nonceEnd),
  )
  opening.setAuthTag(sealed.subarray(nonceEnd, nonceEnd + tagBytes))
  try {
    return Buffer.concat([
      opening.update(sealed.subarray(nonceEnd + tagBytes)),
      opening.final(),
    ]).toString('utf8')
  } catch {
    return undefined
  }
}
