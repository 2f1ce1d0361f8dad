/** A stream, and the subject that its messages are on or begin with. */
export interface StreamName {
  stream: string
  subject: string
}

/** The names of everything that this service stores in NATS. */
export type NatsNames = ReturnType<typeof natsNames>

export const defaultPrefix = 'wellhead'

/**
 * Names of one installation: others on the same NATS have other ones. Without a prefix the streams
 * are called as they were in earlier versions, which knew none.
 */
export function natsNames(prefix: string) {
  const stream = (name: string): StreamName =>
    prefix === ''
      ? { stream: name, subject: name }
      : { stream: `${prefix}-${name}`, subject: `${prefix}.${name}` }
  const bucket = (name: string) => `${prefix || defaultPrefix}-${name}`
  return {
    /** The changes of every commit. */
    changes: stream('changes'),
    /** The newest price of every code. */
    prices: stream('prices'),
    events: stream('events'),
    /** Usage that replicas report to the primary. */
    usage: stream('usage'),
    /** The object store of snapshots. */
    snapshots: bucket('snapshots'),
    /** The buckets of running instances, of quota pools, and of the write lease. */
    nodes: bucket('nodes'),
    quotas: bucket('quotas'),
    lease: bucket('lease'),
  }
}
