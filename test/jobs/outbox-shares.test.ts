import { describe, expect, test } from 'bun:test'
import { createShares } from '../../src/jobs/outbox-shares.ts'
import type { Outcome } from '../../src/send/attempt.ts'
import { delivered, outboxWorld } from '../support/topics/outbox.ts'

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise(done => setImmediate(done))
}

/** Lanes are named `account/host/n`. */
const shareOf = (lane: string) => {
  const [accountId = '', host = ''] = lane.split('/')
  return { accountId, host }
}

/** An outbox whose receivers on the host `hangs` answer when the test lets them. */
function hangingWorld(concurrency: number) {
  const held: ((outcome: Outcome) => void)[] = []
  const world = outboxWorld({
    concurrency,
    policy: lane => ({ state: 'open', share: shareOf(lane) }),
    answer: parcel =>
      shareOf(parcel.lane).host === 'hangs'
        ? new Promise<Outcome>(resolve => void held.push(resolve))
        : delivered,
  })
  return { world, held }
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
    let underWay = 0
    let most = 0
    const world = outboxWorld({
      policy: () => ({ state: 'open' }),
      async answer() {
        underWay += 1
        most = Math.max(most, underWay)
        await new Promise(done => setImmediate(done))
        underWay -= 1
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
  test('half of what nobody else holds, and one at least', () => {
    const shares = createShares(8)
    const a = { accountId: 'a', host: 'a.example' }
    const b = { accountId: 'b', host: 'b.example' }
    expect(shares.room(a)).toBe(4)
    shares.take(a, 4)
    expect(shares.room(a)).toBe(0)
    expect(shares.room(b)).toBe(2)
    shares.take(b, 2)
    expect(shares.room(b)).toBe(0)
    shares.giveBack(b)
    expect(shares.room(b)).toBe(1)
  })
})
