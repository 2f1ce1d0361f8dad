/** The delivery channels of the instance. */
export const kinds = ['webhook', 'email', 'sms'] as const
export type Kind = (typeof kinds)[number]

export type MessageState = 'pending' | 'leased' | 'retry' | 'delivered' | 'failed' | 'skipped'

/** The identity of a stored message. */
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
  /** The HTTP status of the last completed attempt. */
  statusCode: number | null
  durationMs: number | null
  /** The error of the last attempt, or why the message was not sent. */
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
