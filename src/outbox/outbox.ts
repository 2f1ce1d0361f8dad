import { transact } from '../database/database.ts'
import { currentTrace } from '../lib/trace.ts'
import type { Outcome } from '../send/attempt.ts'
import { createOutboxEngine, type EngineDeps, type OutboxDue, type Registry } from './engine.ts'
import { createOutboxLog } from './log.ts'
import type { Lanes, Message, OpenLane, Sender, Settled } from './message.ts'
import { createOutboxLogStore } from './store/log.ts'
import type { OutboxStore } from './store/outbox.ts'
import type { Kind } from './store/rows.ts'
import { vitalsOf } from './vitals.ts'

export type { OutboxLog } from './log.ts'
export type {
  LanePolicy,
  Lanes,
  Message,
  OpenLane,
  OutgoingMessage,
  Sender,
  Settled,
  Share,
  WebhookTarget,
} from './message.ts'
export type { Kind, LogEntry, MessageState } from './store/rows.ts'

export type Outbox = ReturnType<typeof createOutbox>

export function createOutbox(store: OutboxStore, deps: EngineDeps) {
  const { db, clock, ids } = deps
  const registry: Registry = {
    senders: new Map(),
    listeners: new Map(),
    ended: { retry: 0, delivered: 0, failed: 0 },
    shut: new Set(),
  }
  const { engine, due } = createOutboxEngine(store, registry, deps)
  const never = new AbortController().signal

  const add = (
    message: Omit<Message, 'lane' | 'id'>,
    lane: string,
    id: string,
    bodyId: number,
    now: number,
  ): boolean => {
    const {
      kind,
      accountId,
      eventId,
      eventType,
      ref = null,
      dueAt = now,
      maxRetries = null,
      skipped,
    } = message
    const laneId = store.laneId(kind, lane)
    const isNew = store.add({
      id,
      laneId,
      accountId,
      eventId,
      eventType,
      bodyId,
      ref,
      traceparent: currentTrace(),
      dueAt,
      maxRetries,
      createdAt: now,
      skipped,
    })
    if (isNew && skipped === undefined) due(kind, lane, dueAt)
    return isNew
  }
  /**
   * Runs inside the caller's transaction. Returns the message's id, or undefined when the lane has
   * the event already.
   */
  const put = (message: Message): string | undefined => {
    const now = clock.now()
    const id = message.id ?? ids.uuidAt(now)
    const bodyId = store.addBody(message.body, 1)
    if (add(message, message.lane, id, bodyId, now)) return id
    store.changeUses(bodyId, -1)
    return undefined
  }
  return {
    put,
    /**
     * As `put` for each, in their order and in few statements. Neighbours with one body share it.
     */
    putAll(messages: readonly Message[]) {
      const putIds: (string | undefined)[] = []
      // Those that are only logged keep their place among the others.
      let from = 0
      for (let to = 0; to <= messages.length; to += 1) {
        const message = messages[to]
        if (message && message.skipped === undefined) continue
        putIds.push(...addAll(store, messages.slice(from, to), deps, due))
        if (message) putIds.push(put(message))
        from = to + 1
      }
      return putIds
    },
    /**
     * Puts one event into many lanes of a kind, with one stored body. Returns the ids of new
     * messages.
     */
    fanOut(lanes: readonly string[], message: Omit<Message, 'lane' | 'id'>) {
      if (lanes.length === 0) return []
      const now = clock.now()
      const bodyId = store.addBody(message.body, lanes.length)
      const putIds: string[] = []
      for (const lane of lanes) {
        const id = ids.uuidAt(now)
        if (add(message, lane, id, bodyId, now)) putIds.push(id)
      }
      if (putIds.length < lanes.length) store.changeUses(bodyId, putIds.length - lanes.length)
      return putIds
    },
    /**
     * Adds a listener for every attempt that ended; it is called inside the transaction that
     * records the attempt.
     */
    listen(kind: Kind, listener: (settled: Settled) => void) {
      registry.listeners.set(kind, [...(registry.listeners.get(kind) ?? []), listener])
    },
    /**
     * Registers the sender of a kind and its lanes; without `lanes` all of them are open. Until
     * then messages wait.
     */
    register(kind: Kind, sender: Sender, lanes?: Lanes) {
      registry.senders.set(kind, { sender, lanes })
      for (const waiting of store.backlog())
        if (waiting.kind === kind) due(kind, waiting.lane, waiting.dueAt)
    },
    /**
     * Puts a message and sends it at once, in one attempt, whatever the lane's limits; returns the
     * result. Not inside a transaction.
     */
    async sendNow(
      message: Omit<Message, 'dueAt' | 'maxRetries' | 'skipped'>,
      terms: OpenLane,
    ): Promise<Outcome & { id: string }> {
      const row = transact(db, () => {
        // Due never: only this claim finds it, and a process that ends before the answer leaves it
        // unsent.
        const id = put({ ...message, maxRetries: 0, dueAt: Number.MAX_SAFE_INTEGER })
        return id === undefined ? undefined : engine.claimOne(id, terms)
      })
      if (!row) throw new Error(`lane ${message.lane} has the event ${message.eventId} already`)
      const outcome = await engine.attempt(row, terms, never)
      transact(db, () => engine.settle(row, terms, outcome))
      return { ...outcome, id: row.id }
    },
    /** A lane has other rules now: it was opened again, or its owner is gone. */
    wake: (kind: Kind, lane: string) => due(kind, lane, clock.now()),
    /** Looks again at every lane in which something waits. */
    wakeAll() {
      for (const { kind, lane, dueAt } of store.backlog()) due(kind, lane, dueAt)
    },
    /** The log of messages, sent and waiting. */
    log: createOutboxLog(createOutboxLogStore(db), clock, due),
    vitals: () => vitalsOf(store, registry, engine),
    /** For the job that sends. */
    engine,
  }
}

/** Messages that are to be sent; the ids of those that are new. */
function addAll(
  store: OutboxStore,
  messages: readonly Message[],
  { clock, ids }: EngineDeps,
  due: OutboxDue,
): (string | undefined)[] {
  if (messages.length === 0) return []
  const now = clock.now()
  const bodies: { body: string; uses: number }[] = []
  /** Lanes of a kind by name, for as long as nothing of this call can be taken back alone. */
  const lanes = new Map<string, { kind: Kind; lane: string; id: number; dueAt: number }>()
  const rows = messages.map(message => {
    const {
      kind,
      lane,
      accountId,
      eventId,
      eventType,
      ref = null,
      dueAt = now,
      maxRetries = null,
    } = message
    const name = `${kind} ${lane}`
    const laneEntry = lanes.get(name) ?? { kind, lane, id: store.laneId(kind, lane), dueAt }
    lanes.set(name, laneEntry)
    laneEntry.dueAt = Math.min(laneEntry.dueAt, dueAt)
    const last = bodies.at(-1)
    if (last?.body === message.body) last.uses += 1
    else bodies.push({ body: message.body, uses: 1 })
    const id = message.id ?? ids.uuidAt(now)
    const bodyId = bodies.length - 1
    return {
      id,
      laneId: laneEntry.id,
      accountId,
      eventId,
      eventType,
      bodyId,
      ref,
      traceparent: currentTrace(),
      dueAt,
      maxRetries,
      createdAt: now,
    }
  })
  const firstBody = store.addBodies(bodies)
  for (const row of rows) row.bodyId += firstBody
  const added = store.addAll(rows)
  for (const { kind, lane, dueAt } of lanes.values()) due(kind, lane, dueAt)
  if (added.length === rows.length) return rows.map(row => row.id)
  const newRows = new Set(added)
  for (const row of rows) if (!newRows.has(row)) store.changeUses(row.bodyId, -1)
  return rows.map(row => (newRows.has(row) ? row.id : undefined))
}
