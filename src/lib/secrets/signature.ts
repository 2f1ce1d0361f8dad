import { createHmac } from 'node:crypto'

const secretPrefix = 'whsec_'
const base64 =
  /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$|^(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$/

/**
 * Lower-case hex HMAC-SHA256 over body, a dot and the Unix seconds as text; the key is the secret
 * as it is written.
 */
export const timestampedSignature = (secret: string, body: string, timestamp: number): string =>
  createHmac('sha256', secret).update(`${body}.${timestamp}`).digest('hex')

/** `sha256=` and the lower-case hex HMAC-SHA256 over the body alone. */
export const bodySignature = (secret: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

/**
 * The header `webhook-signature` of Standard Webhooks: `v1,` and base64 for each secret, separated
 * by blanks.
 */
export const standardSignature = (
  secrets: readonly string[],
  id: string,
  timestamp: number,
  body: string,
): string =>
  secrets
    .map(
      secret =>
        `v1,${createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
    )
    .join(' ')

/**
 * The part after the prefix, decoded from base64; a secret that is not base64 is used as its bytes.
 */
function standardKey(secret: string): Buffer {
  const written = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret
  return base64.test(written) ? Buffer.from(written, 'base64') : Buffer.from(secret)
}
