import { createHash } from 'node:crypto'
import type { Handover } from '../handover.ts'

export interface Attachment {
  filename: string
  contentType: string
  /** Text, or base64 of bytes. */
  content: string
  encoding: 'utf8' | 'base64'
}

/**
 * An e-mail as it is in the outbox and as it is sent, the same on every attempt: a provider refuses
 * another text under the same key.
 */
export interface FrozenMailMessage {
  from: string
  to: string
  subject: string
  text: string
  html?: string
  attachments?: readonly Attachment[]
  /** Ends the e-mails of its kind, by one POST (RFC 8058). */
  unsubscribeUrl?: string
  /** When it was posted (Unix ms). */
  postedAt: number
}

/** One attempt to send an e-mail. */
export interface Sending {
  /**
   * Identifies the e-mail on every attempt: two requests with the same key send one e-mail.
   * Printable ASCII, at most 256 characters.
   */
  key: string
  /** It was tried before, and may have been delivered without a confirmation. */
  repeated: boolean
  signal: AbortSignal
}

export interface Mailer {
  send(mailMessage: FrozenMailMessage, sending: Sending): Promise<Handover>
}

// Characters that end a line, move a cursor or turn the direction of reading.
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu
const subjectCharactersMax = 200

/** One line for a header, without anything that could begin another one. */
export function headerLine(text: string, charactersMax = subjectCharactersMax): string {
  const line = text.toWellFormed().replace(unsafe, ' ').replace(/ {2,}/g, ' ').trim()
  return line.length <= charactersMax ? line : [...line].slice(0, charactersMax).join('')
}

/** Headers of an e-mail alongside those that every e-mail has. */
export const headersOf = ({ unsubscribeUrl }: FrozenMailMessage): Record<string, string> => ({
  'Auto-Submitted': 'auto-generated',
  ...(unsubscribeUrl !== undefined && {
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }),
})

const addressPattern = /^[^\s@<>()[\],;:"\\]{1,64}@[^\s@<>()[\],;:"\\]{1,255}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controls = /[\u0000-\u001f\u007f-\u009f]/g

/**
 * One address without a name, its control characters dropped; undefined for anything that a mail
 * server could read as more than one.
 */
export function plainAddress(text: string): string | undefined {
  const address = text.toWellFormed().replace(controls, '').trim()
  return addressPattern.test(address) && headerLine(address) === address ? address : undefined
}

/** A file's name that stays within its header and its directory. */
export const plainFilename = (name: string): string =>
  headerLine(name.replace(/["\\/]/g, '-'), 100) || 'attachment'

/**
 * Equal for the same key and sender, so that a receiver that keeps message ids recognizes a repeat.
 */
export function messageId(key: string, from: string): string {
  const domain = /@([\w.-]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return `<${createHash('sha256').update(key).digest('hex').slice(0, 40)}@${domain}>`
}

/** How long one attempt may take, whichever provider takes it. */
export const attemptMs = 15_000
