import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, isoInstant, minuteMs, secondMs } from '../../../src/lib/time/instant.ts'
import type { OutgoingMessage } from '../../../src/outbox/outbox.ts'
import type { DeliverySchedule } from '../../../src/plans/messages/delivery-schedule.ts'
import type { Outcome } from '../../../src/send/attempt.ts'
import { provider } from '../../support/servers/provider.ts'
import {
  type DeliveryWorld,
  daily,
  deliveryWorld,
  startAt,
} from '../../support/topics/deliveries.ts'
import { deliveriesWithin } from '../../support/topics/delivery-oracle.ts'

const days = (world: DeliveryWorld) => world.runs().map(run => run.local_on)
const statuses = (world: DeliveryWorld) => world.runs().map(run => run.status)
const delivery = (world: DeliveryWorld, id: string) => {
  const [account] = world.services.keys.accounts()
  return world.services.deliveries.own(account!.account.id, id)!
}

const never = Promise.withResolvers<Outcome>().promise
/** The mail of a world goes to this function instead of its inbox. */
const handOver = (world: DeliveryWorld, send: (message: OutgoingMessage) => Promise<Outcome>) =>
  world.services.outbox.register('email', { send })

describe('a dispatch', () => {
  test('comes at the quarters of an hour, and once when the process starts', async () => {
    const world = deliveryWorld({ now: Date.parse('2026-11-20T06:50:00Z') })
    world.create(world.account(), { deliveryTime: '07:05' })
    await world.beat()
    // The dispatch of seven o'clock comes late, and makes what was due then.
    world.clock.set(Date.parse('2026-11-20T07:14:59Z'))
    await world.beat()
    expect(world.runs()).toEqual([])
    world.clock.set(Date.parse('2026-11-20T07:15:00Z'))
    await world.beat()
    expect(world.mails().map(mail => [isoInstant(mail.at), mail.subject])).toEqual([
      ['2026-11-20T07:15:00Z', 'Prices, 2026-11-20'],
    ])

    world.clock.set(Date.parse('2026-11-21T07:06:00Z'))
    const next = world.restart()
    await next.beat()
    expect(days(next)).toEqual(['2026-11-20', '2026-11-21'])
  })

  test('follows the interval that is set', async () => {
    const world = deliveryWorld({
      now: Date.parse('2026-11-20T06:50:00Z'),
      flags: { 'deliveries.dispatch_interval': '5m' },
    })
    world.create(world.account(), { deliveryTime: '07:01' })
    await world.advance(20 * minuteMs)
    expect(world.mails().map(mail => isoInstant(mail.at))).toEqual(['2026-11-20T07:05:00Z'])
  })

  test('of more deliveries than a slice has makes a run for each', async () => {
    const world = deliveryWorld()
    const account = world.account()
    for (let n = 0; n < 35; n += 1) world.create(account, { name: `n${n}` })
    await world.advance(dayMs)
    expect(world.mails().map(mail => mail.subject)).toEqual(
      Array.from({ length: 35 }, (_, n) => `n${n}, 2026-11-21`),
    )
  })

  test('a delivery that fails does not delay the others and is retried in a minute', async () => {
    const world = deliveryWorld({ now: Date.parse('2026-11-20T06:50:00Z') })
    const account = world.account()
    const broken = world.create(account, { name: 'broken' })
    const sound = Array.from({ length: 12 }, (_, n) => `sound ${n}`)
    for (const name of sound) world.create(account, { name })
    const zone = (name: string) =>
      world.db.run('UPDATE scheduled_deliveries SET time_zone = ? WHERE id = ?', [name, broken])
    zone('No/Where')
    await world.advance(10 * minuteMs)
    expect(world.mails().map(mail => mail.subject)).toEqual(
      sound.map(name => `${name}, 2026-11-20`),
    )
    expect(
      world.log
        .filter(line => line.includes('deliveries_dispatch_failed'))
        .map(line => JSON.parse(line).failed),
    ).toEqual([1])
    zone('UTC')
    await world.advance(minuteMs)
    expect(world.mails().at(-1)?.subject).toBe('broken, 2026-11-20')
    expect(world.mails()).toHaveLength(13)
  })

  test('of a moment that the rules of a zone have moved since makes no run before its time', async () => {
    const world = deliveryWorld()
    const id = world.create(world.account())
    world.db.run('UPDATE scheduled_deliveries SET next_delivery_at = ?', [startAt - hourMs])
    await world.beat()
    expect({ runs: world.runs(), next: delivery(world, id).next }).toEqual({
      runs: [],
      next: { at: Date.parse('2026-11-21T07:00:00Z'), day: '2026-11-21' },
    })
    await world.advance(dayMs)
    expect(days(world)).toEqual(['2026-11-21'])
  })

  test('makes nothing while deliveries are paused for everybody, and one run for each afterwards', async () => {
    const world = deliveryWorld({ flags: { 'deliveries.enabled': 'false' } })
    const id = world.create(world.account())
    await world.advance(3 * dayMs)
    expect(world.runs()).toEqual([])
    const paused = world.restart()
    expect(paused.services.deliveries.nextDueAt()).toBeUndefined()
    const open = deliveryWorld({ db: world.db, clock: world.clock, seed: 9 })
    await open.beat()
    expect(days(open)).toEqual(['2026-11-23'])
    expect(delivery(open, id).next).toEqual({
      at: Date.parse('2026-11-24T07:00:00Z'),
      day: '2026-11-24',
    })
  })
})

describe('what was missed', () => {
  test('while the process was down is made up for once, and never twice', async () => {
    const world = deliveryWorld()
    const account = world.account()
    world.create(account, { name: 'daily' })
    world.create(account, {
      name: 'Mondays',
      cadence: 'weekly',
      weekday: 1,
      timeZone: 'America/New_York',
    })
    world.create(account, { name: 'working days', cadence: 'weekdays', timeZone: 'Asia/Tokyo' })
    world.create(account, { name: 'not yet', deliveryTime: '23:00', cadence: 'weekly', weekday: 4 })
    await world.beat()
    world.clock.set(Date.parse('2026-11-25T06:59:00Z'))
    let next = world.restart()
    await next.beat()
    expect(next.mails().map(mail => mail.subject)).toEqual([
      'daily, 2026-11-24',
      'working days, 2026-11-25',
      'Mondays, 2026-11-23',
    ])
    for (let n = 0; n < 3; n += 1) {
      next = next.restart()
      await next.beat()
    }
    expect(next.mails()).toHaveLength(3)
    await next.advance(minuteMs)
    expect(
      next
        .mails()
        .map(mail => mail.subject)
        .slice(3),
    ).toEqual(['daily, 2026-11-25'])
  })

  test('under a loop that stalls is nothing: each local day has its run, however late and uneven the beats', async () => {
    const zones = [
      'UTC',
      'America/New_York',
      'Europe/Berlin',
      'Australia/Lord_Howe',
      'America/Nuuk',
      'Asia/Kathmandu',
    ]
    const gaps = fc.array(fc.integer({ min: secondMs, max: 22 * hourMs }), {
      minLength: 8,
      maxLength: 20,
    })
    const from = Date.parse('2026-10-20T00:00:00Z')
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 95 }),
        gaps,
        fc.boolean(),
        async (timeZone, quarter, beats, dies) => {
          const deliveryTime = `${String(Math.floor(quarter / 4)).padStart(2, '0')}:${String((quarter % 4) * 15).padStart(2, '0')}`
          let world = deliveryWorld({ now: from })
          world.create(world.account(), { timeZone, deliveryTime })
          for (const gap of beats) {
            world.clock.advance(gap)
            if (dies) world = world.restart()
            await world.jobs.tick()
          }
          // The last quarter of an hour may have had no dispatch yet.
          const interval = 15 * minuteMs
          const upTo = dies
            ? world.clock.now() + 1
            : Math.floor(world.clock.now() / interval) * interval + 1
          const schedule: DeliverySchedule = { ...daily, timeZone, deliveryTime }
          expect(days(world)).toEqual(
            deliveriesWithin(schedule, from + 1, upTo).map(moment => moment.day),
          )
        },
      ),
      { numRuns: 12, seed: 14 },
    )
  }, 60_000)

  test('under a clock that jumps back and forth no local day has a second run', async () => {
    const world = deliveryWorld()
    world.create(world.account())
    for (const hours of [20, -20, 30, -60, 70, -10, 24, -48, 72]) {
      world.clock.set(world.clock.now() + hours * hourMs)
      await world.beat()
    }
    expect(new Set(days(world)).size).toBe(days(world).length)
    expect(world.mails()).toHaveLength(days(world).length)
    expect(days(world)).toEqual(['2026-11-21', '2026-11-22', '2026-11-23'])
  })
})

describe('a month of twenty deliveries in six zones over changes of the clock', () => {
  const zones = [
    'America/New_York',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'America/Nuuk',
    'UTC',
  ]
  const times = ['07:00', '02:30', '01:30', '23:45', '00:00', '02:15', '12:05']
  const schedules = Array.from({ length: 20 }, (_, n): DeliverySchedule & { name: string } => ({
    name: `delivery ${n}`,
    timeZone: zones[n % zones.length]!,
    deliveryTime: times[n % times.length]!,
    ...(n % 4 === 3
      ? { cadence: 'weekly', weekday: (n % 7) + 1 }
      : { cadence: n % 2 === 0 ? 'daily' : 'weekdays', weekday: null }),
  }))

  const month = async (from: number, to: number) => {
    const world = deliveryWorld({ now: from })
    const account = world.account()
    for (const schedule of schedules) world.create(account, schedule)
    await world.advance(to - from)
    return world.mails().map(mail => `${isoInstant(mail.at)} ${mail.subject}`)
  }
  const quarter = (at: number) => Math.ceil(at / (15 * minuteMs)) * 15 * minuteMs

  test.each([
    ['autumn', '2026-10-02T00:00:00Z', '2026-11-03T00:00:00Z'],
    ['spring', '2027-03-10T00:00:00Z', '2027-04-10T00:00:00Z'],
  ])(
    'sends in %s exactly the mails of their schedules, in one order, twice the same',
    async (_, since, until) => {
      const [from, to] = [Date.parse(since), Date.parse(until)]
      const expected = schedules.flatMap((schedule, n) =>
        deliveriesWithin(schedule, from + 1, to + 1)
          .filter(({ at }) => quarter(at) <= to)
          .map(({ at, day }) => ({
            at,
            n,
            text: `${isoInstant(quarter(at))} ${schedule.name}, ${day}`,
          })),
      )
      expected.sort((a, b) => a.at - b.at || a.n - b.n)
      const mailMessages = await month(from, to)
      expect(mailMessages).toEqual(expected.map(delivery => delivery.text))
      expect(mailMessages.length).toBeGreaterThan(300)
      expect(await month(from, to)).toEqual(mailMessages)
    },
    60_000,
  )
})

describe('one mail', () => {
  const due = Date.parse('2026-11-21T07:00:00Z')

  test('comes out of a crash between claim and sending', async () => {
    const world = deliveryWorld()
    const id = world.create(world.account())
    const keys: string[] = []
    handOver(world, message => {
      keys.push(message.eventId)
      return never
    })
    world.clock.set(due)
    await world.jobs.tick()
    const [run] = world.runs()
    expect({ keys, status: run?.status }).toEqual({ keys: [run!.id], status: 'pending' })
    expect(world.services.deliveries.lastRun(delivery(world, id))).toMatchObject({
      id: run!.id,
      status: 'processing',
    })

    const next = world.restart()
    expect(next.services.deliveries.lastRun(delivery(next, id))).toMatchObject({
      status: 'processing',
    })
    await next.beat()
    expect(next.mails().map(mail => mail.eventId)).toEqual([run!.id])
    expect(next.runs()).toEqual([{ ...run!, status: 'sent', sent_at: due }])
    expect(delivery(next, id)).toMatchObject({ deliveriesCount: 1, lastDeliveredOn: '2026-11-21' })
  })

  test('comes out of a crash between sending and recording: the second attempt has the same key and the same bytes', async () => {
    const world = deliveryWorld()
    world.create(world.account())
    const attempts: { key: string; body: string }[] = []
    const acceptMailMessage = async ({ eventId, body }: OutgoingMessage): Promise<Outcome> => {
      attempts.push({ key: eventId, body })
      return attempts.length === 1 ? never : { state: 'delivered', statusCode: 200, durationMs: 1 }
    }
    handOver(world, acceptMailMessage)
    world.clock.set(due)
    await world.jobs.tick()
    world.record('WTI_USD', '2026-11-21T06:59:00Z', 99)
    const next = world.restart()
    handOver(next, acceptMailMessage)
    await next.beat()
    await next.advance(dayMs - hourMs)
    expect(attempts).toHaveLength(2)
    expect(attempts[1]).toEqual(attempts[0]!)
    expect(statuses(next)).toEqual(['sent'])
  })

  test('a delivery run that was not committed sends no e-mail and is repeated', async () => {
    const world = deliveryWorld()
    const id = world.create(world.account())
    world.db.run(
      "CREATE TRIGGER falls BEFORE UPDATE OF next_delivery_at ON scheduled_deliveries BEGIN SELECT raise(ABORT, 'disk full'); END",
    )
    world.clock.set(due)
    await world.beat()
    expect({ runs: world.runs(), mails: world.mails(), at: delivery(world, id).next?.at }).toEqual({
      runs: [],
      mails: [],
      at: due,
    })
    world.db.run('DROP TRIGGER falls')
    await world.advance(minuteMs)
    expect({ statuses: statuses(world), length: world.mails().length }).toEqual({
      statuses: ['sent'],
      length: 1,
    })
  })
})

describe('a provider that fails', () => {
  const failing = (times: number) => {
    const world = deliveryWorld({ now: Date.parse('2026-11-21T06:50:00Z') })
    const id = world.create(world.account())
    const at: number[] = []
    handOver(world, async () => {
      at.push(world.clock.now())
      if (at.length > times) return { state: 'delivered', statusCode: 200, durationMs: 1 }
      return { state: 'retry', statusCode: 503, error: 'The provider answered 503.', durationMs: 1 }
    })
    return {
      world,
      id,
      waits: () => at.slice(1).map((attemptedAt, i) => (attemptedAt - at[i]!) / minuteMs),
    }
  }
  /** At most a twentieth later than the schedule. */
  const near = (waits: number[], schedule: number[]) =>
    waits.length === schedule.length &&
    waits.every((wait, i) => wait >= schedule[i]! && wait <= 1.06 * schedule[i]!)

  test.each([0, 1, 2, 3, 4])(
    '%i times delays the mail by its schedule and loses nothing',
    async times => {
      const { world, id, waits } = failing(times)
      await world.advance(3 * hourMs)
      expect(near(waits(), [1, 5, 15, 60].slice(0, times))).toBe(true)
      expect(world.runs()).toMatchObject([{ status: 'sent', error: null }])
      expect(delivery(world, id).deliveriesCount).toBe(1)
    },
  )

  test('five times leaves the run suppressed with its reason, and the next day is tried again', async () => {
    const { world, id, waits } = failing(5)
    await world.advance(20 * minuteMs)
    expect(world.services.deliveries.lastRun(delivery(world, id))).toMatchObject({
      status: 'pending',
      error: 'The provider answered 503.',
    })
    await world.advance(3 * hourMs)
    expect(near(waits(), [1, 5, 15, 60])).toBe(true)
    expect(world.runs()).toMatchObject([
      { status: 'suppressed', error: 'The provider answered 503.', sent_at: null },
    ])
    expect(delivery(world, id)).toMatchObject({ deliveriesCount: 0, lastDeliveredOn: null })
    await world.advance(dayMs)
    expect(statuses(world)).toEqual(['suppressed', 'sent'])
    expect(delivery(world, id)).toMatchObject({ deliveriesCount: 1, lastDeliveredOn: '2026-11-22' })
  })
})

test('a provider that accepts an e-mail without confirming it delivers it once, with the table', async () => {
  const stand = await provider(
    [
      'accepts and cuts the connection',
      'accepts and answers half',
      'accepts and answers no JSON',
      'ok',
    ],
    '{"id":"one"}',
  )
  try {
    const world = deliveryWorld({
      now: Date.parse('2026-11-21T06:50:00Z'),
      flags: {
        'mail.provider': 'resend',
        'mail.resend_key': 're_key',
        'mail.resend_url': stand.url,
      },
    })
    world.create(world.account(), { name: 'Morning' })
    await world.advance(3 * hourMs)
    const [run] = world.runs()
    expect({ status: run!.status, delivered: stand.delivered }).toEqual({
      status: 'sent',
      delivered: [run!.id],
    })
    expect(stand.requests.length).toBeGreaterThan(1)
    expect(new Set(stand.requests.map(request => request.body)).size).toBe(1)
    const { subject, attachments } = JSON.parse(stand.requests[0]!.body) as {
      subject: string
      attachments: { filename: string; content: string }[]
    }
    expect({ subject, attachments: attachments.map(file => file.filename) }).toEqual({
      subject: 'Morning, 2026-11-21',
      attachments: ['prices-2026-11-21.csv'],
    })
    expect(Buffer.from(attachments[0]!.content, 'base64').toString()).toStartWith(
      'code,name,price,',
    )
  } finally {
    stand.close()
  }
}, 60_000)

describe('the keeping of runs', () => {
  test('a delivery run whose e-mail settled without notification is completed', async () => {
    const world = deliveryWorld({ now: Date.parse('2026-11-21T06:50:00Z') })
    const account = world.account()
    const ids = ['a', 'b', 'c', 'd'].map(name => world.create(account, { name }))
    handOver(world, () => never)
    world.clock.set(Date.parse('2026-11-21T07:00:00Z'))
    await world.jobs.tick()
    const [a, b, c, d] = world.runs().map(run => run.id)
    const state = (id: string, text: string) =>
      world.db.run(
        "UPDATE outbox SET state = ?, settled_at = 1, last_error = 'It bounced.' WHERE event_id = ?",
        [text, id],
      )
    state(a!, 'delivered')
    state(b!, 'failed')
    world.db.run('DELETE FROM outbox WHERE event_id = ?', [c!])
    world.clock.advance(16 * minuteMs)
    await world.jobs.tick()
    expect(world.runs()).toMatchObject([
      { id: a, status: 'sent', sent_at: 1 },
      { id: b, status: 'suppressed', error: 'It bounced.' },
      { id: c, status: 'suppressed', error: 'Its e-mail no longer exists.' },
      { id: d, status: 'pending' },
    ])
    expect(ids.map(id => delivery(world, id).deliveriesCount)).toEqual([1, 0, 0, 0])
  })

  test('delivery runs older than 400 days are deleted, except the last one of each delivery', async () => {
    const world = deliveryWorld({ now: startAt - 500 * dayMs })
    const account = world.account()
    const quiet = world.create(account)
    world.create(account, { deliveryTime: '08:00' })
    await world.advance(2 * dayMs)
    world.services.deliveries.change(delivery(world, quiet), { enabled: false })
    await world.advance(498 * dayMs)
    expect(world.runs().filter(run => run.created_at < startAt - 401 * dayMs)).toHaveLength(1)
    expect(world.services.deliveries.lastRun(delivery(world, quiet))).toMatchObject({
      status: 'sent',
    })
  })

  test('delivery runs stay while the clock may be wrong', async () => {
    const world = deliveryWorld({ now: startAt - 402 * dayMs })
    world.create(world.account())
    Object.assign(world.services.retention, { mayForget: () => false })
    await world.advance(402 * dayMs)
    expect(world.runs().filter(run => run.created_at < startAt - 400 * dayMs)).toHaveLength(2)
  })
})
