import type { Runtime } from '../config/runtime.ts'
import { transact } from '../database/database.ts'
import type { Log } from '../lib/log/log.ts'
import { after, type Clock, within } from '../lib/time/clock.ts'
import { secondMs } from '../lib/time/instant.ts'
import { inTrace } from '../lib/trace.ts'
import type { Outcome } from '../send/attempt.ts'
import { DoesNotOpen } from '../topics/keys/service/vault.ts'
import type { LanePolicy, Lanes, OpenLane, Sender, Settled } from './message.ts'
import { waitMs } from './schedule.ts'
import type { ClaimedRow, LaneBacklog, OutboxStore } from './store/outbox.ts'
import type { Kind } from './store/rows.ts'

/** The timeout of an attempt when its lane sets none. */
const defaultTimeoutMs = 30 * secondMs
/** How much longer than the attempt a lease lasts: long enough to record the result. */
const leaseExtraMs = 15 * secondMs
/** How long a sender may continue after its abort signal; then its attempt counts as ended. */
const graceMs = secondMs
/** A message that was being sent each time the process died this often is treated as the cause. */
const rescuesMax = 20

/** The functions that the sending job uses; changes are made inside `together`. */
export interface OutboxEngine {
  together<T>(work: () => T): T
  onDue(listener: OutboxDue): void
  backlog(): LaneBacklog[]
  /** undefined: no one sends this kind. */
  policy(kind: Kind, lane: string): LanePolicy | undefined
  claim(kind: Kind, lane: string, limit: number, settings: OpenLane): ClaimedRow[]
  /** One message, whatever is due. */
  claimOne(id: string, settings: OpenLane): ClaimedRow | undefined
  nextDue(kind: Kind, lane: string, ordered: boolean): number | undefined
  /** Never rejects and ends within the lane's timeout, whatever the sender does. */
  attempt(row: ClaimedRow, settings: OpenLane, stop: AbortSignal): Promise<Outcome>
  /** Records an attempt, unless its lease was lost. */
  settle(row: ClaimedRow, settings: OpenLane, outcome: Outcome): void
  /**
   * Frees attempts that this service cut short: they are due again, and not held against the
   * receiver.
   */
  release(rows: readonly ClaimedRow[], reason: string): void
  /** Messages whose lease ended before `before` and was taken by a process that has ended. */
  abandoned(before: number, limit: number): ClaimedRow[]
  /** Fails what waits in a lane and was due before `before`, at most `limit` messages; how many. */
  giveUp(kind: Kind, lane: string, before: number, reason: string, limit: number): number
  /** Fails those of these ids that wait; how many. */
  drop(ids: readonly string[], reason: string): number
  forget(before: number, limit: number): number
}

export interface EngineDeps extends Pick<Runtime, 'db' | 'ids' | 'log'> {
  clock: Clock
  /** A number in [0, 1). */
  chance: () => number
}

/** The registered senders and listeners, by kind. */
export interface Registry {
  senders: Map<Kind, { sender: Sender; lanes: Lanes | undefined }>
  listeners: Map<Kind, ((settled: Settled) => void)[]>
  ended: Record<Settled['state'], number>
  /** Lanes whose secret does not open: their messages fail. */
  shut: Set<string>
}

/** Messages of a lane became due at a moment, maybe before they are committed. */
export type OutboxDue = (kind: Kind, lane: string, at: number) => void

export function createOutboxEngine(store: OutboxStore, registry: Registry, deps: EngineDeps) {
  const { db, clock } = deps
  const dueListeners: OutboxDue[] = []
  const due: OutboxDue = (kind, lane, at) => {
    for (const listener of dueListeners) listener(kind, lane, at)
  }
  const leases = createLeases(store, deps)
  const notify = createEndNotifier(registry, deps)
  const { settle, release } = createEndings({ ...deps, store, leases, notify, due })

  const fail = (rows: readonly ClaimedRow[], reason: string): number => {
    const at = clock.now()
    for (const row of rows) {
      store.giveUp(row.number, reason, at)
      notify(row, { state: 'failed', statusCode: null, error: reason, blameless: true, at })
    }
    return rows.length
  }

  const engine: OutboxEngine = {
    together: work => transact(db, work),
    onDue: listener => void dueListeners.push(listener),
    backlog: store.backlog,
    policy: createPolicies(registry, deps.log),
    claim: leases.claim,
    claimOne: leases.claimOne,
    nextDue(kind, lane, ordered) {
      const laneId = store.findLane(kind, lane)
      if (laneId === undefined) return undefined
      return ordered ? store.nextDueInOrder(laneId) : store.nextDue(laneId)
    },
    attempt: (row, settings, stop) =>
      inTrace(row.traceparent, () =>
        attempted(registry.senders.get(row.kind)!.sender, row, settings, stop, clock),
      ),
    settle,
    release(rows, reason) {
      for (const row of rows) release(row, reason, clock.now())
    },
    abandoned: leases.abandoned,
    giveUp(kind, lane, before, reason, limit) {
      const laneId = store.findLane(kind, lane)
      return fail(laneId === undefined ? [] : store.waiting(laneId, before, limit), reason)
    },
    drop: (ids, reason) => fail(store.waitingOf(ids), reason),
    forget: store.forget,
  }
  return { engine, due }
}

/** A lane that cannot be read must not stop the others: only its own messages fail. */
function createPolicies({ senders, shut }: Registry, log: Log): OutboxEngine['policy'] {
  return (kind, lane) => {
    const registered = senders.get(kind)
    if (!registered) return undefined
    try {
      const policy = registered.lanes?.policy(lane) ?? { state: 'open' }
      shut.delete(lane)
      return policy
    } catch (error) {
      if (!(error instanceof DoesNotOpen)) throw error
      if (!shut.has(lane))
        log.error('outbox_lane_closed', {
          message: 'The secret of a receiver does not open; what waits for it fails.',
          kind,
          lane,
          error,
        })
      shut.add(lane)
      return { state: 'gone', reason: 'the secret of the receiver does not open' }
    }
  }
}

type Leases = ReturnType<typeof createLeases>

/**
 * Takes messages under a lease. A clock that is moved ends leases of attempts that this process has
 * not ended: its own are known by their tokens.
 */
function createLeases(store: OutboxStore, { clock, ids }: EngineDeps) {
  const claimedKeys = new Set<string>()
  const keyOf = (row: { number: number; leaseToken: string }) => `${row.number} ${row.leaseToken}`
  const remembered = (rows: ClaimedRow[]) => {
    for (const row of rows) claimedKeys.add(keyOf(row))
    return rows
  }
  const leaseFor = (settings: OpenLane) => ({
    token: ids.uuid(),
    until: clock.now() + (settings.timeoutMs ?? defaultTimeoutMs) + leaseExtraMs,
  })
  return {
    claim(kind: Kind, lane: string, limit: number, settings: OpenLane): ClaimedRow[] {
      const laneId = store.findLane(kind, lane)
      if (laneId === undefined) return []
      const now = clock.now()
      return remembered(
        settings.ordered
          ? store.claimFirst(laneId, now, leaseFor(settings))
          : store.claim(laneId, now, limit, leaseFor(settings)),
      )
    },
    claimOne(id: string, settings: OpenLane): ClaimedRow | undefined {
      const row = store.claimOne(id, leaseFor(settings))
      return row && remembered([row])[0]
    },
    /** Leases that ended before `before` and were taken by a process that has ended. */
    abandoned: (before: number, limit: number) =>
      store.leased(before, limit).filter(row => !claimedKeys.has(keyOf(row))),
    drop: (row: ClaimedRow) => void claimedKeys.delete(keyOf(row)),
  }
}

type EndNotifier = ReturnType<typeof createEndNotifier>

/**
 * Notifies listeners of the end of an attempt, in the transaction that records it. An error of a
 * listener must not make the message due again.
 */
function createEndNotifier(registry: Registry, { db, log }: EngineDeps) {
  return (row: ClaimedRow, ending: Omit<Settled, keyof SettledRow>) => {
    const { id, kind, accountId, lane, eventId, eventType, ref, attempts } = row
    const settled = { id, kind, accountId, lane, eventId, eventType, ref, attempts, ...ending }
    registry.ended[ending.state] += 1
    if (ending.state === 'failed') inTrace(row.traceparent, () => logGivenUp(log, settled))
    const listeners = registry.listeners.get(kind)
    if (!listeners) return
    try {
      transact(db, () =>
        inTrace(row.traceparent, () => {
          for (const listener of listeners) listener(settled)
        }),
      )
    } catch (error) {
      if (!db.inTransaction) throw error
      log.error('outbox_listener_failed', {
        message: 'What follows from the end of a message failed.',
        messageId: id,
        kind,
        error,
      })
    }
  }
}

const logGivenUp = (log: Log, { id, kind, accountId, lane, eventType, attempts, error }: Settled) =>
  log.info('message_abandoned', {
    message: `A message by ${kind} is not sent again.`,
    id,
    kind,
    account: accountId,
    // That of other kinds is an address.
    endpoint: kind === 'webhook' ? lane : undefined,
    event_type: eventType,
    attempts,
    error,
  })

/** Records how attempts ended, unless their lease was lost. */
function createEndings({
  store,
  leases,
  notify,
  due,
  clock,
  chance,
}: EngineDeps & { store: OutboxStore; leases: Leases; notify: EndNotifier; due: OutboxDue }) {
  return {
    settle(row: ClaimedRow, settings: OpenLane, outcome: Outcome) {
      const at = clock.now()
      const { statusCode = null, error = null, blameless = false, durationMs, exchange } = outcome
      const limits = [settings.maxRetries, row.maxRetries]
      const wait =
        outcome.state === 'retry' ? waitMs(row.kind, row.tries, limits, chance()) : undefined
      const againAt = wait === undefined ? undefined : at + (outcome.retryAfterMs ?? wait)
      const state = outcome.state === 'retry' && againAt === undefined ? 'failed' : outcome.state
      leases.drop(row)
      const isEnded = store.end(row, {
        state,
        statusCode,
        durationMs,
        error,
        at,
        tries: row.tries,
        rescues: 0,
        // In an ordered lane, a message that is retried stays the first.
        ...(againAt !== undefined && !settings.ordered && { dueAt: againAt }),
        holdUntil: settings.ordered ? (againAt ?? null) : null,
        debug: settings.debug && exchange ? JSON.stringify(exchange) : null,
      })
      if (!isEnded) return
      notify(row, { state, statusCode, error, blameless, at })
      if (againAt !== undefined) due(row.kind, row.lane, againAt)
    },
    release(row: ClaimedRow, reason: string, at: number) {
      const rescues = row.rescues + 1
      const state = row.maxRetries === 0 || rescues >= rescuesMax ? 'failed' : 'retry'
      const ending = { statusCode: null, error: reason, at }
      leases.drop(row)
      const isEnded = store.end(row, {
        ...ending,
        state,
        holdUntil: null,
        tries: row.tries - 1,
        rescues,
        durationMs: 0,
        debug: null,
      })
      if (!isEnded) return
      notify(row, { ...ending, state, blameless: true })
      if (state === 'retry') due(row.kind, row.lane, row.dueAt)
    },
  }
}

type SettledRow = Pick<
  Settled,
  'id' | 'kind' | 'accountId' | 'lane' | 'eventId' | 'eventType' | 'ref' | 'attempts'
>

async function attempted(
  sender: Sender,
  row: ClaimedRow,
  settings: OpenLane,
  stop: AbortSignal,
  clock: Clock,
): Promise<Outcome> {
  const startedAt = clock.monotonic()
  const timeoutMs = settings.timeoutMs ?? defaultTimeoutMs
  const cut = new AbortController()
  const failed = (error: string): Outcome => ({
    state: 'retry',
    error,
    durationMs: Math.round(clock.monotonic() - startedAt),
  })
  const late = `no end of the attempt within ${timeoutMs / secondMs} s`
  const undo: (() => void)[] = []
  undo.push(after(timeoutMs, () => cut.abort(new Error(late))))
  const end = () => cut.abort(new Error('the service stopped'))
  stop.addEventListener('abort', end, { once: true })
  undo.push(() => stop.removeEventListener('abort', end))
  try {
    const {
      id,
      kind,
      accountId,
      lane,
      eventId,
      eventType,
      ref,
      body,
      attempts: attempt,
      createdAt,
      traceparent,
    } = row
    const message = { id, kind, accountId, lane, eventId, eventType, ref, body }
    const outgoing = { ...message, attempt, createdAt, traceparent }
    const sent = sender.send(outgoing, settings, cut.signal)
    return (await within(timeoutMs + graceMs, sent)) ?? failed(late)
  } catch (error) {
    return failed(error instanceof Error ? error.message : 'the sender failed')
  } finally {
    for (const each of undo) each()
  }
}
