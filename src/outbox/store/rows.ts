/** The ways out of the instance. */
export type Kind = 'webhook' | 'email' | 'sms'

export type MessageState = 'pending' | 'leased' | 'retry' | 'delivered' | 'failed' | 'skipped'

/** What is known of every stored message. */
export interface StoredMessage {
  id: string
  kind: Kind
  accountId: string | null
  lane: string
  eventId: string
  eventType: string
  ref: string | null
}

/** A message as its log shows it. */
export interface LogEntry extends Omit<StoredMessage, 'kind'> {
  state: MessageState
  attempts: number
  /** Of the last attempt that ended. */
  statusCode: number | null
  durationMs: number | null
  /** Of the last attempt, or why the message was not sent. */
  error: string | null
  /** As it was or will be sent. */
  body: string
  createdAt: number
  deliveredAt: number | null
  nextAttemptAt: number | null
  /** JSON of the last attempt's `Exchange`, where the lane is in debug mode. */
  debug: string | null
}

export interface LogFilter {
  states?: readonly MessageState[]
  eventTypes?: readonly string[]
}
