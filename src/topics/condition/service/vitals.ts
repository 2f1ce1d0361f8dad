import type { LateReplica, ReplicaView } from '../../../replication/service/condition.ts'
import type { HeldQuotas, Topology } from '../../../replication/service/nodes.ts'
import type { ReplicationView } from '../../../replication/service/view.ts'
import type { Component } from './component.ts'

/** The messages that wait to be sent. */
export interface Backlog {
  pending: number
  /** When the oldest of it became due, Unix ms. */
  oldestAt: number | undefined
}

/** The threads that answer heavy requests. */
export interface QueryWorkers {
  /** Query workers that can take requests. */
  ready: number
  /** They are opening the database. */
  starting: number
  /** 1 while something is wrong with them, else 0. */
  failed: number
  /** Their fault; undefined: none. */
  fault: WorkerFault | undefined
}

export interface WorkerFault {
  /** `not_started`: none starts. `ended`: one ended within the last minute while it worked. */
  kind: 'not_started' | 'ended'
  /** The error, for the operator. */
  reason: string
}

/** State of the process that the API itself cannot see. */
export interface Vitals {
  /** When the jobs last ended a pass, Unix ms; null where none run. */
  lastPassAt: () => number | null | undefined
  /** How often each job has passed, and how long that took (ms). */
  jobTimings: () => ReadonlyMap<string, { passes: number; ms: number; lastMs: number }>
  /** The parts that send: webhooks, e-mail, SMS. */
  senders: () => readonly Component[]
  backlog: () => Backlog
  /** The event loop is overloaded: heavy routes are refused. */
  isOverloaded: () => boolean
  /** The longest wait for a turn of the event loop in the last minute. */
  loopWaitMs: () => number
  /** Undefined where the main thread answers everything. */
  queryWorkers: () => QueryWorkers | undefined
  /** The process is stopping and should get no new requests. */
  isStopping: () => boolean
  /** Undefined where nothing is published. */
  replication: () => ReplicationView | undefined
  /** The state of a replica relative to its stream; undefined on a primary. */
  replica: () => ReplicaView | undefined
  /** On a primary: the replicas that may return old data. */
  lateReplicas: () => readonly LateReplica[]
  /**
   * On a replica its slices of quotas, on a primary with replicas the pools; otherwise undefined.
   */
  quotasHeld: () => { role: 'primary' | 'replica'; held: HeldQuotas } | undefined
  /** The running instances, from NATS; undefined where nothing is published. */
  topology: () => Promise<Topology> | undefined
}

/** For an interface without a process around it: no jobs, nothing that sends. */
export const aloneVitals: Vitals = {
  lastPassAt: () => null,
  jobTimings: () => new Map(),
  senders: () => ['webhooks', 'email', 'sms'].map(name => ({ name, status: 'disabled' })),
  backlog: () => ({ pending: 0, oldestAt: undefined }),
  isOverloaded: () => false,
  loopWaitMs: () => 0,
  queryWorkers: () => undefined,
  isStopping: () => false,
  replication: () => undefined,
  replica: () => undefined,
  lateReplicas: () => [],
  quotasHeld: () => undefined,
  topology: () => undefined,
}
