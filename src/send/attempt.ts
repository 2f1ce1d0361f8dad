/** The result of one attempt to hand a message over. */
export interface Outcome {
  /**
   * `retry`: the same attempt may go better later; whether there is a later is the schedule's
   * business.
   */
  state: 'delivered' | 'failed' | 'retry'
  statusCode?: number
  /** One sentence for the person who asked for the message. */
  error?: string
  /** When the other side itself said when: instead of the schedule's wait. */
  retryAfterMs?: number
  /** It says nothing about the receiver: this instance is not set up, or ended the attempt. */
  blameless?: boolean
  durationMs: number
  exchange?: Exchange
}

/** Details of an attempt for debugging. */
export interface Exchange {
  requestHeaders: Readonly<Record<string, string>>
  responseHeaders: Readonly<Record<string, string>>
  /** At most 1 KB. */
  responseBody: string
  timing: { connectMs: number | null; firstByteMs: number | null; totalMs: number }
  tls: { protocol: string; cipher: string } | null
}
