/** A stream, and the subject that its messages are on or begin with. */
export interface StreamName {
  stream: string
  subject: string
}

/** What this service calls everything that it keeps in NATS. */
export interface NatsNames {
  /** What every commit changed. */
  changes: StreamName
  /** The newest price of every code. */
  prices: StreamName
  events: StreamName
  /** What replicas have answered, for the primary to count. */
  usage: StreamName
  /** The object store of snapshots. */
  snapshots: string
  /** The buckets of which copies run, of what may be taken of quotas, and of who may write. */
  nodes: string
  quotas: string
  lease: string
}

export const defaultPrefix = 'wellhead'

/**
 * Names of one installation: others on the same NATS have other ones. Without a prefix the streams
 * are called as they were in earlier versions, which knew none.
 */
export function natsNames(prefix: string): NatsNames {
  const stream = (name: string): StreamName =>
    prefix === ''
      ? { stream: name, subject: name }
      : { stream: `${prefix}-${name}`, subject: `${prefix}.${name}` }
  const bucket = (name: string) => `${prefix || defaultPrefix}-${name}`
  return {
    changes: stream('changes'),
    prices: stream('prices'),
    events: stream('events'),
    usage: stream('usage'),
    snapshots: bucket('snapshots'),
    nodes: bucket('nodes'),
    quotas: bucket('quotas'),
    lease: bucket('lease'),
  }
}
