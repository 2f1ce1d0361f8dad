/** How a primary stands with its stream. */
export interface ReplicationView {
  /** connecting: it is tried again. stopped: somebody must decide, as `trouble` says. */
  state: 'publishing' | 'connecting' | 'stopped'
  /** The stream has everything up to this change; undefined until the stream has said it. */
  position: number | undefined
  /** Changes that are not in the stream yet; undefined as long. */
  backlog: number | undefined
  /** Of the newest snapshot that was stored since the start: its change and when, Unix ms. */
  snapshot: { sequence: number; storedAt: number } | undefined
  /** Why it does not publish. */
  trouble: string | undefined
}
