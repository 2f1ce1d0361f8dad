import type { Outcome } from '../send/attempt.ts'
import type { Kind, StoredMessage } from './store/rows.ts'

/** An outgoing message: a row written in the transaction that caused it. */
export interface Message {
  kind: Kind
  accountId: string | null
  /**
   * Messages of one lane share a limit of concurrency and, where its owner wants it, an order: a
   * webhook endpoint's id, `email`, `sms`.
   */
  lane: string
  /**
   * One message of a lane and event is made once: what makes producers idempotent. Webhooks:
   * `evt_…`, from `ids.event(at)` or `eventIdOf`; e-mail: the provider's idempotency key.
   */
  eventId: string
  eventType: string
  /** The bytes as they will be sent, unchanged over all attempts. */
  body: string
  /** The message's own id; made here when absent. */
  id?: string
  /** The subject of the message, for its sender: `delivery_run:<id>`, `alert:<id>`. */
  ref?: string
  /** Not before this moment (Unix ms); now when absent. */
  dueAt?: number
  /** Fewer retries than the lane allows; 0: one attempt. */
  maxRetries?: number
  /** A message that will not be sent and why: it is in the log only. */
  skipped?: string
}

/** The outcome of an attempt; listeners get it in the transaction that records it. */
export interface Settled extends StoredMessage {
  state: 'retry' | 'delivered' | 'failed'
  attempts: number
  statusCode: number | null
  error: string | null
  /** A rescued or configuration failure, which is not a fault of the receiver. */
  blameless: boolean
  at: number
}

/** A message under way, as its sender gets it. */
export interface OutgoingMessage extends StoredMessage {
  body: string
  /** 1 for the first. */
  attempt: number
  createdAt: number
  /** The `traceparent` of the work that made it; null where it belonged to no trace. */
  traceparent: string | null
}

/** Where the messages of a webhook lane go and how they are signed. */
export interface WebhookTarget {
  url: string
  /** The current one first: it signs. All of them sign the Standard Webhooks header. */
  secrets: readonly string[]
  scheme: 'timestamped' | 'body'
}

/** The account and host that the slots of a lane's messages count for. */
export interface Share {
  accountId: string
  host: string
  /** How much of the slots that no one else holds the account may hold. */
  percent: number
}

/** The delivery settings of a lane. Absent fields: the defaults of the instance. */
export interface OpenLane {
  state: 'open'
  /** Needed for webhooks. */
  target?: WebhookTarget
  /** Absent: its messages do not count for an account. */
  share?: Share
  /** At most so many attempts begin in any second. */
  ratePerSecond?: number
  /** One at a time, and none before the ones made before it have been delivered or given up. */
  ordered?: boolean
  /** The timeout of an attempt, from the DNS lookup to the end of the response; default: 30 s. */
  timeoutMs?: number
  /** At most as many as the schedule of the kind has. */
  maxRetries?: number
  /** 429 and 408 with Retry-After of at most an hour are tried again then. */
  honourRetryAfter?: boolean
  /** Keeps headers, the beginning of the answer, timing and TLS of every attempt. */
  debug?: boolean
}

/**
 * `parked`: nothing is sent; messages that have waited for 30 days fail. `gone`: waiting messages
 * fail now with the reason as their error, and listeners are notified that the receiver is not to
 * blame. A parked lane is checked again when `wake` is called.
 */
export type LanePolicy = OpenLane | { state: 'parked' } | { state: 'gone'; reason: string }

/** The lanes of a kind. It is read before every claim, so it answers from memory. */
export interface Lanes {
  policy(lane: string): LanePolicy
}

/**
 * Hands messages of a kind over. It never rejects for what the other side does; when it does
 * reject, the attempt counts as one to retry.
 */
export interface Sender {
  /** `signal` aborts at the end of the lane's timeout and when the process ends. */
  send(message: OutgoingMessage, lane: OpenLane, signal: AbortSignal): Promise<Outcome>
}
