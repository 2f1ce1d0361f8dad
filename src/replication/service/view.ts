/** How a primary stands with its stream. */
export interface ReplicationView {
  /** connecting: it is tried again. stopped: someone must decide, as `trouble` says. */
  state: 'publishing' | 'connecting' | 'stopped'
  /** The stream has everything up to this change; undefined until the stream has said it. */
  position: number | undefined
  /** Changes that are not in the stream yet; undefined as long. */
  backlog: number | undefined
  /** Of the newest snapshot that was stored since the start: its change and when, Unix ms. */
  snapshot: { sequence: number; storedAt: number } | undefined
  /** Why it does not publish. */
  trouble: string | undefined
  /** Since when, Unix ms. */
  troubleSince: number | undefined
  /** Since when the stream lacks something, ms; 0: it has everything. */
  lagMs: number
  /** Of a primary with a standby: the epoch of the lease it has, 0 where it has none. */
  epoch: number | undefined
}
