import { createHmac, hkdfSync } from 'node:crypto'

/**
 * HMAC-SHA-256 of a text that is too short to be hashed by itself, such as a code of six digits,
 * under a key that HKDF derives from the secret. `context` names the use of the text: the same text
 * hashes differently elsewhere.
 */
export function keyedHash(secret: string, context: string, text: string): Uint8Array {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', context, 32))
  return createHmac('sha256', key).update(text).digest()
}
