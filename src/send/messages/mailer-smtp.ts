import { accepted, givenUp, type Handover, outOfService, putOff, toCorrect } from '../handover.ts'
import type { Probe } from '../probes.ts'
import {
  type Attachment,
  attemptMs,
  type FrozenMailMessage,
  headersOf,
  type Mailer,
  messageId,
} from './mailer.ts'

export interface SmtpSettings {
  /** `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte. */
  url: string
  attemptMs?: number
}

/**
 * Mail through a server that speaks SMTP. Every attempt is its own connection: nothing waits
 * between them that could be lost.
 */
export function createSmtpMailer({ url, attemptMs: timeoutMs = attemptMs }: SmtpSettings): Mailer {
  const { options, fault } = connectionOf(url)
  if (!options) throw new Error(`mail.smtp_url ${fault}`)
  return {
    async send(mailMessage, { key, signal }) {
      const transport = await transportOf(options, timeoutMs)
      const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      try {
        const result = await Promise.race([
          transport.sendMail(contentOf(mailMessage, key)),
          ended(limited),
        ])
        return accepted(statusOf(result.response))
      } catch (error) {
        return handoverOf(error)
      } finally {
        transport.close()
      }
    },
  }
}

/** Signs in at the mail server and leaves again. */
export const smtpProbe =
  (url: string): Probe =>
  async timeoutMs => {
    const { options, fault } = connectionOf(url)
    if (!options) return toCorrect(`mail.smtp_url ${fault}`, null)
    const transport = await transportOf(options, timeoutMs)
    try {
      await Promise.race([transport.verify(), ended(AbortSignal.timeout(timeoutMs))])
      return accepted(null)
    } catch (error) {
      return handoverOf(error)
    } finally {
      transport.close()
    }
  }

async function transportOf(options: object, timeoutMs: number) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    ...options,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // An e-mail is all there is to an e-mail: nothing is fetched and no file is read on its behalf.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** Rejects when the time is up. */
const ended = (deadline: AbortSignal) =>
  new Promise<never>((_, reject) =>
    deadline.addEventListener('abort', () => reject(new Error('The mail server took too long.'))),
  )

function connectionOf(text: string) {
  const url = URL.parse(text)
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    return { fault: 'must be an address such as smtp://user:password@mail.example.com:587.' }
  }
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port)
  const [user, pass] = [decoded(url.username), decoded(url.password)]
  if (user === undefined || pass === undefined)
    return { fault: 'must have %25 for each % in its user and password.' }
  const auth = user === '' ? undefined : { user, pass }
  const near = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)
  // A password crosses a network only under TLS.
  return {
    options: {
      host,
      port,
      secure,
      requireTLS: auth !== undefined && !near && !secure,
      ...(auth && { auth }),
    },
  }
}

/** Undefined where a % does not begin the code of a character. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const contentOf = (mailMessage: FrozenMailMessage, key: string) => ({
  from: mailMessage.from,
  // As an object, so that nothing in it is read as a second address.
  to: { name: '', address: mailMessage.to },
  subject: mailMessage.subject,
  messageId: messageId(key, mailMessage.from),
  date: new Date(mailMessage.postedAt),
  headers: headersOf(mailMessage),
  text: mailMessage.text,
  ...(mailMessage.html !== undefined && { html: mailMessage.html }),
  ...(mailMessage.attachments && { attachments: mailMessage.attachments.map(attached) }),
})

// Bytes, and base64 on the way: neither line ends nor the ends of lines may change in between.
const attached = ({ filename, contentType, content, encoding }: Attachment) => ({
  filename,
  contentType,
  content: Buffer.from(content, encoding),
  contentTransferEncoding: 'base64' as const,
})

const statusOf = (response: unknown): number | null => {
  const code = Number(/^\d{3}/.exec(String(response))?.[0])
  return Number.isInteger(code) ? code : null
}

interface Failure {
  message?: unknown
  code?: unknown
  responseCode?: unknown
  response?: unknown
  command?: unknown
}

function handoverOf(error: unknown): Handover {
  const { message, code, responseCode, response, command } = error as Failure
  const status = typeof responseCode === 'number' ? responseCode : null
  const reason =
    typeof response === 'string' && response !== '' ? response : connectionFault(String(message))
  if (code === 'ETLS') return toCorrect(reason, status)
  // A 5xx is the server's last word, a 4xx and a lost connection are not.
  if (status === null) return putOff(reason)
  if (status < 500)
    return isOfMessage(status, reason, String(command))
      ? putOff(reason, status)
      : outOfService(reason, status)
  const isToRecipient = String(command).startsWith('RCPT')
  const subject = refusedBy(status, reason)
  if (isToRecipient && subject === 'address') return givenUp(reason, status, 'address')
  // Before a recipient is named, and by its policy, the server refuses this instance.
  const isOurs = subject === 'policy' || !(isToRecipient || command === 'DATA')
  return isOurs ? toCorrect(reason, status) : givenUp(reason, status)
}

/**
 * Whether a 4xx is about one message, such as greylisting, and not about the server: 421 closes the
 * connection, 4.3 is the state of the mail system (RFC 3463), and before a sender is named there is
 * no message.
 */
const isOfMessage = (status: number, reason: string, command: string): boolean =>
  status !== 421 && !/^\d{3}[ -]4\.3\.\d/.test(reason) && /^(MAIL|RCPT|DATA)/.test(command)

/**
 * What a 5xx is about, by its second number (RFC 3463): 1 an address; 4 and 7 the way and a policy,
 * such as a quota, a relay that is denied or a sender without a valid signature. 2 and 6 are a full
 * mailbox and the message itself.
 */
function refusedBy(status: number, reason: string): 'address' | 'policy' | 'message' {
  const enhanced = /\b5\.(\d{1,3})\.\d{1,3}\b/.exec(reason)?.[1]
  if (enhanced === '1') return 'address'
  if (enhanced === '4' || enhanced === '7') return 'policy'
  const isOfAddress = status === 550 || status === 551 || status === 553
  return enhanced === undefined && isOfAddress ? 'address' : 'message'
}

const connectionFaults = [
  [/ECONNREFUSED/, 'The mail server refuses connections.'],
  [/ENOTFOUND|EAI_AGAIN|EDNS/, 'The name of the mail server cannot be resolved.'],
  [/ETIMEDOUT|[Tt]imeout/, 'The mail server took too long.'],
  [/ECONNRESET|EPIPE|closed/, 'The mail server closed the connection.'],
  [/SSL routines/, 'The mail server does not offer TLS on this port: smtp:// starts without it.'],
] as const

/** A connection that failed, without the names that systems and libraries have for it. */
function connectionFault(message: string): string {
  const [, text] = connectionFaults.find(([pattern]) => pattern.test(message)) ?? []
  if (text) return text
  return /certificate/i.test(message) ? `TLS with the mail server failed: ${message}.` : message
}
