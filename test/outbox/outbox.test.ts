import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { transact } from '../../src/database/database.ts'
import { waitMs } from '../../src/outbox/schedule.ts'
import { senderComponents } from '../../src/outbox/vitals.ts'
import { runs } from '../support/full.ts'
import {
  delivered,
  type OutboxWorld,
  outboxWorld,
  refused,
  unavailable,
} from '../support/topics/outbox.ts'

const minuteMs = 60_000
const event = {
  kind: 'webhook',
  accountId: null,
  eventId: 'evt_1',
  eventType: 'price.updated',
  body: '{"a":1}',
} as const

describe('outbox.put: a message', () => {
  test('a message is created once for a lane and an event, even when it is requested again', () => {
    const world = outboxWorld()
    const first = world.put({ eventId: 'evt_1' })
    expect(first).toMatch(/^[0-9a-f-]{36}$/)
    expect(world.put({ eventId: 'evt_1', body: '{"other":true}' })).toBeUndefined()
    expect(world.put({ eventId: 'evt_1', lane: 'b' })).toBeString()
    expect(world.db.query('SELECT count(*) AS n FROM outbox_bodies').get()).toEqual({ n: 2 })
  })

  test('for many lanes has one body, and is sent to each with it', async () => {
    const bodies: string[] = []
    const world = outboxWorld({
      answer(message) {
        bodies.push(message.body)
        return delivered
      },
    })
    const lanes = Array.from({ length: 7 }, (_, n) => `lane ${n}`)
    expect(transact(world.db, () => world.outbox.fanOut(lanes, event))).toHaveLength(7)
    expect(transact(world.db, () => world.outbox.fanOut([...lanes, 'new'], event))).toHaveLength(1)
    expect(transact(world.db, () => world.outbox.fanOut([], event))).toEqual([])
    expect(world.db.query('SELECT uses FROM outbox_bodies ORDER BY id').all()).toEqual([
      { uses: 7 },
      { uses: 1 },
    ])
    await world.run()
    expect(bodies).toEqual(Array.from({ length: 8 }, () => event.body))
  })

  test('a message with its own id keeps that id, and a skipped message appears in the log only', async () => {
    const world = outboxWorld()
    const id = '00000000-0000-4000-8000-000000000411'
    expect(world.put({ id, skipped: 'filtered' })).toBe(id)
    await world.run()
    expect(world.sent).toHaveLength(0)
    expect(world.outbox.log.find('webhook', 'a', id)).toMatchObject({
      state: 'skipped',
      error: 'filtered',
      attempts: 0,
      nextAttemptAt: null,
    })
  })

  test('that is due later is sent then', async () => {
    const world = outboxWorld()
    const dueAt = world.clock.now() + 90_000
    world.put({ dueAt })
    await world.run()
    await world.advance(10 * minuteMs)
    expect(world.sent.map(sending => sending.at)).toEqual([dueAt])
  })
})

test('many messages at once are what each of them alone would be', () => {
  const message = fc.record({
    lane: fc.constantFrom('a', 'b', 'c'),
    eventId: fc.constantFrom(...Array.from({ length: 12 }, (_, n) => `evt_${n}`)),
    body: fc.constantFrom('{"a":1}', '{"b":2}'),
    skipped: fc.option(fc.constant('filtered'), { nil: undefined }),
    dueAt: fc.option(fc.constantFrom(0, 5_000_000_000_000), { nil: undefined }),
  })
  const written = (world: OutboxWorld) =>
    world.db
      .query(
        `SELECT lane, event_id, state, due_at, last_error, body, created_at FROM outbox JOIN outbox_lanes ON outbox_lanes.id = lane_id
         JOIN outbox_bodies ON outbox_bodies.id = body_id ORDER BY number`,
      )
      .values()
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      fc.array(message, { maxLength: 40 }),
      (before, drawn) => {
        const [each, all] = [outboxWorld(), outboxWorld()]
        const whole = (some: typeof drawn) =>
          some.map(({ skipped, dueAt, ...rest }) => ({
            ...({ kind: 'webhook', accountId: null, eventType: 'price.updated', ...rest } as const),
            ...(skipped !== undefined && { skipped }),
            ...(dueAt !== undefined && { dueAt }),
          }))
        for (const world of [each, all])
          for (const message of whole(before)) world.outbox.put(message)
        const single = whole(drawn).map(message => each.outbox.put(message) !== undefined)
        const ids = transact(all.db, () => all.outbox.putAll(whole(drawn)))
        expect(ids.map(id => id !== undefined)).toEqual(single)
        expect(written(all)).toEqual(written(each))
        const keptIds = all.db.query('SELECT id FROM outbox ORDER BY number').values().flat()
        for (const id of ids) if (id !== undefined) expect(keptIds).toContain(id)
        const bodyUses =
          'SELECT (SELECT count(*) FROM outbox WHERE body_id = b.id) AS n, uses FROM outbox_bodies b'
        for (const { n, uses } of all.db.query(bodyUses).all() as { n: number; uses: number }[])
          expect(uses).toBe(n)
      },
    ),
    { numRuns: runs(60) },
  )
})

test('many messages at once wake their lanes', async () => {
  const world = outboxWorld()
  transact(world.db, () =>
    world.outbox.putAll(
      ['a', 'b', 'a'].map((lane, n) => ({ ...event, lane, eventId: `evt_${n}` })),
    ),
  )
  await world.run()
  expect(world.sent.map(sending => sending.eventId).sort()).toEqual(['evt_0', 'evt_1', 'evt_2'])
})

describe('outbox.sendNow: a message that is sent at once', () => {
  const now = {
    kind: 'webhook',
    accountId: null,
    lane: 'a',
    eventId: 'evt_test',
    eventType: 'webhook.test',
    body: '{}',
  } as const

  test('a message that is sent immediately has one attempt, returns its outcome and appears in the log', async () => {
    for (const [outcome, state] of [
      [delivered, 'delivered'],
      [unavailable, 'failed'],
      [refused, 'failed'],
    ] as const) {
      const world = outboxWorld({ answer: () => outcome, policy: () => ({ state: 'parked' }) })
      const result = await world.outbox.sendNow(now, { state: 'open' })
      expect(result).toMatchObject({
        state: outcome.state,
        statusCode: outcome.statusCode as number,
      })
      await world.advance(86_400_000)
      expect(world.sent).toHaveLength(1)
      expect(world.outbox.log.find('webhook', 'a', result.id)).toMatchObject({
        state,
        attempts: 1,
        statusCode: outcome.statusCode as number,
      })
    }
  })

  test('and was cut short by the end of the process is not sent later', async () => {
    const world = outboxWorld({ answer: () => new Promise(() => undefined) })
    void world.outbox.sendNow(now, { state: 'open' })
    const next = outboxWorld({ db: world.db, clock: world.clock, seed: 2 })
    await next.run()
    expect(next.sent).toHaveLength(0)
    expect(next.settled).toMatchObject([{ state: 'failed', blameless: true }])
  })

  test('is refused when the lane has its event already', () => {
    const world = outboxWorld()
    world.put({ eventId: 'evt_test' })
    expect(world.outbox.sendNow(now, { state: 'open' })).rejects.toThrow(
      'has the event evt_test already',
    )
  })
})

describe('outbox.log: the log', () => {
  const states = ['delivered', 'failed', 'retry'] as const
  /** Thirty messages, a second apart, whose outcome follows from their number. */
  async function filled() {
    const world = outboxWorld({
      answer({ eventId }) {
        const outcome = [delivered, refused, unavailable][Number(eventId.slice(4)) % 3]!
        return {
          ...outcome,
          exchange: {
            requestHeaders: {},
            responseHeaders: {},
            responseBody: 'x',
            timing: { connectMs: 1, firstByteMs: 2, totalMs: 3 },
            tls: null,
          },
        }
      },
      policy: lane => ({ state: 'open', debug: lane === 'a', maxRetries: 1 }),
    })
    for (let n = 1; n <= 30; n += 1) {
      world.put({ eventType: n % 2 === 0 ? 'even' : 'odd' })
      world.clock.advance(1_000)
    }
    world.put({ lane: 'other' })
    await world.run()
    return world
  }

  test('is paged newest first without losing or repeating an entry, by state and type', async () => {
    const { outbox } = await filled()
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.option(fc.subarray([...states], { minLength: 1 }), { nil: undefined }),
        fc.option(fc.subarray(['even', 'odd', 'none'], { minLength: 1 }), { nil: undefined }),
        (limit, chosenStates, eventTypes) => {
          const filter = {
            ...(chosenStates && { states: chosenStates }),
            ...(eventTypes && { eventTypes }),
          }
          const numbers: number[] = []
          for (let offset = 0; ; offset += limit) {
            const { entries, total } = outbox.log.page('webhook', 'a', filter, limit, offset)
            numbers.push(...entries.map(entry => Number(entry.eventId.slice(4))))
            if (entries.length === 0) {
              expect(total).toBe(numbers.length)
              break
            }
          }
          const expected = Array.from({ length: 30 }, (_, n) => 30 - n).filter(
            n =>
              (!chosenStates || chosenStates.includes(states[n % 3]!)) &&
              (!eventTypes || eventTypes.includes(n % 2 === 0 ? 'even' : 'odd')),
          )
          expect(numbers).toEqual(expected)
        },
      ),
      { numRuns: runs(50) },
    )
    expect(outbox.log.page('webhook', 'nobody', {}, 10, 0)).toEqual({ entries: [], total: 0 })
  })

  test('the outbox log shows the outcome of a message, with the exchange where the lane requests it', async () => {
    const { outbox, clock } = await filled()
    const find = (n: number) =>
      outbox.log.find('webhook', 'a', `evt_${String(n).padStart(26, '0')}`)!
    expect(find(30)).toMatchObject({
      state: 'delivered',
      attempts: 1,
      statusCode: 200,
      durationMs: 5,
      error: null,
      deliveredAt: clock.now(),
      nextAttemptAt: null,
    })
    expect(find(28)).toMatchObject({
      state: 'failed',
      statusCode: 410,
      error: 'the receiver returned status 410',
      deliveredAt: null,
      nextAttemptAt: null,
    })
    expect(find(29)).toMatchObject({
      state: 'retry',
      statusCode: 503,
      nextAttemptAt: clock.now() + minuteMs,
      body: '{"n":29}',
    })
    expect(JSON.parse(find(29).debug!)).toMatchObject({ responseBody: 'x', timing: { totalMs: 3 } })
    expect(outbox.log.page('webhook', 'other', {}, 1, 0).entries[0]!.debug).toBeNull()
    expect(outbox.log.find('webhook', 'other', find(30).id)).toBeUndefined()
  })

  test('sends one again: the same event and body, a whole schedule, whatever it was', async () => {
    const world = await filled()
    const entry = (n: number) =>
      world.outbox.log.find('webhook', 'a', `evt_${String(n).padStart(26, '0')}`)!
    expect(world.outbox.log.resend('webhook', 'a', entry(30).id)).toMatchObject({
      state: 'pending',
      attempts: 1,
      nextAttemptAt: world.clock.now(),
      deliveredAt: null,
    })
    expect(world.outbox.log.resend('webhook', 'a', entry(28).eventId)).toMatchObject({
      state: 'pending',
    })
    expect(world.outbox.log.resend('webhook', 'other', entry(28).eventId)).toBeUndefined()
    const before = world.sent.length
    await world.run()
    expect(world.sent.slice(before).map(sending => [sending.eventId, sending.attempt])).toEqual([
      [entry(28).eventId, 2],
      [entry(30).eventId, 2],
    ])
    expect([entry(30), entry(28)]).toMatchObject([
      { state: 'delivered', attempts: 2 },
      { state: 'failed', attempts: 2 },
    ])
  })

  test('one that is under way is not sent twice at a time', async () => {
    const world = outboxWorld({ answer: () => new Promise(() => undefined) })
    world.put()
    await world.job.pass()
    const [entry] = world.outbox.log.page('webhook', 'a', {}, 1, 0).entries
    expect(world.outbox.log.resend('webhook', 'a', entry!.id)).toMatchObject({
      state: 'leased',
      attempts: 1,
    })
    await world.job.pass()
    expect(world.sent).toHaveLength(1)
  })

  test('the outbox log replays messages settled within a span, oldest first and at most the requested number', async () => {
    const world = await filled()
    const at = (n: number) =>
      world.outbox.log.find('webhook', 'a', `evt_${String(n).padStart(26, '0')}`)!.createdAt
    const before = world.sent.length
    const { log } = world.outbox
    expect(
      await log.replay('webhook', 'a', { from: at(4), to: at(13), states: ['failed'] }, 100),
    ).toBe(4 - 1)
    expect(
      await log.replay(
        'webhook',
        'a',
        { from: at(14), to: at(31 - 1), states: ['failed'], eventTypes: ['even'] },
        2,
      ),
    ).toBe(2)
    expect(await log.replay('webhook', 'nobody', { from: 0, to: at(30) }, 100)).toBe(0)
    await world.run()
    expect(world.sent.slice(before).map(sending => Number(sending.eventId.slice(4)))).toEqual([
      4, 7, 10, 16, 22,
    ])
    expect(await log.replay('webhook', 'a', { from: 0, to: world.clock.now() }, 1_000)).toBe(20)
  })

  test('a replay of thousands of messages runs in slices and lets other work run between them', async () => {
    const world = outboxWorld({ answer: () => refused })
    transact(world.db, () => {
      for (let n = 0; n < 2_200; n += 1)
        world.outbox.put({ ...event, lane: 'a', eventId: `evt_${n}` })
    })
    await world.run()
    let turns = 0
    const timer = setInterval(() => (turns += 1), 0)
    expect(
      await world.outbox.log.replay(
        'webhook',
        'a',
        { from: 0, to: Number.MAX_SAFE_INTEGER },
        2_000,
      ),
    ).toBe(2_000)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(2)
    expect(world.outbox.vitals().pending).toBe(2_000)
  })
})

describe('outbox.vitals: the vitals', () => {
  test('the outbox vitals count waiting and active messages and report since when they have waited', async () => {
    const world = outboxWorld({
      answer: ({ lane }) => (lane === 'hangs' ? new Promise(() => undefined) : unavailable),
    })
    expect(world.outbox.vitals()).toMatchObject({ pending: 0, oldestAt: undefined, inFlight: 0 })
    const startedAt = world.clock.now()
    world.put({ lane: 'hangs' })
    world.put({ dueAt: startedAt + 5_000 })
    await world.job.pass()
    expect(world.outbox.vitals()).toMatchObject({
      pending: 2,
      oldestAt: startedAt,
      inFlight: 1,
      ended: { retry: 0, delivered: 0, failed: 0 },
    })
  })

  test('make a part degraded when its messages wait a quarter of an hour beyond their time', async () => {
    const world = outboxWorld()
    const webhooks = () =>
      senderComponents(world.outbox, world.clock.now()).find(
        component => component.name === 'webhooks',
      )
    expect(
      senderComponents(world.outbox, world.clock.now()).map(component => component.status),
    ).toEqual(['operational', 'disabled', 'disabled'])
    world.put()
    world.clock.advance(14 * minuteMs)
    expect(webhooks()).toEqual({ name: 'webhooks', status: 'operational' })
    world.clock.advance(minuteMs)
    expect(webhooks()).toEqual({
      name: 'webhooks',
      status: 'degraded',
      message: 'Messages wait since 2026-11-20T15:00:00Z.',
    })
    await world.run()
    expect(webhooks()).toEqual({ name: 'webhooks', status: 'operational' })
  })
})

test('every kind has its schedule, and the least limit ends it', () => {
  const waits = (kind: 'webhook' | 'email' | 'sms', limits: (number | null | undefined)[]) => {
    const waits: number[] = []
    for (let tries = 1; ; tries += 1) {
      const wait = waitMs(kind, tries, limits, 0)
      if (wait === undefined) return waits.map(waitMs => waitMs / minuteMs)
      waits.push(wait)
    }
  }
  expect(waits('webhook', [])).toEqual([1, 5, 15, 60, 360])
  expect(waits('email', [null])).toEqual([1, 5, 15, 60])
  expect(waits('sms', [99])).toEqual([1, 5, 15, 60])
  expect(waits('webhook', [3, 2, undefined])).toEqual([1, 5])
  expect(waits('webhook', [0])).toEqual([])
})
