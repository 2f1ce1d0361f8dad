import type { Database } from 'bun:sqlite'
import { transact } from '../../../src/database/database.ts'
import { createOutboxJob, type OutboxJob } from '../../../src/instance/jobs/outbox.ts'
import { createRunner } from '../../../src/instance/jobs/runner.ts'
import { createSeededIds, type Ids } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock, type ManualClock } from '../../../src/lib/time/clock.ts'
import {
  createOutbox,
  type LanePolicy,
  type Message,
  type Outbox,
  type OutgoingMessage,
  type Settled,
} from '../../../src/outbox/outbox.ts'
import { createOutboxStore } from '../../../src/outbox/store/outbox.ts'
import type { Outcome } from '../../../src/send/attempt.ts'
import { databaseInMemory } from '../instance/database.ts'

export interface Sent {
  eventId: string
  lane: string
  attempt: number
  at: number
}

/** An outbox over a database in memory with a sender that writes down what it is given. */
export interface OutboxWorld {
  db: Database
  clock: ManualClock
  ids: Ids
  outbox: Outbox
  job: OutboxJob
  log: string[]
  sent: Sent[]
  settled: Settled[]
  put(message?: Partial<Message>): string | undefined
  /** One pass and everything that follows from it now. */
  run(): Promise<void>
  /** Moves the clock and runs every stop on the way. */
  advance(ms: number): Promise<void>
  /** The same database under a new process. */
  restart(): OutboxWorld
}

export interface OutboxWorldOptions {
  answer?: (message: OutgoingMessage, signal: AbortSignal) => Outcome | Promise<Outcome>
  policy?: (lane: string) => LanePolicy
  concurrency?: number
  perLane?: number
  retention?: { mayForget(): boolean }
  chance?: () => number
  now?: number
  seed?: number
  db?: Database
  clock?: ManualClock
}

export const delivered: Outcome = { state: 'delivered', statusCode: 200, durationMs: 5 }
export const unavailable: Outcome = {
  state: 'retry',
  statusCode: 503,
  error: 'the receiver returned status 503',
  durationMs: 5,
}
export const refused: Outcome = {
  state: 'failed',
  statusCode: 410,
  error: 'the receiver returned status 410',
  durationMs: 5,
}

export function outboxWorld(options: OutboxWorldOptions = {}): OutboxWorld {
  const { answer = () => delivered, policy = () => ({ state: 'open' }), seed = 1 } = options
  const clock =
    options.clock ?? createManualClock(options.now ?? Date.parse('2026-11-20T15:00:00Z'))
  const db = options.db ?? databaseInMemory()
  const ids = createSeededIds(seed)
  const lines: string[] = []
  const log = createLog({
    level: 'debug',
    format: 'json',
    write: line => void lines.push(line),
    clock,
  })
  const queue = createOutbox(createOutboxStore(db), {
    db,
    clock,
    ids,
    log,
    chance: options.chance ?? (() => 0),
  })
  const sent: Sent[] = []
  const settled: Settled[] = []
  const send = async (message: OutgoingMessage, _lane: unknown, signal: AbortSignal) => {
    sent.push({
      eventId: message.eventId,
      lane: message.lane,
      attempt: message.attempt,
      at: clock.now(),
    })
    return await answer(message, signal)
  }
  queue.register('webhook', { send }, { policy })
  queue.listen('webhook', settlement => void settled.push(settlement))
  const job = createOutboxJob({
    outbox: queue,
    clock,
    log,
    concurrency: options.concurrency ?? 20,
    perLane: options.perLane ?? 4,
    ...(options.retention && { retention: options.retention }),
  })
  const jobs = createRunner([job], clock, log)
  const run = async () => {
    await jobs.tick()
    await job.settled()
  }
  let messageCount = 0
  return {
    db,
    clock,
    ids,
    outbox: queue,
    job,
    log: lines,
    sent,
    settled,
    run,
    put(message = {}) {
      messageCount += 1
      const eventId = `evt_${String(messageCount).padStart(26, '0')}`
      const whole = {
        kind: 'webhook',
        accountId: null,
        lane: 'a',
        eventId,
        eventType: 'price.updated',
        body: `{"n":${messageCount}}`,
        ...message,
      } as const
      return transact(db, () => queue.put(whole))
    },
    advance: ms => jobs.advance(clock, clock.now() + ms),
    restart: () => outboxWorld({ ...options, db, clock, seed: seed + 1 }),
  }
}
