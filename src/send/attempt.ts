/** The result of one attempt to hand a message over. */
export interface Outcome {
  /**
   * `retry`: the same attempt may go better later; whether there is a later is the schedule's
   * business.
   */
  state: 'delivered' | 'failed' | 'retry'
  statusCode?: number
  /** One sentence for the owner of the message. */
  error?: string
  /** The time to retry that the receiver named; it overrides the schedule. */
  retryAfterMs?: number
  /**
   * The failure is on this instance (it is not set up, or ended the attempt), not on the receiver.
   */
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
