/** The ways out of the instance. */
export type Kind = 'webhook' | 'email' | 'sms'

export type MessageState = 'pending' | 'leased' | 'retry' | 'delivered' | 'failed' | 'skipped'

/** A message as its log shows it. */
export interface LogEntry {
  id: string
  eventId: string
  eventType: string
  accountId: string | null
  lane: string
  ref: string | null
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
