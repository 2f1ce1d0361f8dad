import { describe, expect, test } from 'bun:test'
import { transact } from '../../../src/database/database.ts'
import type { LanePolicy, OutgoingMessage } from '../../../src/outbox/outbox.ts'
import { senderComponents } from '../../../src/outbox/vitals.ts'
import type { Outcome } from '../../../src/send/attempt.ts'
import { DoesNotOpen } from '../../../src/topics/keys/service/vault.ts'
import { delivered, outboxWorld, refused, unavailable } from '../../support/topics/outbox.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const webhookWaits = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 6 * hourMs]

/** Attempts that end on demand. */
function gates() {
  const open: (() => void)[] = []
  let most = 0
  return {
    answer: () =>
      new Promise<Outcome>(done => {
        open.push(() => done(delivered))
        most = Math.max(most, open.length)
      }),
    get waiting() {
      return open.length
    },
    get most() {
      return most
    },
    async openAll() {
      while (open.length > 0) {
        for (const each of open.splice(0)) each()
        for (let turns = 0; turns < 5; turns += 1)
          await new Promise<void>(done => setImmediate(done))
      }
    },
  }
}

describe('the retry schedule', () => {
  for (let failures = 0; failures <= 6; failures += 1) {
    test(`a receiver that fails ${failures} times is called at the scheduled times and no more often`, async () => {
      const world = outboxWorld({
        answer: ({ attempt }) => (attempt <= failures ? unavailable : delivered),
      })
      const startedAt = world.clock.now()
      world.put()
      await world.run()
      await world.advance(10 * hourMs)
      const attempts = Math.min(failures + 1, 6)
      const waits = webhookWaits.slice(0, attempts - 1)
      expect(world.sent.map(sending => sending.at - startedAt)).toEqual([
        0,
        ...waits.map((_, i) => waits.slice(0, i + 1).reduce((a, b) => a + b)),
      ])
      expect(world.settled.map(settlement => settlement.state)).toEqual([
        ...waits.map(() => 'retry'),
        failures < 6 ? 'delivered' : 'failed',
      ] as never)
      expect(world.outbox.vitals()).toMatchObject({ pending: 0, inFlight: 0 })
    })
  }

  test('waits are never shorter and at most five per cent longer, to the full second', async () => {
    for (const chance of [0, 0.5, 0.999_999]) {
      const world = outboxWorld({ answer: () => unavailable, chance: () => chance })
      world.put()
      await world.run()
      await world.advance(10 * hourMs)
      const waits = world.sent.slice(1).map((sending, i) => sending.at - world.sent[i]!.at)
      expect(waits).toHaveLength(5)
      for (const [i, wait] of waits.entries()) {
        const due = webhookWaits[i]! + Math.floor(webhookWaits[i]! * 0.05 * chance)
        expect(wait).toBe(Math.ceil(due / 1000) * 1000)
      }
    }
  })

  test('ends where the lane or the message wants it to end', async () => {
    const world = outboxWorld({
      answer: () => unavailable,
      policy: lane => ({ state: 'open', maxRetries: lane === 'two' ? 2 : 5 }),
    })
    world.put({ lane: 'two' })
    world.put({ lane: 'once', maxRetries: 0 })
    await world.run()
    await world.advance(dayMs)
    expect(world.sent.filter(sending => sending.lane === 'two')).toHaveLength(3)
    expect(world.sent.filter(sending => sending.lane === 'once')).toHaveLength(1)
    expect(world.settled.filter(settlement => settlement.state === 'failed')).toHaveLength(2)
  })

  test('what the receiver asked for takes the place of the schedule, once', async () => {
    const world = outboxWorld({
      answer: ({ attempt }) =>
        attempt === 1
          ? { ...unavailable, retryAfterMs: 7_000 }
          : attempt === 2
            ? unavailable
            : delivered,
    })
    const startedAt = world.clock.now()
    world.put()
    await world.run()
    await world.advance(hourMs)
    expect(world.sent.map(sending => sending.at - startedAt)).toEqual([
      0,
      7_000,
      7_000 + 5 * minuteMs,
    ])
  })

  test('a refusal ends it at once, and a sender that throws counts as one to try again', async () => {
    const world = outboxWorld({
      answer({ lane, attempt }) {
        if (lane === 'b' && attempt === 1) throw new Error('no such thing')
        return lane === 'a' ? refused : delivered
      },
    })
    world.put({ lane: 'a' })
    world.put({ lane: 'b' })
    await world.run()
    await world.advance(dayMs)
    const endsOf = (lane: string) =>
      world.settled
        .filter(settlement => settlement.lane === lane)
        .map(settlement => [settlement.state, settlement.error])
    expect(endsOf('a')).toEqual([['failed', 'the receiver returned status 410']])
    expect(endsOf('b')).toEqual([
      ['retry', 'no such thing'],
      ['delivered', null],
    ])
  })
})

describe('limits', () => {
  test('no more than twenty are under way, four of a lane, and every lane has its turn', async () => {
    const gate = gates()
    const world = outboxWorld({ answer: gate.answer })
    for (let n = 0; n < 50; n += 1) world.put({ lane: 'busy' })
    for (let lane = 0; lane < 10; lane += 1)
      for (let n = 0; n < 3; n += 1) world.put({ lane: `lane ${lane}` })
    await world.job.pass()
    expect(gate.waiting).toBe(20)
    const lanes = Map.groupBy(world.sent, sending => sending.lane)
    expect(lanes.get('busy')).toHaveLength(4)
    await gate.openAll()
    await world.job.settled()
    expect(gate.most).toBe(20)
    expect(world.settled).toHaveLength(80)
  })

  test('a lane with a rate begins no more than that in any second', async () => {
    const world = outboxWorld({ policy: () => ({ state: 'open', ratePerSecond: 10 }) })
    for (let n = 0; n < 35; n += 1) world.put()
    await world.run()
    expect(world.sent).toHaveLength(10)
    await world.advance(3_000)
    const startedAt = world.sent[0]!.at
    expect(world.sent.map(sending => sending.at - startedAt)).toEqual(
      Array.from({ length: 35 }, (_, n) => Math.floor(n / 10) * 1_000),
    )
  })

  test('a lane that keeps its order sends nothing past a message that is still to be tried', async () => {
    const world = outboxWorld({
      answer: ({ eventId, attempt }) =>
        eventId.endsWith('2') && attempt < 3 ? unavailable : delivered,
      policy: lane => ({ state: 'open', ordered: lane === 'a' }),
    })
    for (let n = 0; n < 4; n += 1) world.put({ lane: 'a' })
    world.put({ lane: 'b' })
    await world.run()
    const sentNumbers = (lane: string) =>
      world.sent
        .filter(sending => sending.lane === lane)
        .map(sending => Number(sending.eventId.slice(4)))
    expect([sentNumbers('a'), sentNumbers('b')]).toEqual([[1, 2], [5]])
    await world.advance(hourMs)
    expect(sentNumbers('a')).toEqual([1, 2, 2, 2, 3, 4])
    const at = world.sent.filter(sending => sending.lane === 'a').map(sending => sending.at)
    expect([at[2]! - at[1]!, at[3]! - at[2]!]).toEqual([minuteMs, 5 * minuteMs])
  })
})

describe('lanes that are closed', () => {
  test('a parked lane waits and resumes when it is opened and woken', async () => {
    let policy: LanePolicy = { state: 'parked' }
    const world = outboxWorld({ policy: () => policy })
    world.put()
    await world.run()
    await world.advance(dayMs)
    expect({ sent: world.sent.length, vitals: world.outbox.vitals() }).toMatchObject({
      sent: 0,
      vitals: { pending: 0, parked: 1, oldestAt: undefined },
    })
    policy = { state: 'open' }
    world.outbox.wake('webhook', 'a')
    await world.run()
    expect(world.settled.map(settlement => settlement.state)).toEqual(['delivered'])
  })

  test('what waited for thirty days in a parked lane fails then, without blame', async () => {
    const world = outboxWorld({ policy: () => ({ state: 'parked' }) })
    const startedAt = world.clock.now()
    for (let n = 0; n < 250; n += 1) world.put()
    world.put({ dueAt: startedAt + dayMs })
    await world.run()
    await world.advance(30 * dayMs)
    expect(world.settled).toHaveLength(0)
    await world.advance(dayMs - 1)
    expect(world.settled).toHaveLength(250)
    await world.advance(dayMs)
    expect(world.settled).toHaveLength(251)
    expect(
      new Set(
        world.settled.map(
          settlement => `${settlement.state} ${settlement.blameless} ${settlement.at - startedAt}`,
        ),
      ),
    ).toEqual(new Set([`failed true ${30 * dayMs + 1000}`, `failed true ${31 * dayMs + 1000}`]))
    expect(world.sent).toHaveLength(0)
  })

  test('what waits for a lane that is gone fails with the reason and is never sent', async () => {
    const world = outboxWorld({
      policy: () => ({ state: 'gone', reason: 'the endpoint was deleted' }),
    })
    for (let n = 0; n < 250; n += 1) world.put()
    await world.run()
    expect(world.settled).toHaveLength(250)
    expect(new Set(world.settled.map(settlement => settlement.error))).toEqual(
      new Set(['the endpoint was deleted']),
    )
    expect({ sent: world.sent.length, pending: world.outbox.vitals().pending }).toEqual({
      sent: 0,
      pending: 0,
    })
  })

  test('a message kind without a sender waits until one is registered', async () => {
    const world = outboxWorld()
    world.put({ kind: 'sms', lane: 'sms' })
    await world.run()
    await world.advance(dayMs)
    expect(world.outbox.vitals()).toMatchObject({ pending: 1 })
    const texts: string[] = []
    world.outbox.register('sms', {
      async send(message: OutgoingMessage) {
        texts.push(message.body)
        return delivered
      },
    })
    await world.run()
    expect(texts).toHaveLength(1)
  })
})

describe('a process that ends', () => {
  test('a restarted process resends interrupted messages under the same ids without counting a fault', async () => {
    const world = outboxWorld({ answer: () => new Promise(() => undefined) })
    world.put()
    world.put()
    await world.job.pass()
    expect(world.sent).toHaveLength(2)
    const next = outboxWorld({ db: world.db, clock: world.clock, seed: 2 })
    await next.run()
    expect(
      next.settled.map(settlement => [settlement.state, settlement.blameless, settlement.attempts]),
    ).toEqual([
      ['retry', true, 1],
      ['retry', true, 1],
      ['delivered', false, 2],
      ['delivered', false, 2],
    ])
    expect(next.sent.map(sending => sending.eventId)).toEqual(
      world.sent.map(sending => sending.eventId),
    )
    expect(next.log.join('')).toContain('"messages":2')
  })

  test('an attempt that was cut short does not use up the schedule', async () => {
    const world = outboxWorld({ answer: () => new Promise(() => undefined) })
    world.put()
    await world.job.pass()
    const next = outboxWorld({
      db: world.db,
      clock: world.clock,
      seed: 2,
      answer: () => unavailable,
    })
    await next.run()
    await next.advance(10 * hourMs)
    expect(next.sent).toHaveLength(6)
    expect(next.settled.at(-1)).toMatchObject({ state: 'failed', blameless: false, attempts: 7 })
  })

  test('a message that a process ends at again and again is given up', async () => {
    let world = outboxWorld({ answer: () => new Promise(() => undefined) })
    world.put()
    for (let n = 0; n < 20; n += 1) {
      await world.job.pass()
      world = world.restart()
    }
    await world.run()
    expect(world.settled).toMatchObject([{ state: 'failed', blameless: true, attempts: 20 }])
    expect(world.sent).toHaveLength(0)
  })

  test('a stopping outbox waits for messages in progress and starts no more', async () => {
    const gate = gates()
    const world = outboxWorld({ answer: gate.answer, perLane: 1 })
    world.put()
    world.put()
    await world.job.pass()
    const drained = world.job.drain()
    world.put()
    await gate.openAll()
    await drained
    expect({ sent: world.sent.length, settled: world.settled.length }).toEqual({
      sent: 1,
      settled: 1,
    })
    world.job.halt()
    const next = world.restart()
    await next.job.pass()
    expect(next.sent).toHaveLength(1)
  })

  test('a halted outbox releases messages in progress and ignores their later responses', async () => {
    const gate = gates()
    const world = outboxWorld({ answer: gate.answer })
    world.put()
    await world.job.pass()
    world.job.halt()
    expect(world.settled).toMatchObject([{ state: 'retry', blameless: true, attempts: 1 }])
    await gate.openAll()
    await world.job.pass()
    expect(world.settled).toHaveLength(1)
    expect(world.outbox.vitals()).toMatchObject({ pending: 1, inFlight: 0 })
  })

  test('a clock that is moved past a lease does not free what this process still sends', async () => {
    const gate = gates()
    const world = outboxWorld({ answer: gate.answer })
    world.put()
    await world.job.pass()
    world.clock.advance(hourMs)
    await world.job.pass()
    expect(world.settled).toHaveLength(0)
    await gate.openAll()
    await world.job.settled()
    expect(world.settled).toMatchObject([{ state: 'delivered', attempts: 1 }])
  })
})

describe('a database that cannot be written', () => {
  test('a database that cannot be written keeps sent messages for recording, and nothing is sent twice', async () => {
    const gate = gates()
    const world = outboxWorld({ answer: gate.answer })
    world.put()
    world.put({ dueAt: world.clock.now() + 1_000 })
    await world.job.pass()
    world.db.run(
      "CREATE TEMP TRIGGER full BEFORE UPDATE ON outbox BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END",
    )
    await gate.openAll()
    await world.job.pass()
    expect([world.settled.length, world.log.join('').includes('database or disk is full')]).toEqual(
      [0, true],
    )
    world.db.run('DROP TRIGGER full')
    world.clock.advance(1_000)
    await world.job.pass()
    await gate.openAll()
    await world.job.settled()
    expect(world.settled.map(settlement => [settlement.state, settlement.attempts])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ])
    expect(world.sent).toHaveLength(2)
  })

  test('takes again what could not be taken', async () => {
    const world = outboxWorld()
    await world.run()
    world.put()
    world.db.run(
      "CREATE TEMP TRIGGER full BEFORE UPDATE ON outbox BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END",
    )
    await world.job.pass()
    world.db.run('DROP TRIGGER full')
    await world.run()
    expect(world.sent.map(sending => sending.attempt)).toEqual([1])
  })

  test('a listener that fails does not bring its message to life again', async () => {
    const world = outboxWorld()
    world.outbox.listen('webhook', () => {
      world.db.run("INSERT INTO settings VALUES ('half', 'done')")
      throw new Error('a fault in what follows')
    })
    world.put()
    await world.run()
    await world.advance(dayMs)
    expect(world.sent).toHaveLength(1)
    expect(world.db.query("SELECT * FROM settings WHERE name = 'half'").get()).toBeNull()
    expect(world.outbox.log.page('webhook', 'a', {}, 10, 0).entries).toMatchObject([
      { state: 'delivered' },
    ])
    expect(world.log.join('')).toContain('a fault in what follows')
  })
})

test('a message put while the job runs is sent without waiting for the next beat', async () => {
  const world = outboxWorld()
  world.job.start()
  world.put()
  expect(world.sent).toHaveLength(0)
  for (let turns = 0; turns < 5 && world.settled.length === 0; turns += 1)
    await new Promise<void>(done => setImmediate(done))
  expect(world.settled).toMatchObject([{ state: 'delivered' }])
})

test('a message of a transaction that is taken back is never sent', async () => {
  const world = outboxWorld()
  const put = () =>
    transact(world.db, () => {
      world.outbox.put({
        kind: 'webhook',
        accountId: null,
        lane: 'new lane',
        eventId: 'evt_1',
        eventType: 'x',
        body: '{}',
      })
      throw new Error('taken back')
    })
  expect(put).toThrow('taken back')
  await world.run()
  expect(world.sent).toHaveLength(0)
  world.put({ lane: 'another' })
  await world.run()
  expect(world.sent.map(sending => sending.lane)).toEqual(['another'])
})

test('messages that settled thirty days ago are deleted, however many there are', async () => {
  const world = outboxWorld()
  for (let n = 0; n < 350; n += 1) world.put({ lane: `lane ${n % 7}` })
  await world.run()
  await world.advance(30 * dayMs)
  const rows = () => world.db.query('SELECT count(*) AS n FROM outbox').get()
  expect(rows()).toEqual({ n: 350 })
  world.put({ lane: 'lane 1', dueAt: world.clock.now() + 40 * dayMs })
  await world.advance(2 * minuteMs)
  expect(rows()).toEqual({ n: 1 })
})

test('settled messages stay while the clock may be wrong', async () => {
  let isSteady = false
  const world = outboxWorld({ retention: { mayForget: () => isSteady } })
  world.put()
  await world.run()
  const rows = () => world.db.query('SELECT count(*) AS n FROM outbox').get()
  world.clock.advance(365 * dayMs)
  await world.run()
  expect(rows()).toEqual({ n: 1 })
  isSteady = true
  world.clock.advance(2 * minuteMs)
  await world.run()
  expect(rows()).toEqual({ n: 0 })
})

test('an attempt that never ends is cut at the timeout of its lane', async () => {
  let reason = ''
  const world = outboxWorld({
    policy: () => ({ state: 'open', timeoutMs: 20 }),
    answer: (_, signal) =>
      new Promise((_done, fail) =>
        signal.addEventListener('abort', () => {
          reason = String(signal.reason)
          fail(signal.reason)
        }),
      ),
  })
  world.put()
  await world.run()
  expect(world.settled).toMatchObject([
    { state: 'retry', error: 'no end of the attempt within 0.02 s', blameless: false },
  ])
  expect(reason).toContain('0.02 s')
})

describe('a receiver whose secret does not open', () => {
  test('a receiver whose secret cannot be opened gets nothing, delays no others and is reported', async () => {
    const world = outboxWorld({
      policy(lane) {
        if (lane === 'shut') throw new DoesNotOpen('sealed for "webhook shut"')
        return { state: 'open' }
      },
    })
    world.put({ lane: 'shut', eventId: 'evt_1' })
    world.put({ lane: 'open', eventId: 'evt_2' })
    await world.run()
    expect(world.sent.map(sending => sending.lane)).toEqual(['open'])
    expect(
      world.settled.map(({ lane, state, blameless }) => [lane, state, blameless]),
    ).toContainEqual(['shut', 'failed', true])
    expect(world.outbox.vitals()).toMatchObject({ pending: 0, shut: 1 })
    expect(senderComponents(world.outbox, world.clock.now())[0]).toMatchObject({
      status: 'degraded',
      message: expect.stringContaining('1 webhook receiver do'),
    })
    expect(world.log.filter(line => line.includes('outbox_lane_closed')).length).toBe(1)
  })
})
