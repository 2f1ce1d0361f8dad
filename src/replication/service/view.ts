/** The state of a primary relative to its stream. */
export interface ReplicationView {
  /** connecting: the connection is retried. stopped: an operator must act on `fault`. */
  state: 'publishing' | 'connecting' | 'stopped'
  /** The stream has every change up to this one; undefined until the stream has confirmed it. */
  position: number | undefined
  /** Changes that are not in the stream yet; undefined as long. */
  backlog: number | undefined
  /**
   * The newest snapshot that was stored since the start: its change, and when it was stored, Unix
   * ms.
   */
  snapshot: { sequence: number; storedAt: number } | undefined
  /** Why it does not publish. */
  fault: string | undefined
  /** Since when, Unix ms. */
  faultSince: number | undefined
  /** Since when the stream lacks something, ms; 0: it has everything. */
  lagMs: number
  /** The epoch of the lease of a primary with a standby; 0 where it has no lease. */
  epoch: number | undefined
}
