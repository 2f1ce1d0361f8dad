import { dayMs, hourMs, secondMs } from '../../lib/time/instant.ts'
import { accepted, givenUp, type Handover, mayPass, putOff, toCorrect } from '../handover.ts'
import {
  type Attachment,
  attemptMs,
  type FrozenMailMessage,
  headersOf,
  type Mailer,
} from './mailer.ts'

export interface ResendSettings {
  key: string
  /** Where the provider's interface is. */
  url: string
  now(): number
  attemptMs?: number
}

/**
 * The provider knows a repeat by its key for a day; an hour of it is left for clocks that differ.
 */
const keyLivesMs = dayMs - hourMs

/** Mail through the provider of the `resend` library. */
export function createResendMailer({
  key,
  url,
  now,
  attemptMs: timeoutMs = attemptMs,
}: ResendSettings): Mailer {
  return {
    async send(mailMessage, { key: idempotencyKey, repeated, signal }) {
      // The provider would not know this one for a repeat any more. An e-mail that merely waited so
      // long is sent.
      if (repeated && now() - mailMessage.postedAt >= keyLivesMs)
        return givenUp('The e-mail is a day old; sending it again could duplicate it.')
      // The library is big, and only who uses it needs it.
      const { Resend } = await import('resend')
      const provider = new Resend(key, { baseUrl: url })
      const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      // The library neither throws nor ends by itself: whatever went wrong is in `error`, and the
      // signal bounds the wait.
      const answer = await provider.emails.send(contentOf(mailMessage), {
        idempotencyKey,
        signal: limited,
      })
      return handoverOf(answer)
    },
  }
}

const contentOf = (mailMessage: FrozenMailMessage) => {
  const { from, to, subject, text, html, attachments } = mailMessage
  return {
    from,
    to: [to],
    subject,
    text,
    headers: headersOf(mailMessage),
    ...(html !== undefined && { html }),
    ...(attachments && { attachments: attachments.map(attached) }),
  }
}

const attached = ({ filename, contentType, content, encoding }: Attachment) => ({
  filename,
  contentType,
  content: encoding === 'base64' ? content : Buffer.from(content, 'utf8').toString('base64'),
})

interface Answer {
  data: { id?: unknown } | null
  error: { name?: unknown; message?: unknown; statusCode?: unknown } | null
  headers: Record<string, string> | null
}

function handoverOf({ data, error, headers }: Answer): Handover {
  if (typeof data?.id === 'string') return accepted(200)
  const status = typeof error?.statusCode === 'number' ? error.statusCode : null
  const reason =
    typeof error?.message === 'string'
      ? error.message
      : 'The mail provider returned an unreadable response.'
  // Without a status it was the network, the deadline or a response that is not JSON. The key makes
  // repeating an e-mail that did get through harmless.
  if (status === null || mayPass(status)) return putOff(reason, status, waitOf(headers))
  // An attempt under the same key is still at work there.
  if (error?.name === 'concurrent_idempotent_requests') return putOff(reason, status)
  if (status === 401 || status === 403) return toCorrect(reason, status)
  return givenUp(reason, status)
}

const waitSecondsMax = 3600

/**
 * How long the provider wants no requests; undefined when it states none, or one too long for an
 * e-mail.
 */
function waitOf(headers: Answer['headers']): number | undefined {
  const text = headers?.['retry-after'] ?? ''
  return /^\d{1,6}$/.test(text) && Number(text) <= waitSecondsMax
    ? Number(text) * secondMs
    : undefined
}
