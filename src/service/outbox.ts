/** The ways out of the house. */
export type Kind = 'webhook' | 'email' | 'sms'

/** What must leave the machine: a row written in the transaction that made it true. */
export interface Message {
  kind: Kind
  accountId: string | null
  /** Messages of one lane share a limit of concurrency and, where its owner asks for it, an order: a webhook endpoint's id, `email`, `sms`. */
  lane: string
  /** One message of a lane and event is made once: what makes producers idempotent. Webhooks: `evt_…`; e-mail: the provider's idempotency key. */
  eventId: string
  eventType: string
  /** The bytes as they will be sent, unchanged over all attempts. */
  body: string
  /** What the message is about, for the one who asked for it: `delivery_run:<id>`, `alert:<id>`. */
  ref?: string
  /** Not before this moment (Unix ms); now when absent. */
  dueAt?: number
  /** A message that will not be sent and why: it stands in the log only. */
  skipped?: string
}

export type MessageState = 'pending' | 'leased' | 'retry' | 'delivered' | 'failed' | 'skipped'

/** What became of an attempt, told in the transaction that records it. */
export interface Settled {
  id: string
  kind: Kind
  accountId: string | null
  lane: string
  eventId: string
  eventType: string
  ref: string | null
  state: 'retry' | 'delivered' | 'failed'
  attempts: number
  statusCode: number | null
  error: string | null
  /** A rescued or configuration failure that says nothing about the receiver. */
  blameless: boolean
  at: number
}

export interface Outbox {
  /** Inside the caller's transaction. Answers the message's id, or undefined when the lane has the event already. */
  put(message: Message): string | undefined
  /** Hears of every attempt that ended, inside the transaction that records it. */
  listen(kind: Kind, listener: (settled: Settled) => void): void
}
