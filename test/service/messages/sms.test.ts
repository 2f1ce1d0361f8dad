import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, minuteMs } from '../../../src/lib/instant.ts'
import { firstSmsSettings } from '../../../src/service/messages/sms.ts'
import type { SmsSettings } from '../../../src/store/messages/sms.ts'
import { type MessageHouse, messageHouse } from '../../support/messages.ts'

const number = '+15550100001'

/** A house with an account that can be written to, and what an alert for it comes to. */
async function reachable(plan = 'enterprise') {
  const house = messageHouse()
  const { id } = await house.reachable(plan, number)
  let alerts = 0
  return {
    house,
    id,
    set: (change: Partial<SmsSettings>) =>
      house.services.sms.putSettings(id, { ...firstSmsSettings, ...change }),
    alert: (more: Partial<Parameters<MessageHouse['services']['texts']['post']>[0]> = {}) => {
      alerts += 1
      return house.services.texts.post({
        to: number,
        text: 'Brent above 90.',
        accountId: id,
        dedupe: `alert ${alerts}`,
        purpose: 'alert',
        ...more,
      })
    },
    last: () => house.services.outbox.log.page('sms', 'sms', {}, 1, 0).entries[0]!,
  }
}

describe('an alert', () => {
  test('goes to the number of the account, once for each event', async () => {
    const { house, id, alert } = await reachable()
    expect(house.services.texts.alertNumber(id, 'price_alert')).toBe(number)
    expect(typeof alert({ dedupe: 'one' })).toBe('string')
    expect(alert({ dedupe: 'one' })).toBeUndefined()
    await house.deliver()
    expect(house.captured('sms').slice(1)).toMatchObject([
      { to: number, text: 'Brent above 90.', subject: null, at: house.clock.now() },
    ])
    expect(house.services.texts.allowance(id).usedThisMonth).toBe(1)
  })

  test('is one line of a length that people pay for', async () => {
    const { house, alert } = await reachable()
    alert({ text: `Brent\r\n\u202e\0 above ${'9'.repeat(1000)}` })
    await house.deliver()
    const { text } = house.captured('sms').at(-1)!
    expect(text).toStartWith('Brent above 999')
    expect(text).toHaveLength(459)
  })

  const without: [string, (given: Awaited<ReturnType<typeof reachable>>) => void][] = [
    ['the consent', ({ house, id }) => void house.services.phones.optOut(id)],
    ['a number', ({ house, id }) => void house.services.phones.remove(id)],
    [
      'its verification',
      ({ house, id }) => void house.services.phones.add(id, '+15550100002', 'US'),
    ],
    ['the switch of the settings', ({ set }) => set({ enabled: false })],
    ['its type among the settings', ({ set }) => set({ alertTypes: ['analytics_alert'] })],
    [
      'the preference for text messages',
      ({ house, id }) =>
        house.services.preferences.put(id, {
          ...house.services.preferences.of(id),
          sms: { enabled: false, priceAlerts: true },
        }),
    ],
    [
      'the preference for alerts by text message',
      ({ house, id }) =>
        house.services.preferences.put(id, {
          ...house.services.preferences.of(id),
          sms: { enabled: true, priceAlerts: false },
        }),
    ],
    [
      'a plan that has text messages',
      ({ house, id }) =>
        void house.services.keys.putAccount({
          ...house.services.keys.account(id)!.account,
          plan: 'starter',
        }),
    ],
    [
      'an account in good standing',
      ({ house, id }) =>
        void house.services.keys.putAccount({
          ...house.services.keys.account(id)!.account,
          suspendedAt: house.clock.now(),
        }),
    ],
  ]
  test.each(without)('has no number without %s', async (_, take) => {
    const given = await reachable()
    take(given)
    expect(given.house.services.texts.alertNumber(given.id, 'price_alert')).toBeUndefined()
  })

  test.each(without.filter(([name]) => name !== 'its type among the settings'))(
    'is not sent without %s',
    async (_, take) => {
      const given = await reachable()
      take(given)
      await given.house.deliver()
      const before = given.house.captured('sms').length
      expect(given.alert()).toBeUndefined()
      await given.house.deliver()
      expect(given.house.captured('sms')).toHaveLength(before)
    },
  )

  test('is not sent to a number that is not the account’s', async () => {
    const { alert } = await reachable()
    expect(alert({ to: '+15550100009' })).toBeUndefined()
  })

  test('in quiet hours is left out, and says so in the outbox', async () => {
    const { house, set, alert, last } = await reachable()
    set({ quiet: { from: '22:00', to: '07:00' }, timeZone: 'America/New_York' })
    for (const [moment, sent] of [
      ['2026-11-21T02:59:59Z', true],
      ['2026-11-21T03:00:00Z', false],
      ['2026-11-21T11:59:59Z', false],
      ['2026-11-21T12:00:00Z', true],
      // The clocks went back on 2026-11-01 and go forward on 2027-03-14.
      ['2027-03-15T10:59:59Z', false],
      ['2027-03-15T11:00:00Z', true],
    ] as const) {
      house.clock.set(Date.parse(moment))
      expect([moment, alert() !== undefined]).toEqual([moment, sent])
      if (!sent) expect(last()).toMatchObject({ state: 'skipped', error: 'Quiet hours.' })
    }
  })

  test('is quiet by the clock on the wall, in any zone, over every change of it', async () => {
    const { house, set, alert } = await reachable()
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
    const from = house.clock.now()
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        minute,
        minute,
        fc.integer({ min: 0, max: 3 * 365 * 24 * 60 }),
        (timeZone, start, end, minutes) => {
          fc.pre(start !== end)
          house.clock.set(from + minutes * minuteMs)
          set({ quiet: { from: clock(start), to: clock(end) }, timeZone })
          // Only the hours are asked about, whatever was sent on the same day before.
          house.services.sms.forget(Number.MAX_SAFE_INTEGER, 1000)
          const now = shown(house.clock.now(), timeZone)
          const [begin, stop] = [clock(start), clock(end)]
          const quiet = begin < stop ? now >= begin && now < stop : now >= begin || now < stop
          expect(alert() === undefined).toBe(quiet)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('past the day’s maximum is left out until the next day of the account’s own zone', async () => {
    const { house, set, alert, last } = await reachable()
    set({ messagesPerDayMax: 3, timeZone: 'Asia/Tokyo' })
    // 15:00 UTC is midnight in Tokyo.
    expect([1, 2, 3, 4].map(() => alert() !== undefined)).toEqual([true, true, true, false])
    expect(last()).toMatchObject({ state: 'skipped', error: "The day's maximum is reached." })
    house.clock.advance(dayMs - 1)
    expect(alert()).toBeUndefined()
    house.clock.advance(1)
    expect(alert()).toBeDefined()
  })

  test('past the month’s allowance is left out until the next month, and codes go out nevertheless', async () => {
    const { house, set, alert, last } = await reachable('professional')
    set({ messagesPerDayMax: 100 })
    expect(Array.from({ length: 51 }, () => alert() !== undefined)).toEqual([
      ...Array(50).fill(true),
      false,
    ])
    expect(last()).toMatchObject({ state: 'skipped', error: "The month's allowance is used up." })
    const other = house.account('free')
    expect(house.services.phones.add(other.id, '+15550100007', 'US')).toMatchObject({ sent: true })
    house.clock.set(Date.parse('2026-12-01T00:00:00Z'))
    expect(alert()).toBeDefined()
  })

  test('that no provider took does not count', async () => {
    const { house, id, alert } = await reachable()
    house.services.outbox.register('sms', {
      send: async () => ({ state: 'failed', error: 'No.', durationMs: 1 }),
    })
    alert()
    expect(house.services.texts.allowance(id).usedThisMonth).toBe(1)
    await house.deliver()
    expect(house.services.texts.allowance(id).usedThisMonth).toBe(0)
  })
})

test('a code goes out in quiet hours, past the day’s maximum and without consent', async () => {
  const { house, set, id } = await reachable()
  set({ quiet: { from: '00:00', to: '23:59' }, messagesPerDayMax: 1, enabled: false })
  house.clock.advance(hourMs)
  expect(house.services.phones.add(id, '+15550100002', 'US')).toMatchObject({ sent: true })
})

test('a code that was made while there was a provider does not end in the log of a service without one', async () => {
  const { house, id } = await reachable()
  house.services.phones.add(id, '+15550100002', 'US')
  const { textSender, logTexter } = await import('../../../src/service/messages/sms-sender.ts')
  const { vault, outbox, log } = house.services
  const phones = { of: () => undefined, put() {}, remove: () => false, optOut() {} }
  outbox.register(
    'sms',
    textSender({ texter: logTexter(log), phones, vault, clock: house.clock, reaches: false }),
  )
  await house.deliver()
  expect(outbox.log.page('sms', 'sms', {}, 1, 0).entries[0]).toMatchObject({ state: 'failed' })
  expect(house.log.join('\n')).not.toMatch(/code is \d/)
})
