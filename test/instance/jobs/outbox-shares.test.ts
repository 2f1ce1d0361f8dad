import { describe, expect, test } from 'bun:test'
import { createShares } from '../../../src/instance/jobs/outbox-shares.ts'
import { isoInstant, minuteMs, secondMs } from '../../../src/lib/time/instant.ts'
import { senderComponents } from '../../../src/outbox/vitals.ts'
import type { Outcome } from '../../../src/send/attempt.ts'
import { delivered, outboxWorld, unavailable } from '../../support/topics/outbox.ts'
import { until as waitUntil } from '../../support/until.ts'

const until = (isSo: () => boolean) => waitUntil(String(isSo), isSo)

/** Lanes are named `account/host/n`. */
const shareOf = (lane: string) => {
  const [accountId = '', host = ''] = lane.split('/')
  return { accountId, host, percent: 50 }
}

/** An outbox whose receivers on hosts that end in `hangs` answer when the test lets them. */
function hangingWorld(concurrency: number) {
  const waiting: ((outcome: Outcome) => void)[] = []
  const world = outboxWorld({
    concurrency,
    policy: lane => ({ state: 'open', share: shareOf(lane) }),
    answer: message =>
      shareOf(message.lane).host.endsWith('hangs')
        ? new Promise<Outcome>(resolve => void waiting.push(resolve))
        : delivered,
  })
  return { world, held: waiting }
}

describe('an account with a thousand hanging endpoints', () => {
  test('leaves slots to every other account, one after the other', async () => {
    const { world } = hangingWorld(40)
    world.job.start()
    for (let i = 0; i < 1000; i += 1) world.put({ lane: `busy/hangs/${i}` })
    await until(() => world.sent.length === 20)
    for (let account = 0; account < 50; account += 1)
      world.put({ lane: `quiet-${account}/fine-${account}/0` })
    await until(() => world.settled.length === 50)
    expect(world.settled.every(({ state }) => state === 'delivered')).toBe(true)
    expect(world.sent.filter(({ lane }) => lane.startsWith('busy'))).toHaveLength(20)
    world.job.halt()
  })

  test('has its next endpoints tried as its slots come back', async () => {
    const { world, held } = hangingWorld(40)
    world.job.start()
    for (let i = 0; i < 100; i += 1) world.put({ lane: `busy/hangs/${i}` })
    await until(() => held.length === 20)
    for (const answer of held.splice(0, 5)) answer(delivered)
    await until(() => world.sent.length === 25)
    expect(new Set(world.sent.map(({ lane }) => lane)).size).toBe(25)
    world.job.halt()
  })

  test('on one host does not keep another account from its own receiver on another', async () => {
    const { world } = hangingWorld(8)
    world.job.start()
    for (let account = 0; account < 20; account += 1) world.put({ lane: `a-${account}/hangs/0` })
    await until(() => world.sent.length === 4)
    world.put({ lane: 'b/fine/0' })
    await until(() => world.settled.length === 1)
    expect(world.settled[0]!.lane).toBe('b/fine/0')
    world.job.halt()
  })
})

describe('a receiver that fails again and again', () => {
  test('gets one attempt at a time until one succeeds', async () => {
    let isUp = false
    let inProgress = 0
    let most = 0
    const world = outboxWorld({
      policy: () => ({ state: 'open' }),
      async answer() {
        inProgress += 1
        most = Math.max(most, inProgress)
        await new Promise(done => setImmediate(done))
        inProgress -= 1
        return isUp ? delivered : { state: 'retry', error: 'down', durationMs: 1 }
      },
    })
    for (let i = 0; i < 4; i += 1) world.put()
    await world.run()
    expect(most).toBe(4)
    most = 0
    for (let i = 0; i < 8; i += 1) world.put()
    await world.run()
    expect(most).toBe(1)
    isUp = true
    world.put()
    await world.run()
    most = 0
    for (let i = 0; i < 8; i += 1) world.put()
    await world.run()
    expect(most).toBe(4)
  })
})

describe('createShares', () => {
  test('an account may use half of the sending slots that no one else holds, and at least one', () => {
    const shares = createShares(8)
    const a = { accountId: 'a', host: 'a.example', percent: 50 }
    const b = { accountId: 'b', host: 'b.example', percent: 50 }
    expect(shares.room(a)).toBe(4)
    shares.take(a, 4)
    expect(shares.room(a)).toBe(0)
    expect(shares.room(b)).toBe(2)
    shares.take(b, 2)
    expect(shares.room(b)).toBe(0)
    shares.giveBack(b)
    expect(shares.room(b)).toBe(1)
  })

  test('a larger plan gets more sending slots, and a slot stays free for the next account', () => {
    const of = (accountId: string, percent: number) => ({ accountId, host: accountId, percent })
    expect([25, 40, 50].map(percent => createShares(20).room(of('alone', percent)))).toEqual([
      5, 8, 10,
    ])
    // No host holds more than half, and a big account has receivers on several.
    const shares = createShares(20)
    const big = (host: string) => ({ accountId: 'big', host, percent: 60 })
    expect(shares.room(big('one'))).toBe(10)
    shares.take(big('one'), 10)
    expect(shares.room(big('two'))).toBe(2)
    shares.take(big('two'), 2)
    expect(shares.room(big('three'))).toBe(0)
    expect(shares.isFull(big('three'))).toBe(true)
    for (const [name, percent, room] of [
      ['professional', 40, 3],
      ['free', 25, 1],
      ['other', 40, 1],
    ] as const) {
      expect(shares.room(of(name, percent)), name).toEqual(room)
      shares.take(of(name, percent), room)
      // It holds less than it would if there were no one else.
      expect(shares.isFull(of(name, percent))).toBe(false)
    }
  })
})

describe('what is said of sending', () => {
  const webhooks = ({ outbox, clock, job }: ReturnType<typeof hangingWorld>['world']) =>
    senderComponents(outbox, clock.now(), job)[0]!

  test('that it works, while only those wait whose own receivers hang', async () => {
    const { world, held } = hangingWorld(8)
    world.job.start()
    for (let i = 0; i < 100; i += 1) world.put({ lane: `busy/hangs/${i}` })
    await until(() => held.length === 4)
    world.clock.advance(20 * minuteMs)
    expect(webhooks(world)).toEqual({ name: 'webhooks', status: 'operational' })
    world.job.halt()
  })

  test('within seconds that others wait, until they do not', async () => {
    const { world, held } = hangingWorld(4)
    world.job.start()
    // All slots, each of another account and host: hosts named so that each lane hangs.
    for (const accountId of ['a', 'b', 'c', 'd'])
      world.put({ lane: `${accountId}/${accountId}.hangs/0` })
    await until(() => held.length === 4)
    world.put({ lane: 'quiet/fine/0' })
    await until(() => world.job.waitingSince('webhook') !== undefined)
    const since = world.clock.now()
    world.clock.advance(4 * secondMs)
    expect(webhooks(world).status).toBe('operational')
    world.clock.advance(secondMs)
    expect(webhooks(world)).toEqual({
      name: 'webhooks',
      status: 'degraded',
      message: `Messages wait since ${isoInstant(since)}.`,
    })
    held[0]!(delivered)
    await until(() => world.settled.some(({ lane }) => lane === 'quiet/fine/0'))
    expect(webhooks(world).status).toBe('operational')
    world.job.halt()
  })

  test('nothing of what waits for a receiver that refused it', async () => {
    const world = outboxWorld({
      policy: () => ({
        state: 'open',
        share: { accountId: 'a', host: 'refuses.example', percent: 50 },
      }),
      answer: () => unavailable,
    })
    world.put()
    world.put()
    await world.job.pass()
    await world.job.settled()
    world.clock.advance(60 * minuteMs)
    // It is due again, and no one has begun to send it.
    world.job.nextStop!(world.clock.now())
    expect(world.job.waitingSince('webhook')).toBeUndefined()
    world.job.halt()
  })

  test('the e-mail status is degraded while the last e-mail could not be sent', async () => {
    let isUp = false
    const world = outboxWorld()
    world.outbox.register('email', { send: async () => (isUp ? delivered : unavailable) })
    const email = () => senderComponents(world.outbox, world.clock.now(), world.job)[1]!
    for (let i = 0; i < 3; i += 1) world.put({ kind: 'email', lane: 'email' })
    expect(email().status).toBe('operational')
    await world.run()
    expect(email()).toEqual({
      name: 'email',
      status: 'degraded',
      message: 'The last messages were not delivered and are retried.',
    })
    isUp = true
    await world.advance(10 * minuteMs)
    expect(email()).toEqual({ name: 'email', status: 'operational' })
  })
})
