import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import { firstSmsSettings } from '../../../../src/topics/messages/service/sms.ts'
import type { SmsSettings } from '../../../../src/topics/messages/store/sms.ts'
import { runs } from '../../../support/full.ts'
import { type MessageInstance, openMessageInstance } from '../../../support/topics/messages.ts'

const number = '+15550100001'

/** An instance with an account that can be written to, and what an alert for it comes to. */
async function reachable(plan = 'enterprise') {
  const instance = openMessageInstance()
  const { id } = await instance.reachable(plan, number)
  let alerts = 0
  return {
    instance,
    id,
    set: (change: Partial<SmsSettings>) =>
      instance.services.sms.putSettings(id, { ...firstSmsSettings, ...change }),
    alert: (
      more: Partial<Parameters<MessageInstance['services']['textMessages']['post']>[0]> = {},
    ) => {
      alerts += 1
      return instance.services.textMessages.post({
        to: number,
        text: 'Brent above 90.',
        accountId: id,
        dedupe: `alert ${alerts}`,
        purpose: 'alert',
        ...more,
      })
    },
    last: () => instance.services.outbox.log.page('sms', 'sms', {}, 1, 0).entries[0]!,
  }
}

describe('an alert', () => {
  test('goes to the number of the account, once for each event', async () => {
    const { instance, id, alert } = await reachable()
    expect(instance.services.textMessages.alertNumber(id, 'price_alert')).toBe(number)
    expect(typeof alert({ dedupe: 'one' })).toBe('string')
    expect(alert({ dedupe: 'one' })).toBeUndefined()
    await instance.deliver()
    expect(instance.captured('sms').slice(1)).toMatchObject([
      { to: number, text: 'Brent above 90.', subject: null, at: instance.clock.now() },
    ])
    expect(instance.services.textMessages.allowance(id).usedThisMonth).toBe(1)
  })

  test('is one line of a length that people pay for', async () => {
    const { instance, alert } = await reachable()
    alert({ text: `Brent\r\n\u202e\0 above ${'9'.repeat(1000)}` })
    await instance.deliver()
    const { text } = instance.captured('sms').at(-1)!
    expect(text).toStartWith('Brent above 999')
    expect(text).toHaveLength(459)
  })

  const without: [string, (world: Awaited<ReturnType<typeof reachable>>) => void][] = [
    ['the consent', ({ instance, id }) => void instance.services.phones.optOut(id)],
    ['a number', ({ instance, id }) => void instance.services.phones.remove(id)],
    [
      'its verification',
      ({ instance, id }) => void instance.services.phones.add(id, '+15550100002', 'US'),
    ],
    ['the switch of the settings', ({ set }) => set({ enabled: false })],
    ['its type among the settings', ({ set }) => set({ alertTypes: ['analytics_alert'] })],
    [
      'the preference for text messages',
      ({ instance, id }) =>
        instance.services.preferences.put(id, {
          ...instance.services.preferences.of(id),
          sms: { enabled: false, priceAlerts: true },
        }),
    ],
    [
      'the preference for alerts by text message',
      ({ instance, id }) =>
        instance.services.preferences.put(id, {
          ...instance.services.preferences.of(id),
          sms: { enabled: true, priceAlerts: false },
        }),
    ],
    [
      'a plan that has text messages',
      ({ instance, id }) =>
        void instance.services.keys.putAccount({
          ...instance.services.keys.account(id)!.account,
          plan: 'starter',
        }),
    ],
    [
      'an account in good standing',
      ({ instance, id }) =>
        void instance.services.keys.putAccount({
          ...instance.services.keys.account(id)!.account,
          suspendedAt: instance.clock.now(),
        }),
    ],
  ]
  test.each(without)('has no number without %s', async (_, take) => {
    const world = await reachable()
    take(world)
    expect(
      world.instance.services.textMessages.alertNumber(world.id, 'price_alert'),
    ).toBeUndefined()
  })

  test.each(without.filter(([name]) => name !== 'its type among the settings'))(
    'is not sent without %s',
    async (_, take) => {
      const world = await reachable()
      take(world)
      await world.instance.deliver()
      const before = world.instance.captured('sms').length
      expect(world.alert()).toBeUndefined()
      await world.instance.deliver()
      expect(world.instance.captured('sms')).toHaveLength(before)
    },
  )

  test('is not sent to a number that is not the account’s', async () => {
    const { alert } = await reachable()
    expect(alert({ to: '+15550100009' })).toBeUndefined()
  })

  test('an SMS alert is skipped during quiet hours, and the outbox records the reason', async () => {
    const { instance, set, alert, last } = await reachable()
    set({ quiet: { from: '22:00', to: '07:00' }, timeZone: 'America/New_York' })
    for (const [moment, isSent] of [
      ['2026-11-21T02:59:59Z', true],
      ['2026-11-21T03:00:00Z', false],
      ['2026-11-21T11:59:59Z', false],
      ['2026-11-21T12:00:00Z', true],
      // The clocks went back on 2026-11-01 and go forward on 2027-03-14.
      ['2027-03-15T10:59:59Z', false],
      ['2027-03-15T11:00:00Z', true],
    ] as const) {
      instance.clock.set(Date.parse(moment))
      expect(alert() !== undefined, String(moment)).toEqual(isSent)
      if (!isSent) expect(last()).toMatchObject({ state: 'skipped', error: 'Quiet hours.' })
    }
  })

  test('is quiet by the clock on the wall, in any zone, over every change of it', async () => {
    const { instance, set, alert } = await reachable()
    const clock = (minute: number) =>
      `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
    const formats = new Map<string, Intl.DateTimeFormat>()
    const shown = (at: number, timeZone: string): string => {
      const format =
        formats.get(timeZone) ??
        new Intl.DateTimeFormat('en-GB', {
          timeZone,
          hour: '2-digit',
          minute: '2-digit',
          hourCycle: 'h23',
        })
      formats.set(timeZone, format)
      return format.format(at)
    }
    const zones = [
      'America/New_York',
      'Europe/London',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'America/St_Johns',
      'Africa/Casablanca',
      'UTC',
    ]
    const minute = fc.integer({ min: 0, max: 1439 })
    const from = instance.clock.now()
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        minute,
        minute,
        fc.integer({ min: 0, max: 3 * 365 * 24 * 60 }),
        (timeZone, start, end, minutes) => {
          fc.pre(start !== end)
          instance.clock.set(from + minutes * minuteMs)
          set({ quiet: { from: clock(start), to: clock(end) }, timeZone })
          // Only the hours matter, so earlier messages of the same day are forgotten.
          instance.services.sms.forget(Number.MAX_SAFE_INTEGER, 1000)
          const now = shown(instance.clock.now(), timeZone)
          const [begin, stop] = [clock(start), clock(end)]
          const quiet = begin < stop ? now >= begin && now < stop : now >= begin || now < stop
          expect(alert() === undefined).toBe(quiet)
        },
      ),
      { numRuns: runs(300) },
    )
  })

  test('past the day’s maximum is left out until the next day of the account’s own zone', async () => {
    const { instance, set, alert, last } = await reachable()
    set({ messagesPerDayMax: 3, timeZone: 'Asia/Tokyo' })
    // 15:00 UTC is midnight in Tokyo.
    expect([1, 2, 3, 4].map(() => alert() !== undefined)).toEqual([true, true, true, false])
    expect(last()).toMatchObject({ state: 'skipped', error: 'The daily maximum is reached.' })
    instance.clock.advance(dayMs - 1)
    expect(alert()).toBeUndefined()
    instance.clock.advance(1)
    expect(alert()).toBeDefined()
  })

  test('past the month’s allowance is left out until the next month, and codes go out nevertheless', async () => {
    const { instance, set, alert, last } = await reachable('professional')
    set({ messagesPerDayMax: 100 })
    expect(Array.from({ length: 51 }, () => alert() !== undefined)).toEqual([
      ...Array(50).fill(true),
      false,
    ])
    expect(last()).toMatchObject({ state: 'skipped', error: 'The monthly allowance is used up.' })
    const stranger = instance.account('free')
    expect(instance.services.phones.add(stranger.id, '+15550100007', 'US')).toMatchObject({
      isSent: true,
    })
    instance.clock.set(Date.parse('2026-12-01T00:00:00Z'))
    expect(alert()).toBeDefined()
  })

  test('that no provider took does not count', async () => {
    const { instance, id, alert } = await reachable()
    instance.services.outbox.register('sms', {
      send: async () => ({ state: 'failed', error: 'No.', durationMs: 1 }),
    })
    alert()
    expect(instance.services.textMessages.allowance(id).usedThisMonth).toBe(1)
    await instance.deliver()
    expect(instance.services.textMessages.allowance(id).usedThisMonth).toBe(0)
  })
})

test('a code goes out in quiet hours, past the day’s maximum and without consent', async () => {
  const { instance, set, id } = await reachable()
  set({ quiet: { from: '00:00', to: '23:59' }, messagesPerDayMax: 1, enabled: false })
  instance.clock.advance(hourMs)
  expect(instance.services.phones.add(id, '+15550100002', 'US')).toMatchObject({ isSent: true })
})

test('a code that was made while there was a provider does not end in the log of a service without one', async () => {
  const { instance, id } = await reachable()
  instance.services.phones.add(id, '+15550100002', 'US')
  const { createSmsSender, createLoggingSmsProvider } = await import(
    '../../../../src/topics/messages/service/sms-sender.ts'
  )
  const { vault, outbox, log } = instance.services
  const phones = { of: () => undefined, put() {}, remove: () => false, optOut() {} }
  outbox.register(
    'sms',
    createSmsSender({
      texter: createLoggingSmsProvider(log),
      phones,
      vault,
      clock: instance.clock,
      reaches: false,
    }),
  )
  await instance.deliver()
  expect(outbox.log.page('sms', 'sms', {}, 1, 0).entries[0]).toMatchObject({ state: 'failed' })
  expect(instance.log.join('\n')).not.toMatch(/code is \d/)
})
