import type { Entitlements } from '../../plans/plans.ts'
import type { Role } from '../../plans/roles/roles.ts'
import type { Session } from '../../topics/account/store/sessions.ts'
import type { Account } from '../../topics/keys/store/accounts.ts'
import type { ApiKey } from '../../topics/keys/store/api-keys.ts'
import type { AssignedProfile } from '../gate/request-context.ts'

/** The facts about an admitted caller that a query worker needs, as plain rows. */
export interface QueryWorkerCaller {
  key: ApiKey
  account: Account
  holder: Account
  role: Role
  entitled: Entitlements
  session: Session | undefined
}

/** A request that main has let in, counted and validated. */
export interface QueryWorkerRequest {
  id: number
  url: string
  method: string
  headers: [name: string, value: string][]
  body: string | undefined
  caller: QueryWorkerCaller | undefined
  /** The profile of the client; undefined: none fits. */
  profile?: AssignedProfile | undefined
  /** The instance's clock, which may be stopped or differ from the machine's. */
  now: number
  /**
   * The time of its snapshot: the response includes everything recorded by then, and later writes have
   * later times.
   */
  snapshotAt: number
}

/** Messages from the main thread to a query worker, in order. */
export type ToQueryWorker =
  | { kind: 'question'; question: QueryWorkerRequest }
  /** More of a body that continues may be sent. */
  | { kind: 'more'; id: number }
  /** No one waits for the rest of a body any more. */
  | { kind: 'drop'; id: number }
  /** Values of these series were written. */
  | { kind: 'written'; changes: WrittenSeries[] }
  /** Days of a series went into quarantine or came out of it. */
  | { kind: 'quarantine'; seriesId: number }
  /** The list of series is another one. */
  | { kind: 'catalogue' }

export interface WrittenSeries {
  seriesId: number
  /** The time range of new values in the series; absent where there are none. */
  extent: { firstAt: number; lastAt: number } | undefined
}

/**
 * The header by which a query worker names the status of a refusal that is sent as 200, so that the
 * main thread charges nothing for it.
 */
export const refusalStatusHeader = 'x-refusal-status'

/** The series of a response, for the efficiency report. */
export interface AskedSeries {
  seriesIds: readonly number[]
  etag: string | undefined
}

/** Messages from a query worker to the main thread. */
export type FromQueryWorker =
  | { kind: 'ready' }
  /** It could not open, and ends. */
  | { kind: 'failed'; message: string }
  | {
      kind: 'answer'
      id: number
      status: number
      headers: [name: string, value: string][]
      /** The whole body, or its beginning where `goesOn`. */
      body: Uint8Array<ArrayBuffer>
      goesOn: boolean
      asked: AskedSeries[]
    }
  /** The rest of a body, piece by piece; `error` is what ended it before its time. */
  | { kind: 'piece'; id: number; piece: Uint8Array<ArrayBuffer> | undefined; error?: string }
  /** The request can only be answered where writing is possible. */
  | { kind: 'needs_writer'; id: number }

/** A running query worker, as the main thread sees it. */
export interface QueryWorkerThread {
  post(message: ToQueryWorker): void
  onMessage(listener: (message: FromQueryWorker) => void): void
  /** Called once, however the thread ends. */
  onEnd(listener: (reason: string) => void): void
  stop(): void
}

/** The outcome of a request: its response, or why there is none. */
export type QueryWorkerOutcome =
  | Extract<FromQueryWorker, { kind: 'answer' }>
  | { kind: 'needs_writer' }
  | { kind: 'overloaded' }
  /** The worker ended while it answered, or none was ready in time. */
  | { kind: 'lost' }
  /** No query worker starts: the main thread handles the request. */
  | { kind: 'no_worker' }
