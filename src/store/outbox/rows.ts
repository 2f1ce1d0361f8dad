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
  /** JSON of the last attempt's `Exchange`, where the lane asked for it. */
  debug: string | null
}

export interface LogFilter {
  states?: readonly MessageState[]
  eventTypes?: readonly string[]
}

/** What was and will be sent through a lane; unknown lanes have an empty log. */
export interface OutboxLog {
  /** Newest first. */
  page(
    kind: Kind,
    lane: string,
    filter: LogFilter,
    limit: number,
    offset: number,
  ): { entries: LogEntry[]; total: number }
  /** By the message's id or its event's. */
  find(kind: Kind, lane: string, id: string): LogEntry | undefined
  /**
   * The same event and body is due now, with its whole schedule before it. One that is under way
   * stays as it is; undefined: no such message.
   */
  resend(kind: Kind, lane: string, id: string): LogEntry | undefined
  /**
   * As `resend` for all of [from, to) that were delivered or failed, oldest first, at most `limit`;
   * how many there were.
   */
  replay(
    kind: Kind,
    lane: string,
    range: LogFilter & { from: number; to: number },
    limit: number,
  ): Promise<number>
}
