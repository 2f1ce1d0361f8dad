import { afterEach, describe, expect, test } from 'bun:test'
import { hourMs } from '../../src/lib/time/instant.ts'
import { createEventLog, withEvents } from '../../src/topics/prices/demo/events.ts'
import { createWorld } from '../../src/topics/prices/demo/world.ts'
import type { Observation } from '../../src/topics/prices/math/bars.ts'
import { isFull } from '../support/full.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { needs } from '../support/needs.ts'

type Fields = Record<string, unknown>

let copy: DemoInstance | undefined
afterEach(() => {
  copy?.remove()
  copy = undefined
})

/** A copy with the codes that everybody tries first. */
function open(now = '2026-11-20T15:00:00Z'): DemoInstance {
  copy = demoInstance(Date.parse(now), {}, { controls: true })
  return copy
}

async function control(of: DemoInstance, method: string, path: string, body?: unknown) {
  const response = await of.ask(method, `/_dev/${path}`, {
    key: null,
    headers: { authorization: `Bearer ${of.adminToken}` },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, body: (await response.json()) as Fields }
}

const play = async (of: DemoInstance, name: string, options: Fields = {}) => {
  const played = await control(of, 'POST', 'scenario', { name, ...options })
  expect(played.status, JSON.stringify(played.body)).toBe(200)
  return played.body as { now: string; done: string; after: string; details: Fields }
}

async function dataOf(of: DemoInstance, path: string): Promise<Fields> {
  const response = await of.ask('GET', path)
  expect(response.status, path).toBe(200)
  return ((await response.json()) as { data: Fields }).data
}

const priceOf = async (of: DemoInstance, code: string) =>
  (await dataOf(of, `/v1/prices/latest?by_code=${code}`)).price as number

describe('scenarios', () => {
  test('are listed, and what cannot be played is refused with what can', async () => {
    const of = open()
    const { scenarios } = (await control(of, 'GET', 'scenario')).body as { scenarios: Fields[] }
    expect(scenarios.map(({ name }) => name)).toEqual([
      'negative-wti',
      'crash',
      'outage',
      'late-release',
      'revision',
      'quota-edge',
      'payment-failing',
      'receiver-failing',
      'dst',
      'dunkelflaute',
      'negative-sunday',
      'clock-change',
    ])
    const refusals: [Fields, string][] = [
      [{ name: 'boom' }, 'must be negative-wti, crash'],
      [{ name: 'crash', code: 'WTI_USD' }, 'code is not an option of crash'],
      [{ name: 'revision', code: 7 }, 'code must be a text; got 7'],
      [{ name: 'revision', code: 'NOPE' }, 'NOPE'],
      [{ name: 'late-release', code: 'WTI_USD' }, 'this one is quoted all day'],
      [{ name: 'quota-edge', remaining: 51 }, 'remaining must be'],
      [{ name: 'dst', zone: 'Asia/Tokyo' }, 'zone must be an IANA'],
      [{ name: 'dst', zone: 'Nowhere/Land' }, 'zone must be an IANA'],
    ]
    for (const [body, words] of refusals) {
      const { status, body: refusal } = await control(of, 'POST', 'scenario', body)
      expect({ status, stringify: JSON.stringify(refusal) }).toEqual({
        status: 422,
        stringify: expect.stringContaining(words),
      })
    }
  })

  test('negative-wti: the price is below zero at once and comes back as the clock moves', async () => {
    const of = open()
    const before = await priceOf(of, 'WTI_USD')
    const brent = await priceOf(of, 'BRENT_CRUDE_USD')
    const { details } = await play(of, 'negative-wti')
    expect(details.moves).toEqual([{ code: 'WTI_USD', before, after: -37.63 }])
    expect(await priceOf(of, 'WTI_USD')).toBe(-37.63)
    expect(await priceOf(of, 'BRENT_CRUDE_USD')).toBe(brent)
    await control(of, 'POST', 'clock', { advance: 'PT1H' })
    const soon = await priceOf(of, 'WTI_USD')
    expect(soon).toBeWithin(-37.63, -20)
    // Four days of all jobs take as long as six other scenarios.
    if (!isFull) return
    await control(of, 'POST', 'clock', { advance: 'P4D' })
    expect(await priceOf(of, 'WTI_USD')).toBeGreaterThan(before * 0.8)
  })

  test('the crash scenario lowers all oil prices, and those published twice a day at their next price', async () => {
    const of = open()
    const brent = await priceOf(of, 'BRENT_CRUDE_USD')
    const gold = await priceOf(of, 'GOLD_USD')
    await play(of, 'crash')
    expect((await priceOf(of, 'BRENT_CRUDE_USD')) / brent).toBeCloseTo(0.7, 2)
    expect(await priceOf(of, 'GOLD_USD')).toBe(gold)
    const diesel = await priceOf(of, 'DIESEL_USD')
    await control(of, 'POST', 'clock', { now: '2026-11-20T20:00:00Z' })
    expect((await priceOf(of, 'DIESEL_USD')) / diesel).toBeLessThan(0.8)
  })

  test.each([
    ['before', '2026-11-20T15:00:00Z'],
    ['after', '2026-11-20T20:00:00Z'],
  ])(
    'a crash %s the settlement of the day lowers every contract of the oil curves at once, and no other curve',
    async (_, now) => {
      const of = open(now)
      const curveOf = async (family: string) => {
        const answer = await of.ask('GET', `/v1/futures/${family}/curve`)
        const { curve } = (await answer.json()) as {
          curve: { price: number }[]
        }
        return curve
      }
      const families = ['brent', 'wti', 'gasoil', 'ttf']
      const before = await Promise.all(families.map(curveOf))
      await play(of, 'crash')
      const after = await Promise.all(families.map(curveOf))
      const falls = after.map((curve, i) =>
        curve.map(({ price }, place) => price / before[i]![place]!.price),
      )
      expect(falls.map(curve => curve.length)).toEqual(before.map(curve => curve.length))
      for (const fall of falls.slice(0, 3).flat()) expect(fall).toBeCloseTo(0.72, 2)
      expect(falls[3]).toEqual(before[3]!.map(() => 1))
    },
  )

  test('the outage scenario stops all data for six hours and delivers everything once the feed resumes', async () => {
    const of = open()
    const { now } = await play(of, 'outage')
    expect(Date.parse(now)).toBe(Date.parse('2026-11-20T21:00:00Z'))
    const age = async () => {
      const { created_at } = await dataOf(of, '/v1/prices/latest?by_code=BRENT_CRUDE_USD')
      return of.clock.now() - Date.parse(String(created_at))
    }
    expect(await age()).toBeGreaterThanOrEqual(6 * hourMs)
    await control(of, 'POST', 'feed', { paused: false })
    await control(of, 'POST', 'clock', { advance: 'PT1M' })
    expect(await age()).toBeLessThan(hourMs)
  })

  test('late-release: the value is missing at its hour and there a day later', async () => {
    const of = open()
    const path = '/v1/prices/latest?by_code=DIESEL_USD'
    const newest = async () => String((await dataOf(of, path)).created_at)
    const before = await newest()
    const { details } = await play(of, 'late-release', { code: 'DIESEL_USD' })
    expect(details.codes).toContain('HEATING_OIL_USD')
    expect(of.clock.now()).toBeGreaterThan(Date.parse(String(details.expected_at)))
    expect(await newest()).toBe(before)
    await control(of, 'POST', 'clock', { now: details.arrives_at })
    await control(of, 'POST', 'clock', { advance: 'PT1M' })
    expect(Date.parse(await newest())).toBeGreaterThan(Date.parse(before))
  })

  test('revision: the value is another one, and as_of answers the one before', async () => {
    const of = open()
    const { details } = await play(of, 'revision', { code: 'DIESEL_USD' })
    expect(details.after).not.toBe(details.before)
    expect(await priceOf(of, 'DIESEL_USD')).toBe(details.after as number)
    const path = `/v1/prices/past_day?by_code=DIESEL_USD&interval=raw&as_of=${details.as_of}`
    const { prices } = (await dataOf(of, path)) as { prices: { price: number }[] }
    expect(prices[0]?.price).toBe(details.before as number)
  })

  test('quota-edge: the next request is the last of the day', async () => {
    const of = open()
    const { details } = await play(of, 'quota-edge')
    const ask = () =>
      of.ask('GET', '/v1/prices/latest?by_code=BRENT_CRUDE_USD', { key: String(details.api_key) })
    const last = await ask()
    expect({
      status: last.status,
      ratelimitRemaining: last.headers.get('x-ratelimit-remaining'),
    }).toEqual({ status: 200, ratelimitRemaining: '0' })
    expect((await ask()).status).toBe(402)
    await control(of, 'POST', 'clock', { now: String(details.resets_at) })
    expect((await ask()).status).toBe(200)
  })

  test('the payment-failing scenario sets the subscription past due, e-mails the customer and ends with another card', async () => {
    const of = open()
    const { now, details } = await play(of, 'payment-failing')
    expect(details.subscription_status).toBe('past_due')
    expect(Date.parse(now)).toBeGreaterThan(Date.parse(String(details.declined_at)))
    const { email } = details.account as { email: string }
    const mailMessages = async () =>
      ((await control(of, 'GET', 'inbox?channel=email')).body.messages as Fields[])
        .filter(({ to }) => to === email)
        .map(({ subject }) => String(subject))
    expect((await mailMessages()).some(subject => /is not paid/.test(subject))).toBe(true)
    const key = String(details.api_key)
    const status = async () => {
      const answer = await of.ask('GET', '/billing/subscriptions/current', { key })
      expect(answer.status).toBe(200)
      return JSON.stringify(await answer.json())
    }
    expect(await status()).toContain('past_due')
    const paid = await of.ask('PATCH', '/billing/payment_methods/update', {
      key,
      body: { payment_method_id: 'pm_0001' },
    })
    expect(paid.status).toBe(200)
    expect(await status()).not.toContain('past_due')
  })

  test('receiver-failing: each attempt fails and the next is due, until none is left', async () => {
    const of = open()
    const { details } = await play(of, 'receiver-failing')
    expect(details).toMatchObject({ attempts: 1, last_error: expect.stringMatching(/refused/i) })
    const { deliveries } = (await control(of, 'GET', 'deliveries?limit=1')).body as {
      deliveries: Fields[]
    }
    expect(deliveries).toMatchObject([
      {
        event_id: details.event_id,
        webhook_id: details.webhook_id,
        url: details.url,
        account: 'eval@example.com',
        status: 'retry_scheduled',
        next_attempt_at: details.next_attempt_at,
      },
    ])
    await control(of, 'POST', 'feed', { paused: true })
    await control(of, 'POST', 'clock', { now: details.next_attempt_at })
    const again = (await control(of, 'GET', 'deliveries')).body.deliveries as Fields[]
    expect(again.find(({ event_id: id }) => id === details.event_id)).toMatchObject({ attempts: 2 })
  })

  needs('test:full').test(
    'the dst scenario sets the clock to one hour before the change',
    async () => {
      const of = open('2026-10-31T22:00:00Z')
      const { now, details } = await play(of, 'dst')
      expect({ now, changes_at: details.changes_at }).toEqual({
        now: '2026-11-01T05:00:00Z',
        changes_at: '2026-11-01T06:00:00Z',
      })
      expect((await control(of, 'GET', 'feed')).body.paused).toBe(false)
    },
  )

  test('dunkelflaute: the day after the next auction is dear at every hour', async () => {
    const of = open()
    const today = await dataOf(of, '/v1/delivery/POWER_DA_DE_LU_EUR')
    const { details } = await play(of, 'dunkelflaute')
    expect(details.date).toBe('2026-11-22')
    const day = await dataOf(of, `/v1/delivery/POWER_DA_DE_LU_EUR?date=${details.date}`)
    expect(day.complete).toBe(true)
    expect((day.min as { price: number }).price).toBeGreaterThan(100)
    expect(day.base).toBeGreaterThan((today.base as number) + 100)
  })

  test('negative-sunday: the noon of Sunday is negative and known on Saturday', async () => {
    const of = open()
    const { now, details } = await play(of, 'negative-sunday')
    expect({ now, date: details.date }).toEqual({
      now: '2026-11-21T11:55:00Z',
      date: '2026-11-22',
    })
    const day = await dataOf(of, `/v1/delivery/POWER_DA_NL_EUR?date=${details.date}`)
    expect(day.negative_periods).toBeGreaterThanOrEqual(24)
    const cheapest = await dataOf(
      of,
      `/v1/delivery/POWER_DA_NL_EUR/cheapest?date=${details.date}&hours=3`,
    )
    expect((cheapest.start as string) >= '2026-11-22T09:00:00Z').toBe(true)
  })

  needs('test:full').test(
    'clock-change: the day of 92 quarters is known on the day before',
    async () => {
      const of = open('2027-03-20T15:00:00Z')
      const { details } = await play(of, 'clock-change')
      const day = await dataOf(of, `/v1/delivery/POWER_DA_DE_LU_EUR?date=${details.date}`)
      expect({ date: details.date, expected: day.expected, complete: day.complete }).toEqual({
        date: '2027-03-28',
        expected: 92,
        complete: true,
      })
    },
  )
})

describe('events of the world', () => {
  const series = [{ ...leading('COPPER_USD'), cadence: 'weekly' as const, category: 'storage' }]
  const calm = createWorld({ seed: 1, series })
  const [from, to] = [Date.parse('2026-11-01T00:00:00Z'), Date.parse('2026-12-01T00:00:00Z')]

  test('demo events change no data while there are none and are stored as text', () => {
    const kept = new Map<string, string>()
    const settings = {
      get: (name: string) => kept.get(name),
      set: (name: string, value: string) => void kept.set(name, value),
    }
    const log = createEventLog(settings)
    const world = withEvents(calm, series, log)
    expect(world.observations('COPPER_USD', from, to)).toEqual(
      calm.observations('COPPER_USD', from, to),
    )
    expect(kept.size).toBe(0)
    log.add({
      shocks: [{ codes: ['COPPER_USD'], at: from, halfLifeMs: hourMs, to: { price: -5 } }],
    })
    expect(world.changes?.()).toBe(1)
    expect(createEventLog(settings).all()).toEqual(log.all())
  })

  test('a delay moves the publication alone, and no span of it is lost or doubled', () => {
    const [first] = calm.observations('COPPER_USD', from, to)
    const byMs = 24 * hourMs
    const delay = {
      codes: ['COPPER_USD'],
      from: first!.recordedAt,
      to: first!.recordedAt + 1,
      byMs,
    }
    const world = withEvents(calm, series, {
      all: () => ({ shocks: [], delays: [delay] }),
      add() {},
    })
    const late = { ...first!, recordedAt: first!.recordedAt + byMs }
    const spans: Observation[] = []
    for (let at = from; at < to; at += 6 * hourMs)
      spans.push(...world.observations('COPPER_USD', at, Math.min(to, at + 6 * hourMs)))
    expect(spans).toEqual([late, ...calm.observations('COPPER_USD', from, to).slice(1)])
  })
})

/** A series as the catalogue has it. */
function leading(code: string) {
  return {
    code,
    category: 'metals',
    cadence: 'daily' as const,
    level: 4,
    volatility: 0.2,
    unit: 'pound',
    decimals: 3,
    currency: 'USD',
    available: true,
  }
}
