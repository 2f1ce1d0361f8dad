import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, isoInstant, minuteMs, secondMs } from '../../../../src/lib/time/instant.ts'
import { openWatchInstance, startAt } from '../../../support/topics/watches.ts'

const seqsRise = (seqs: readonly number[]) => seqs.every((seq, i) => i === 0 || seq > seqs[i - 1]!)

test('whenever the service was up and down, each watch ran once for the runs that were due since it last looked', async () => {
  const stretches = fc.array(
    fc.record({ seconds: fc.integer({ min: 1, max: 20_000 }), up: fc.boolean() }),
    { minLength: 1, maxLength: 25 },
  )
  const intervals = fc.array(fc.integer({ min: 60, max: 5000 }), { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(stretches, intervals, async (all, each) => {
      const instance = openWatchInstance()
      const { services, clock } = instance
      const scheduled = each.map(intervalSeconds => ({
        watch: instance.watch({ intervalSeconds }),
        due: startAt + intervalSeconds * secondMs,
        ranAt: [] as number[],
      }))
      for (const { seconds, up } of all) {
        clock.advance(seconds * secondMs)
        if (!up) continue
        await services.watchRuns.pass()
        // An oracle that counts, where the service computes: step by step through every run that
        // was due.
        for (const run of scheduled) {
          if (run.due > clock.now()) continue
          run.ranAt.push(clock.now())
          while (run.due <= clock.now()) run.due += run.watch.intervalSeconds * secondMs
        }
      }
      for (const { watch, ranAt, due } of scheduled) {
        const watchEvents = instance
          .events()
          .filter(event => event.watch_id === watch.id && event.type === 'evaluated')
        expect(watchEvents.map(event => event.created_at)).toEqual(ranAt.map(isoInstant))
        expect(services.watches.byId(watch.id)!.nextRunAt).toBe(due)
      }
      expect(seqsRise(instance.events().map(event => event.seq))).toBe(true)
      services.db.close()
    }),
    { numRuns: 12 },
  )
}, 60_000)

test('a watch run reports the current price of each code and its change since the previous run', async () => {
  const instance = openWatchInstance()
  instance.price('WTI_USD', 70)
  instance.price('BRENT_CRUDE_USD', 74.004)
  const watch = instance.watch({ codes: ['BRENT_CRUDE_USD', 'WTI_USD'], thresholdPercent: 2 })
  instance.clock.advance(minuteMs)
  instance.price('WTI_USD', 71.4)
  await instance.services.watchRuns.pass()
  const now = isoInstant(startAt + minuteMs)
  const brent = {
    code: 'BRENT_CRUDE_USD',
    price: 74,
    currency: 'USD',
    unit: 'barrel',
    previous_price: 74,
    change: 0,
    change_percent: 0,
  }
  const wti = {
    code: 'WTI_USD',
    price: 71.4,
    currency: 'USD',
    unit: 'barrel',
    previous_price: 70,
    change: 1.4,
    change_percent: 2,
  }
  const event = (seq: number, type: string, values: object, as_of: string) => ({
    seq,
    id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
    watch_id: watch.id,
    type,
    ...values,
    as_of,
    payload: { ...values, as_of },
    created_at: now,
  })
  expect(instance.events()).toEqual([
    event(1, 'evaluated', brent, isoInstant(startAt)),
    event(2, 'evaluated', wti, now),
    event(3, 'threshold_crossed', wti, now),
  ] as never)
  instance.clock.advance(minuteMs)
  await instance.services.watchRuns.pass()
  expect(
    instance
      .events()
      .slice(3)
      .map(event => [event.type, event.code, event.change]),
  ).toEqual([
    ['evaluated', 'BRENT_CRUDE_USD', 0],
    ['evaluated', 'WTI_USD', 0],
  ])
})

test('a stale price is reported once and reported again when it becomes stale again', async () => {
  const instance = openWatchInstance()
  instance.price('WTI_USD', 70)
  instance.watch({ intervalSeconds: 3600 })
  const typesAfter = async (ms: number) => {
    const before = instance.events().length
    instance.clock.advance(ms)
    await instance.services.watchRuns.pass()
    return instance
      .events()
      .slice(before)
      .map(event => event.type)
  }
  expect(await typesAfter(14 * dayMs)).toEqual(['evaluated', 'stale'])
  expect(await typesAfter(hourMs)).toEqual(['evaluated'])
  instance.price('WTI_USD', 70)
  expect(await typesAfter(hourMs)).toEqual(['evaluated'])
  expect(await typesAfter(14 * dayMs)).toEqual(['evaluated', 'stale'])
})

test('a crash inside a run leaves nothing of it, and the run takes place afterwards, once', async () => {
  const instance = openWatchInstance()
  const { services, clock } = instance
  instance.watch({ codes: ['WTI_USD', 'BRENT_CRUDE_USD'], deliverWebhook: true })
  clock.advance(minuteMs)
  // The write that ends the run fails as it does on a full disk.
  services.db.run(
    "CREATE TRIGGER full BEFORE UPDATE OF next_run_at ON watches BEGIN SELECT RAISE(ABORT, 'disk full'); END",
  )
  await services.watchRuns.pass().catch(() => {})
  expect(instance.events()).toEqual([])
  expect(services.watchFeed.last(instance.accountId)).toBe(0)
  services.db.run('DROP TRIGGER full')
  clock.advance(10 * minuteMs)
  await services.watchRuns.pass()
  await services.watchRuns.pass()
  expect(instance.events().map(event => event.type)).toEqual([
    'evaluated',
    'stale',
    'evaluated',
    'stale',
  ])
})

test('a watch that cannot run does not block other watches and is retried at its next run', async () => {
  const instance = openWatchInstance()
  const { services, clock } = instance
  const broken = instance.watch({ codes: ['WTI_USD'] })
  const sound = instance.watch({ codes: ['BRENT_CRUDE_USD'] })
  services.db.run(
    `CREATE TRIGGER broken BEFORE INSERT ON watch_events WHEN NEW.watch_number = ${broken.number} BEGIN SELECT RAISE(ABORT, 'broken'); END`,
  )
  clock.advance(minuteMs)
  await services.watchRuns.pass()
  expect(new Set(instance.events().map(event => event.watch_id))).toEqual(new Set([sound.id]))
  expect(
    instance.log.some(line => line.includes('watch_run_failed') && line.includes(broken.id)),
  ).toBe(true)
  services.db.run('DROP TRIGGER broken')
  clock.advance(minuteMs)
  await services.watchRuns.pass()
  expect(new Set(instance.events().map(event => event.watch_id))).toEqual(
    new Set([sound.id, broken.id]),
  )
})

describe('webhooks', () => {
  const subscribed = (instance: ReturnType<typeof openWatchInstance>, events: string[]) =>
    instance.send(
      'POST',
      '/v1/webhooks',
      { url: 'https://hooks.example.com/', events },
      instance.token,
    )

  test('webhooks receive requested watch runs and crossings with the fields and ids of the feed and nothing else', async () => {
    const instance = openWatchInstance()
    await subscribed(instance, ['watch.*'])
    instance.price('WTI_USD', 70)
    instance.watch({ deliverWebhook: true, thresholdPercent: 1 })
    instance.watch({ deliverWebhook: false })
    instance.clock.advance(30 * dayMs)
    instance.price('WTI_USD', 77, startAt + 1)
    await instance.services.watchRuns.pass()
    const [evaluated, crossed, stale] = instance.events()
    expect({ evaluated: evaluated!.type, crossed: crossed!.type, stale: stale!.type }).toEqual({
      evaluated: 'evaluated',
      crossed: 'threshold_crossed',
      stale: 'stale',
    })
    const webhookEvents = instance.messages().filter(event => event.type.startsWith('watch.'))
    expect(webhookEvents.map(event => [event.type, event.data])).toEqual([
      ['watch.evaluated', evaluated!],
      ['watch.threshold_crossed', crossed!],
    ])
    expect(webhookEvents.map(event => event.id)).toEqual([evaluated!.id, crossed!.id])
  })

  test('webhooks of other accounts receive no watch events', async () => {
    const instance = openWatchInstance()
    const otherToken = instance.key()
    await instance.send(
      'POST',
      '/v1/webhooks',
      { url: 'https://hooks.example.com/', events: ['*'] },
      otherToken,
    )
    instance.watch({ deliverWebhook: true })
    instance.clock.advance(minuteMs)
    await instance.services.watchRuns.pass()
    expect(instance.messages()).toEqual([])
  })
})

describe('a smaller plan', () => {
  test('lets the oldest watches run, as many as it has and no faster than it allows', async () => {
    const instance = openWatchInstance()
    const { services, clock } = instance
    const [first, second] = [instance.watch(), instance.watch()]
    const account = services.keys.account(instance.accountId)!
    services.keys.putAccount({ ...account.account, plan: 'free' })
    clock.advance(minuteMs)
    await services.watchRuns.pass()
    expect(
      instance
        .events()
        .filter(event => event.type === 'evaluated')
        .map(event => event.watch_id),
    ).toEqual([first.id])
    expect(services.watches.byId(first.id)!.nextRunAt).toBe(startAt + minuteMs + hourMs)
    expect(services.watches.byId(second.id)!.lastEvaluatedAt).toBeNull()
    services.watches.remove(first)
    clock.advance(hourMs)
    await services.watchRuns.pass()
    expect(services.watches.byId(second.id)!.lastEvaluatedAt).toBe(startAt + minuteMs + hourMs)
  })

  test('and a suspended account has no runs until it is let in again', async () => {
    const instance = openWatchInstance()
    const { services, clock } = instance
    instance.watch()
    const { account } = services.keys.account(instance.accountId)!
    services.keys.putAccount({ ...account, suspendedAt: clock.now() })
    clock.advance(hourMs)
    await services.watchRuns.pass()
    expect(instance.events()).toEqual([])
    services.keys.putAccount({ ...account, suspendedAt: null })
    clock.advance(minuteMs)
    await services.watchRuns.pass()
    expect(instance.events().filter(event => event.type === 'evaluated')).toHaveLength(1)
  })
})

test('a pause ends with a new comparison and a whole interval', async () => {
  const instance = openWatchInstance()
  const { services, clock } = instance
  instance.price('WTI_USD', 70)
  const watch = instance.watch({ thresholdPercent: 1 })
  const paused = services.watches.change(watch, { active: false })
  expect(paused.nextRunAt).toBeNull()
  clock.advance(10 * minuteMs)
  instance.price('WTI_USD', 80)
  await services.watchRuns.pass()
  expect(instance.events()).toEqual([])
  expect(services.watches.change(paused, { active: true }).nextRunAt).toBe(clock.now() + minuteMs)
  clock.advance(minuteMs)
  await services.watchRuns.pass()
  expect(instance.events().map(event => [event.type, event.previous_price])).toEqual([
    ['evaluated', 80],
  ])
})

test('a run that another contract of a family answers has nothing to compare with', async () => {
  const instance = openWatchInstance()
  const { services, clock } = instance
  const front = () => services.catalogue.resolve('BZ', clock.now())!
  const settle = (value: number) => {
    const { code } = front()
    // Asking for a contract that is listed adds it.
    services.catalogue.resolve(code, clock.now())
    const seriesId = services.catalogue.named(code)!.id
    services.ingest.write([{ seriesId, observedAt: clock.now(), value }])
  }
  const family = services.catalogue.named('BZ')!.code
  settle(70)
  const before = front().code
  instance.watch({ codes: [family], thresholdPercent: 1, intervalSeconds: 3600 })
  clock.advance(hourMs)
  settle(70.1)
  await services.watchRuns.pass()
  clock.advance(20 * dayMs)
  settle(90)
  expect(front().code).not.toBe(before)
  await services.watchRuns.pass()
  expect(
    instance.events().map(event => [event.type, event.code, event.price, event.previous_price]),
  ).toEqual([
    ['evaluated', family, 70.1, 70],
    ['evaluated', family, 90, null],
  ])
})

test('watch events are retained for 30 days even after their watch is removed, and numbers are never reused', async () => {
  const instance = openWatchInstance()
  const { services, clock } = instance
  instance.price('WTI_USD', 70)
  const watch = instance.watch({ intervalSeconds: 86_400 })
  const run = async (days: number) => {
    for (let day = 0; day < days; day += 1) {
      clock.advance(dayMs)
      await services.watchRuns.pass()
    }
  }
  await run(3)
  services.watches.remove(watch)
  expect(services.watches.byId(watch.id)).toBeUndefined()
  const days = () =>
    instance
      .events()
      .filter(event => event.type === 'evaluated')
      .map(event => event.created_at.slice(0, 10))
  await run(28)
  expect(days()).toEqual(['2026-11-21', '2026-11-22', '2026-11-23'])
  clock.advance(hourMs)
  await services.watchRuns.pass()
  expect(days()).toEqual(['2026-11-22', '2026-11-23'])
  const last = services.watchFeed.last(instance.accountId)
  // A clock that is far ahead may be wrong: it must run for a week before anything is deleted.
  clock.advance(40 * dayMs)
  await services.watchRuns.pass()
  expect(days()).toEqual(['2026-11-22', '2026-11-23'])
  await run(7)
  expect(days()).toEqual([])
  expect(services.db.query('SELECT count(*) AS n FROM watches').get()).toEqual({ n: 0 })
  instance.watch()
  clock.advance(minuteMs)
  await services.watchRuns.pass()
  expect(instance.events()[0]!.seq).toBe(last + 1)
})
