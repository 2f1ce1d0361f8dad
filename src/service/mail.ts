export interface Attachment {
  filename: string
  contentType: string
  /** Text, or base64 of bytes. */
  content: string
  encoding: 'utf8' | 'base64'
}

export interface Letter {
  to: string
  subject: string
  text: string
  html?: string
  attachments?: readonly Attachment[]
  accountId: string | null
  /** The provider's idempotency key: two letters with the same are one. */
  dedupe: string
  /** What the letter is about, told back when it is settled: `delivery_run:<id>`. */
  ref?: string
}

export interface Mail {
  /** Puts the letter into the outbox, inside the caller's transaction. Answers the message's id, undefined when it was there already. */
  post(letter: Letter): string | undefined
}
