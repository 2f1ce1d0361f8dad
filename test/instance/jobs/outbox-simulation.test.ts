import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import type { LanePolicy, OutgoingMessage } from '../../../src/outbox/outbox.ts'
import type { Outcome } from '../../../src/send/attempt.ts'
import { isFull } from '../../support/full.ts'
import {
  delivered,
  type OutboxWorld,
  outboxWorld,
  refused,
  unavailable,
} from '../../support/topics/outbox.ts'

const torture = process.env.WELLHEAD_TORTURE === '1'
const [seeds, steps] = torture ? [10_000, 500] : [isFull ? 30 : 10, 150]
const dayMs = 86_400_000
const attemptsMax = 6

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
function chances(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The facts about a message outside the outbox. */
interface Truth {
  sends: number
  /** Sends since it was last sent again that had an answer which was recorded, or none. */
  received: boolean
  putAgain: number
}

interface Row {
  id: string
  eventId: string
  lane: string
  state: string
  attempts: number
  tries: number
  recorded: number
}

/**
 * One run: messages are put, sent, answered in any order; the process is killed, the disk is full,
 * lanes are parked and opened.
 */
async function simulate(
  seed: number,
  dir: string,
): Promise<{ sends: number; crashes: number; messages: number }> {
  const chance = chances(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!
  const path = join(dir, `${seed}.db`)
  // A schema for each seed would take longer than its steps.
  copyFileSync(join(dir, 'empty.db'), path)
  const open = () => {
    const db = openDatabase(path)
    db.run('PRAGMA synchronous = OFF')
    return db
  }
  const truths = new Map<string, Truth>()
  const parked = new Set<string>()
  let pending: { message: OutgoingMessage; end: (outcome: Outcome) => void }[] = []
  let most = 0
  let crashes = 0
  let generation = 0
  const policy = (lane: string): LanePolicy =>
    parked.has(lane)
      ? { state: 'parked' }
      : { state: 'open', ordered: lane === 'ordered', ...(lane === 'slow' && { ratePerSecond: 2 }) }
  const answer = (message: OutgoingMessage) =>
    new Promise<Outcome>(end => {
      truths.get(message.eventId)!.sends += 1
      pending.push({ message, end })
      most = Math.max(most, pending.length)
    })
  const start = (before?: OutboxWorld) => {
    generation += 1
    return outboxWorld({
      db: open(),
      answer,
      policy,
      concurrency: 5,
      perLane: 2,
      chance,
      seed: seed * 1_000 + generation,
      ...(before && { clock: before.clock }),
    })
  }
  let world = start()
  const turn = async () => {
    for (let n = 0; n < 4; n += 1) await new Promise<void>(done => setImmediate(done))
  }
  const end = async (outcome: Outcome) => {
    const [attempt] = pending.splice(Math.floor(chance() * pending.length), 1)
    if (!attempt) return
    if (outcome.state === 'delivered') truths.get(attempt.message.eventId)!.received = true
    attempt.end(outcome)
    // Sometimes the process is killed before the answer is recorded.
    if (chance() < 0.9) await turn()
  }
  const crash = () => {
    crashes += 1
    for (const { message } of pending)
      if (chance() < 0.5) truths.get(message.eventId)!.received = true
    pending = []
    world.db.close()
    world = start(world)
  }
  let messageCount = 0
  const operations: (() => void | Promise<void>)[] = [
    () => {
      messageCount += 1
      const eventId = `evt_${String(messageCount).padStart(26, '0')}`
      if (world.put({ eventId, lane: pick(['a', 'b', 'ordered', 'slow']) }))
        truths.set(eventId, { sends: 0, received: false, putAgain: 0 })
    },
    () => {
      const eventId = pick([...truths.keys(), ''])
      const lane = rowsOf(world.db).find(row => row.eventId === eventId)?.lane
      if (lane) expect(world.put({ eventId, lane })).toBeUndefined()
    },
    () => world.job.pass(),
    () => world.job.pass(),
    () => end(delivered),
    () => end(pick([unavailable, unavailable, refused])),
    () => end(delivered),
    () => void world.clock.advance(Math.floor(chance() * 600_000)),
    () => void world.clock.advance(1_000),
    () => {
      const lane = pick(['a', 'b', 'ordered', 'slow'])
      if (!parked.delete(lane)) parked.add(lane)
      else world.outbox.wake('webhook', lane)
    },
    () => {
      const row = pick([...rowsOf(world.db), undefined])
      if (!row || !['delivered', 'failed'].includes(row.state) || parked.has(row.lane)) return
      world.outbox.log.resend('webhook', row.lane, row.eventId)
      Object.assign(truths.get(row.eventId)!, { received: false })
      truths.get(row.eventId)!.putAgain += 1
    },
    () => {
      if (chance() < 0.3) crash()
    },
    async () => {
      world.db.run(
        "CREATE TEMP TRIGGER full BEFORE UPDATE ON outbox BEGIN SELECT RAISE(FAIL, 'disk full'); END",
      )
      await end(delivered)
      await Promise.resolve(world.job.pass()).catch(error =>
        expect(String(error)).toContain('disk full'),
      )
      world.db.run('DROP TRIGGER full')
    },
    () => {
      if (chance() > 0.2) return
      world.job.halt()
      crash()
    },
  ]
  for (let step = 0; step < steps; step += 1) {
    await pick(operations)()
    check(rowsOf(world.db), truths, pending)
  }
  // Finally the receiver recovers and every lane is open.
  for (const lane of parked) {
    parked.delete(lane)
    world.outbox.wake('webhook', lane)
  }
  for (let day = 0; day < 4; day += 1) {
    for (let rounds = 0; rounds < 200; rounds += 1) {
      await world.job.pass()
      if (pending.length === 0 && world.outbox.vitals().pending === 0) break
      while (pending.length > 0) await end(delivered)
      await turn()
      world.clock.advance(1_000)
    }
    world.clock.advance(dayMs / 2)
  }
  const rows = rowsOf(world.db)
  check(rows, truths, pending)
  expect(rows).toHaveLength(truths.size)
  expect(rows.filter(row => row.state !== 'delivered' && row.state !== 'failed')).toEqual([])
  expect(most).toBeLessThanOrEqual(5)
  world.job.halt()
  world.db.close()
  for (const ending of ['', '-wal', '-shm', '-checksums'])
    rmSync(`${path}${ending}`, { force: true })
  return {
    sends: [...truths.values()].reduce((sum, truth) => sum + truth.sends, 0),
    crashes,
    messages: truths.size,
  }
}

const rowsOf = (db: Database): Row[] =>
  db
    .query(
      `SELECT outbox.id, event_id AS eventId, lane, state, attempts, tries, (SELECT count(*) FROM outbox_attempts WHERE message_number = outbox.number) AS recorded
       FROM outbox JOIN outbox_lanes ON outbox_lanes.id = lane_id`,
    )
    .all() as Row[]

function check(
  rows: Row[],
  truths: Map<string, Truth>,
  pending: readonly { message: OutgoingMessage }[],
): void {
  const states = new Map<string, string>()
  for (const row of rows) {
    states.set(row.id, row.state)
    const truth = truths.get(row.eventId)!
    const isInProgress = row.state === 'leased'
    // Compared here: millions of matchers with their words would take an hour.
    const wrong =
      row.attempts !== truth.sends
        ? 'an attempt was not counted'
        : row.recorded !== row.attempts - (isInProgress ? 1 : 0)
          ? 'an attempt that ended was not recorded'
          : row.state === 'delivered' && !truth.received
            ? 'it is recorded as delivered but was not received'
            : row.tries > attemptsMax || row.tries < 0
              ? 'it was called more often than the schedule permits'
              : undefined
    if (wrong) expect.unreachable(`${wrong}: ${JSON.stringify(row)} ${JSON.stringify(truth)}`)
  }
  for (const { message } of pending)
    if (states.get(message.id) !== 'leased')
      expect.unreachable(`${message.eventId} is on its way without a lease`)
}

test(`${seeds} seeds of ${steps} steps: nothing is lost, nothing is recorded without a lease, attempts are exact`, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-outbox-'))
  const sum = { sends: 0, crashes: 0, messages: 0 }
  openDatabase(join(dir, 'empty.db')).close()
  try {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const figures = await simulate(seed, dir).catch(error => {
        throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`)
      })
      for (const name of ['sends', 'crashes', 'messages'] as const) sum[name] += figures[name]
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
  console.log(JSON.stringify({ id: 'R21', seeds, steps, failures: 0, ...sum }))
  expect(sum.crashes).toBeGreaterThan(seeds / 2)
}, 14_400_000)

test('the simulation notices a message that is lost', () => {
  const truths = new Map([['evt_1', { sends: 1, received: false, putAgain: 0 }]])
  const row = {
    id: '1',
    eventId: 'evt_1',
    lane: 'a',
    state: 'delivered',
    attempts: 1,
    tries: 1,
    recorded: 1,
  }
  expect(() => check([row], truths, [])).toThrow()
})
