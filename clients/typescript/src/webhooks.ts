import { InvalidWebhook } from './errors.ts'

/** A delivery: the same `id` on every retry, so that one that was seen before can be ignored. */
export interface WebhookEvent {
  id: string
  type: string
  event: string
  created_at: string
  data: Record<string, unknown>
}

export interface VerifyOptions {
  /** Unix seconds; real time when absent. */
  now?: number
  /** How far the signature's time may be from now; 300. */
  toleranceSeconds?: number
  /** The service's own; `X-Service-`. */
  headerPrefix?: string
}

type HeaderSource = Headers | Record<string, string | string[] | undefined>

const encoder = new TextEncoder()

function headerOf(headers: HeaderSource, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? ''
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name)
  const value = entry?.[1]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

const bytesOf = (body: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof body === 'string' ? encoder.encode(body) : new Uint8Array(body)

async function hmac(
  key: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message))
}

const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
const base64Of = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** In a time that does not tell how much of the text fits. */
function isEqual(expected: string, sent: string): boolean {
  const [left, right] = [encoder.encode(expected), encoder.encode(sent)]
  let difference = left.length ^ right.length
  for (let at = 0; at < left.length; at += 1) difference |= left[at]! ^ (right[at] ?? 0)
  return difference === 0
}

/** What is written after the prefix, read as base64; a secret that is not base64 is its own bytes. */
function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  const written = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret
  try {
    if (written.length % 4 !== 0 || written === '') return encoder.encode(secret)
    return Uint8Array.from(atob(written), letter => letter.charCodeAt(0))
  } catch {
    return encoder.encode(secret)
  }
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/**
 * The event of a delivery, once its signature has been checked; throws InvalidWebhook. `body` is the raw body as it was received:
 * JSON that was parsed and written again has other bytes. Any of the signatures that the service sends is enough: the Standard
 * Webhooks headers, or `<prefix>Signature` in either scheme.
 */
export async function verifyWebhook(
  secret: string,
  body: string | Uint8Array,
  headers: HeaderSource,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const { now = Date.now() / 1_000, toleranceSeconds = 300, headerPrefix = 'X-Service-' } = options
  const prefix = headerPrefix.toLowerCase()
  const content = bytesOf(body)
  const timestamp =
    headerOf(headers, 'webhook-timestamp') || headerOf(headers, `${prefix}signature-timestamp`)
  if (!/^\d+$/.test(timestamp)) throw new InvalidWebhook('the delivery has no signature timestamp')
  if (Math.abs(now - Number(timestamp)) > toleranceSeconds) {
    throw new InvalidWebhook(`the delivery was signed more than ${toleranceSeconds} s from now`)
  }
  const key = encoder.encode(secret)
  const own = headerOf(headers, `${prefix}signature`)
  const standard = headerOf(headers, 'webhook-signature').split(' ')
  const standardMessage = joined(
    encoder.encode(`${headerOf(headers, 'webhook-id')}.${timestamp}.`),
    content,
  )
  const timestamped = hexOf(await hmac(key, joined(content, encoder.encode(`.${timestamp}`))))
  const plain = `sha256=${hexOf(await hmac(key, content))}`
  const versioned = `v1,${base64Of(await hmac(standardKey(secret), standardMessage))}`
  const fits = [
    isEqual(timestamped, own),
    isEqual(plain, own),
    // While a secret is being replaced, one signature stands for each.
    ...standard.map(signature => isEqual(versioned, signature)),
  ]
  if (!fits.includes(true)) throw new InvalidWebhook('the delivery is not signed with this secret')
  try {
    return JSON.parse(new TextDecoder().decode(content)) as WebhookEvent
  } catch (error) {
    throw new InvalidWebhook('the delivery is signed, and its body is no JSON', { cause: error })
  }
}
