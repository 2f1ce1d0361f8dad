import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Clock } from '../../../../src/lib/time/clock.ts'
import { dayMs, hourMs, minuteMs, startOfDay } from '../../../../src/lib/time/instant.ts'
import {
  type AlertCondition,
  alertMoment,
  evaluate,
} from '../../../../src/topics/alerts/math/condition.ts'
import { createAlertEvaluation } from '../../../../src/topics/alerts/service/evaluation.ts'
import { createAlertMoments } from '../../../../src/topics/alerts/service/moment.ts'
import { createAlertStore } from '../../../../src/topics/alerts/store/alerts.ts'
import { createAlertPriceStore } from '../../../../src/topics/alerts/store/prices.ts'
import { createAlertTriggerStore } from '../../../../src/topics/alerts/store/triggers.ts'
import { firstPreferences } from '../../../../src/topics/messages/store/preferences.ts'
import { roundTo } from '../../../../src/topics/prices/math/format.ts'
import type { Close } from '../../../../src/topics/prices/math/window.ts'
import { runs as sweep } from '../../../support/full.ts'
import {
  type AlertInstance,
  above,
  below,
  openAlertInstance,
  startAt,
} from '../../../support/topics/alerts.ts'

const code = 'WTI_USD'

describe('an alert fires', () => {
  test('an alert fires when its condition holds, and every trigger is counted and stored', () => {
    const { watch, price, fired, clock, services } = openAlertInstance()
    const alert = watch(code, above(90))
    for (const value of [89, 90, 90.5, 88, 91]) {
      price(code, value)
      clock.advance(minuteMs)
    }
    expect(fired(alert)).toEqual([90.5, 91])
    expect(services.alerts.byId(alert.id)).toMatchObject({
      triggerCount: 2,
      lastTriggeredAt: startAt + 4 * minuteMs,
    })
  })

  test('by a price with a time in the future when that time comes, and by those of the present before', async () => {
    const { watch, price, fired, clock, services } = openAlertInstance()
    const alert = watch(code, above(90))
    const { arrivals, alerts } = services
    price(code, 95, startAt + hourMs)
    expect(fired(alert)).toEqual([])
    clock.advance(minuteMs)
    price(code, 91)
    expect(fired(alert)).toEqual([91])
    clock.advance(hourMs)
    arrivals.pass()
    await alerts.evaluation.pass()
    expect(fired(alert)).toEqual([91, 95])
  })

  test('not while its cooldown runs, and again from its last moment on', () => {
    const { watch, price, fired, clock } = openAlertInstance()
    const alert = watch(code, above(90), { cooldownMinutes: 60 })
    for (const [minutes, value] of [
      [0, 91],
      [30, 92],
      [29, 93],
      [1, 94],
      [59, 95],
    ] as const) {
      // biome-ignore format: pairs
      clock.advance(minutes * minuteMs)
      price(code, value)
    }
    expect(fired(alert)).toEqual([91, 94])
  })

  test('once for an observation, also when that is corrected; a correction that first meets the condition fires', () => {
    const { watch, price, fired } = openAlertInstance()
    const [first, second] = [watch(code, above(90)), watch(code, above(95))]
    price(code, 91, startAt)
    price(code, 96, startAt)
    price(code, 97, startAt)
    expect({ first: fired(first), second: fired(second) }).toEqual({ first: [91], second: [96] })
  })

  test('by the newest observation only: older rows, later rows of the same write and stale history trigger nothing', () => {
    const { watch, price, fired, services, clock } = openAlertInstance()
    const alert = watch(code, above(90))
    const write = (...points: (readonly [days: number, value: number])[]) =>
      services.ingest.write(
        points.map(([days, value]) => ({
          seriesId: services.catalogue.named(code)!.id,
          observedAt: startAt - days * dayMs,
          value,
        })),
      )
    write([400, 120], [300, 130])
    write([2, 99], [1, 80])
    price(code, 150, startAt - 3 * dayMs)
    write([0.5, 95], [0.4, 96])
    clock.advance(hourMs)
    expect(fired(alert)).toEqual([96])
  })

  test('not by a price that was there before it, or before it was changed or switched on', async () => {
    const { watch, price, fired, services, clock } = openAlertInstance({ interval: '60s' })
    const { alerts } = services
    price(code, 50)
    watch(code, below(60), { cooldownMinutes: 60 })
    clock.advance(1000)
    price(code, 50.5)
    clock.advance(1000)
    // Waits for the interval.
    price(code, 95)
    clock.advance(1000)
    const alert = watch(code, above(90))
    const off = watch(code, above(90), { enabled: false })
    clock.advance(minuteMs)
    alerts.change(off, { enabled: true })
    await services.alerts.evaluation.pass()
    expect({ alert: fired(alert), off: fired(off) }).toEqual({ alert: [], off: [] })
    price(code, 96)
    clock.advance(minuteMs)
    await services.alerts.evaluation.pass()
    expect({ alert: fired(alert), off: fired(off) }).toEqual({ alert: [96], off: [96] })
  })

  test('not in quarantine, not switched off, not removed', () => {
    const { watch, price, fired, services, clock } = openAlertInstance()
    const alert = watch(code, above(90))
    const off = watch(code, above(90), { enabled: false })
    const removed = watch(code, above(90))
    services.alerts.remove(removed)
    const range = services.quarantine.add({
      seriesId: services.catalogue.named(code)!.id,
      fromOn: '2026-11-20',
      toOn: '2026-11-20',
      reason: 'a wrong feed',
      createdAt: startAt,
    })
    price(code, 91)
    services.quarantine.remove(range.id)
    expect([alert, off, removed].map(fired)).toEqual([[], [], []])
    clock.advance(minuteMs)
    price(code, 92)
    expect([alert, off].map(fired)).toEqual([[92], []])
  })

  test('an alert fires only while the plan includes its kind and resumes when the plan includes it again', () => {
    const { watch, price, fired, services, clock, open } = openAlertInstance()
    const account = open('professional')
    const alert = watch(code, above(90), {}, account)
    const plans = ['starter', 'free', 'professional']
    for (const [i, plan] of plans.entries()) {
      services.keys.putAccount({ ...account.account, plan })
      price(code, 91 + i)
      clock.advance(minuteMs)
    }
    expect(fired(alert)).toEqual([93])
    services.keys.putAccount({ ...account.account, suspendedAt: startAt })
    price(code, 99)
    expect(fired(alert)).toEqual([93])
  })

  test('by the price as it is answered: rounded to the decimals of its code', () => {
    const { watch, price, fired, clock } = openAlertInstance()
    const alert = watch(code, above(90))
    price(code, 90.004)
    clock.advance(minuteMs)
    price(code, 90.006)
    expect(fired(alert)).toEqual([90.01])
  })

  test('of a futures family by the price of its front contract', () => {
    const { watch, price, fired, services, clock } = openAlertInstance()
    const family = services.catalogue
      .list()
      .find(series => services.catalogue.resolve(series.code, clock.now())!.code !== series.code)!
    const { code: front } = services.catalogue.resolve(family.code, clock.now())!
    const contract = services.catalogue.resolve(front, clock.now())!
    price(front, 10)
    clock.advance(minuteMs)
    const alert = watch(family.code, above(90))
    price(contract.code, 91)
    expect(fired(alert)).toEqual([91])
  })

  test('on daily values at most once for a day', () => {
    const { watch, price, fired, services, clock } = openAlertInstance()
    for (let day = 40; day > 0; day -= 1) price(code, 80 + Math.sin(day), startAt - day * dayMs)
    const alert = watch(code, { kind: 'z_score', period: 30, threshold: 3, direction: 'both' })
    for (const value of [81, 95, 96, 97]) {
      clock.advance(minuteMs)
      price(code, value)
    }
    expect(fired(alert)).toEqual([95])
    clock.advance(dayMs)
    price(code, 140)
    expect(fired(alert)).toEqual([95, 140])
    const [last] = services.alerts.history(alert, 1)
    expect(last!.metadata).toMatchObject({ current_price: 140, z_score: roundTo(last!.value, 6) })
    expect(last!.observedAt).toBe(startOfDay(clock.now()))
  })
})

describe('a code is judged', () => {
  test('a code is evaluated at once, then at most every interval, in order and without skipping a value', async () => {
    const { watch, price, fired, services, clock } = openAlertInstance({ interval: '60s' })
    const alert = watch(code, above(90))
    const { evaluation } = services.alerts
    price(code, 91)
    expect(fired(alert)).toEqual([91])
    for (const value of [92, 80, 93]) {
      clock.advance(10_000)
      price(code, value)
      await evaluation.pass()
    }
    expect(fired(alert)).toEqual([91])
    expect(evaluation.dueAfter(clock.now())).toBe(startAt + minuteMs)
    clock.set(startAt + minuteMs)
    await evaluation.pass()
    expect(fired(alert)).toEqual([91, 92, 93])
    expect(evaluation.dueAfter(clock.now())).toBe(Number.POSITIVE_INFINITY)
    expect(services.alerts.history(alert, 3).map(trigger => trigger.triggeredAt)).toEqual([
      startAt + 30_000,
      startAt + 10_000,
      startAt,
    ])
  })

  test('at once while nothing fires', () => {
    const { watch, price, fired } = openAlertInstance({ interval: '60s' })
    const alerts = [
      watch(code, above(90)),
      watch(code, { kind: 'rsi', period: 14, overbought: 70, oversold: 30 }),
    ]
    for (const [i, value] of [80, 85, 91].entries()) price(code, value, startAt - 2 + i)
    expect(alerts.map(fired)).toEqual([[91], []])
  })

  test('apart from every other code', async () => {
    const { watch, price, fired, clock } = openAlertInstance({ interval: '60s' })
    const [wti, brent] = [watch(code, above(90)), watch('BRENT_CRUDE_USD', above(90))]
    price(code, 91)
    clock.advance(1000)
    price('BRENT_CRUDE_USD', 92)
    expect({ wti: fired(wti), brent: fired(brent) }).toEqual({ wti: [91], brent: [92] })
  })
})

/** A history of prices as it comes in: minutes to wait, then a price. */
const steps = (minutesMin: number, minutesMax: number, minLength: number) =>
  fc.array(
    fc.tuple(
      fc.integer({ min: minutesMin, max: minutesMax }),
      fc.integer({ min: 700_000, max: 900_000 }).map(n => n / 10_000),
    ),
    {
      minLength,
      maxLength: 45,
    },
  )
const threshold = fc.integer({ min: 7_500, max: 8_500 }).map(n => n / 100)
const priceConditions: fc.Arbitrary<AlertCondition> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        'greater_than' as const,
        'less_than' as const,
        'greater_than_or_equal' as const,
      ),
      threshold,
    )
    .map(([operator, value]) => ({
      kind: 'price' as const,
      operator,
      value,
    })),
  fc.tuple(threshold, fc.integer({ min: 0, max: 300 })).map(([value, tolerance]) => ({
    kind: 'price' as const,
    operator: 'equals' as const,
    value,
    tolerance: tolerance / 100,
  })),
  threshold.map(value => ({
    kind: 'price' as const,
    operator: 'not_equals' as const,
    value,
    tolerance: 2,
  })),
  threshold.map(min => ({
    kind: 'price' as const,
    operator: 'between' as const,
    value: min,
    min,
    max: min + 3,
  })),
)
const analyticsConditions: fc.Arbitrary<AlertCondition> = fc.oneof(
  fc
    .constantFrom('both' as const, 'above' as const, 'below' as const)
    .map(direction => ({ kind: 'z_score' as const, period: 12, threshold: 1, direction })),
  fc.constant({ kind: 'rsi' as const, period: 5, overbought: 60, oversold: 40 }),
  fc.constant({ kind: 'volatility_spike' as const, period: 6, multiplier: 1.1 }),
  fc.constant({ kind: 'trend_reversal' as const, period: 7 }),
)

/** The alerts that fire, computed without slices, stores and queues. */
function oracle(
  condition: AlertCondition,
  cooldownMinutes: number,
  history: readonly { at: number; value: number }[],
  decimals: number,
): number[] {
  const fired: number[] = []
  let last = Number.NEGATIVE_INFINITY
  let lastDay = Number.NaN
  history.forEach(({ at, value }, i) => {
    const closes: Close[] = []
    for (const observation of history.slice(0, i + 1)) {
      const day = new Date(observation.at).toISOString().slice(0, 10)
      if (closes.at(-1)?.day === day) closes.pop()
      closes.push({ day, value: observation.value })
    }
    const price = roundTo(value, decimals)
    const judged = evaluate(
      condition,
      alertMoment(price, () => closes),
    )
    if (!judged.enough || !judged.value.holds || at < last + cooldownMinutes * minuteMs) return
    if (condition.kind !== 'price' && startOfDay(at) === lastDay) return
    last = at
    lastDay = startOfDay(at)
    fired.push(price)
  })
  return fired
}

describe('live, backtest and oracle agree', () => {
  const instance = openAlertInstance()
  const codes = instance.services.catalogue
    .list()
    .filter(
      series => instance.services.catalogue.resolve(series.code, startAt)!.code === series.code,
    )
  let runs = 0
  const agree = async (
    condition: AlertCondition,
    cooldownMinutes: number,
    prices: readonly (readonly [number, number])[],
  ) => {
    const { services, clock, watch, price, fired } = instance
    // A different code for every run.
    const series = codes[runs++]!
    const alert = watch(series.code, condition, { cooldownMinutes })
    const history = prices.map(([minutes, value]) => {
      clock.advance(minutes * minuteMs)
      price(series.code, value)
      return { at: clock.now(), value }
    })
    await services.alerts.evaluation.pass()
    const expected = oracle(condition, cooldownMinutes, history, series.decimals)
    const tested = await services.backtests.run({
      condition,
      cooldownMinutes,
      series,
      from: history[0]!.at,
      to: clock.now() + 1,
    })
    expect(fired(alert)).toEqual(expected)
    expect(tested.triggers.map(trigger => trigger.value)).toEqual(expected)
    expect({ triggerCount: tested.triggerCount, observations: tested.observations }).toEqual({
      triggerCount: expected.length,
      observations: history.length,
    })
    services.alerts.remove(alert)
    return expected.length
  }

  test('on conditions on the price', async () => {
    let triggers = 0
    await fc.assert(
      fc.asyncProperty(
        priceConditions,
        fc.constantFrom(0, 5, 60, 1440),
        steps(1, 40, 1),
        async (condition, cooldown, prices) => {
          triggers += await agree(condition, cooldown, prices)
        },
      ),
      { numRuns: sweep(200) },
    )
    // In 200 runs some 330, and hardly ever below 240.
    expect(triggers).toBeGreaterThan(sweep(200) / 2)
  })

  test('on conditions on daily closes, over days of several prices and days of none', async () => {
    let triggers = 0
    await fc.assert(
      fc.asyncProperty(
        analyticsConditions,
        fc.constantFrom(0, 1440),
        steps(200, 2000, 25),
        async (condition, cooldown, prices) => {
          triggers += await agree(condition, cooldown, prices)
        },
      ),
      { numRuns: sweep(40) },
    )
    expect(triggers).toBeGreaterThan(sweep(40) / 2)
  })
})

/** A stopwatch at which every look takes longer than a slice. */
const impatient = (): Clock => {
  let ms = 0
  return { now: () => 0, monotonic: () => (ms += 1000) }
}

const evaluationOf = ({ services }: AlertInstance, more: object = {}) => {
  const { db } = services
  return createAlertEvaluation({
    ...services,
    alerts: createAlertStore(db),
    triggers: createAlertTriggerStore(db),
    prices: createAlertPriceStore(db),
    intervalMs: 0,
    moments: createAlertMoments({ ...services, now: services.clock.now }),
    notifier: () => ({ notify: (fired: readonly unknown[]) => fired.map(() => []), end() {} }),
    stopwatch: impatient(),
    ...more,
  })
}

describe('after a crash', () => {
  const inDirectory = async (work: (path: string) => Promise<void>) => {
    const dir = mkdtempSync(join(tmpdir(), 'wellhead-alerts-'))
    try {
      await work(join(dir, 'wellhead.db'))
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }

  test('between recording and judging, the alert fires exactly once, at the time at which the price came in', () =>
    inDirectory(async path => {
      const before = openAlertInstance({ path, interval: '60s' })
      const { id } = before.watch(code, above(90))
      before.price(code, 91)
      before.clock.advance(10_000)
      before.price(code, 92)
      before.close()

      const after = openAlertInstance({ path, interval: '60s', now: startAt + hourMs })
      const { alerts } = after.services
      const alert = alerts.byId(id)!
      expect(after.fired(alert)).toEqual([91])
      await alerts.evaluation.pass()
      await alerts.evaluation.pass()
      expect(after.fired(alert)).toEqual([91, 92])
      expect(alerts.history(alert, 1)[0]!.triggeredAt).toBe(startAt + 10_000)
      expect(after.messages().filter(message => message.kind === 'email')).toHaveLength(2)
      after.close()
    }))

  test('in the midst of many alerts, each has fired exactly once in the end', () =>
    inDirectory(async path => {
      const before = openAlertInstance({ path })
      const half = evaluationOf(before)
      for (let i = 0; i < 50; i += 1) {
        const account = before.open('enterprise')
        for (let n = 0; n < 7; n += 1) before.watch(code, above(60 + n), {}, account)
      }
      before.services.alerts.evaluation.stop()
      before.price(code, 100)
      // The first slice, and then the process is gone.
      half.follow()
      half.stop()
      const firedOf = (instance: AlertInstance) =>
        instance.services.db
          .query('SELECT count(*) AS n, count(DISTINCT alert_number) AS alerts FROM alert_triggers')
          .get()
      const first = firedOf(before) as { n: number }
      expect(first.n).toBe(100)
      before.close()

      const after = openAlertInstance({ path, now: startAt + hourMs })
      await after.services.alerts.evaluation.pass()
      expect(firedOf(after)).toEqual({ n: 350, alerts: 350 })
      after.close()
    }))
})

test('an alert that cannot be notified does not block other notifications and is named in the log', async () => {
  const instance = openAlertInstance()
  const [first, bad, last] = [1, 2, 3].map(n => instance.watch(code, above(60 + n)))
  instance.services.alerts.evaluation.stop()
  const notify = (fired: readonly { alert: { id: string } }[]) => {
    if (fired.some(({ alert }) => alert.id === bad!.id)) throw new Error('no way')
    return fired.map(() => [])
  }
  const evaluation = evaluationOf(instance, { notifier: () => ({ notify, end() {} }) })
  instance.price(code, 100)
  await evaluation.pass()
  expect([first, bad, last].map(alert => instance.fired(alert!))).toEqual([[100], [], [100]])
  expect(
    instance.log.filter(line => line.includes('alert_evaluation_failed') && line.includes(bad!.id)),
  ).toHaveLength(1)
})

describe('an alert that fires notifies', () => {
  test('the account by mail and in its list, subscribed endpoints and its own address; nothing twice', () => {
    const { watch, price, services, account, messages, clock } = openAlertInstance()
    const { webhooks, alerts, notifications } = services
    const endpoint = {
      conditions: [],
      commodityFilters: [],
      stateFilters: [],
      description: null,
      conditionLogic: 'any',
      debugMode: false,
      active: true,
    } as const
    const limits = {
      signatureScheme: 'timestamped',
      ordered: false,
      honorRetryAfter: false,
      rateLimitPerSecond: 10,
      timeoutSeconds: 30,
      maxRetries: 5,
    } as const
    webhooks.create(account, {
      ...endpoint,
      ...limits,
      url: 'https://example.com/hook',
      events: ['price_alert.triggered'],
    })
    const alert = watch(code, above(90), {
      name: 'WTI <b>up</b>',
      webhookUrl: 'https://example.com/other',
    })
    const same = watch(code, above(89), { webhookUrl: 'https://example.com/hook' })
    clock.advance(1000)
    price(code, 91.25)
    const sentMessages = messages()
    expect(sentMessages.map(message => message.kind).sort()).toEqual([
      'email',
      'email',
      'webhook',
      'webhook',
      'webhook',
    ])
    const [event] = sentMessages
      .filter(message => message.kind === 'webhook')
      .map(message => message.body)
    expect(event).toMatchObject({
      type: 'price_alert.triggered',
      data: {
        alert_id: alert.id,
        alert_name: 'WTI <b>up</b>',
        commodity_code: code,
        commodity: code,
        condition: 'price above 90',
        condition_operator: 'greater_than',
        condition_value: 90,
        current_price: 91.25,
        price: 91.25,
        currency: 'USD',
        unit: 'barrel',
        threshold: 90,
        trigger_count: 1,
        triggered_at: '2026-11-20T15:00:01Z',
      },
    })
    expect(Object.keys((event as { data: object }).data)).toEqual(
      'alert_id alert_name commodity_code commodity condition condition_operator condition_value current_price price currency unit threshold trigger_count triggered_at'.split(
        ' ',
      ),
    )
    expect(alerts.history(alert, 1)[0]!.channels).toEqual(['webhook', 'email', 'in_app'])
    expect(alerts.history(same, 1)[0]!.channels).toEqual(['webhook', 'email', 'in_app'])
    const listed = notifications.page(account.account.id, false, 10, 0)
    expect(listed).toMatchObject([{ type: 'price_alert', title: `2 alerts on ${code}` }])
  })

  test('an alert on daily values sends a notification with the measured values', () => {
    const { watch, price, services, messages, clock } = openAlertInstance()
    for (let day = 40; day > 0; day -= 1) price(code, 80 + Math.sin(day), startAt - day * dayMs)
    const alert = watch(
      code,
      { kind: 'z_score', period: 30, threshold: 3, direction: 'both' },
      { webhookUrl: 'https://example.com/hook' },
    )
    clock.advance(1000)
    price(code, 95)
    const event = messages().find(message => message.kind === 'webhook')!.body as {
      data: Record<string, unknown>
    }
    const { value } = services.alerts.history(alert, 1)[0]!
    expect(event).toMatchObject({
      type: 'analytics_alert.triggered',
      data: {
        analytics_type: 'z_score',
        analytics_period: 30,
        condition: 'z-score over 30 days above 3 or below -3',
        threshold: 3,
        current_value: roundTo(value, 6),
        metadata: { current_price: 95 },
        details: { z_score: roundTo(value, 6) },
      },
    })
    expect(Object.keys(event.data)).toEqual(
      'alert_id alert_name commodity_code analytics_type analytics_period condition current_value threshold trigger_count metadata details triggered_at'.split(
        ' ',
      ),
    )
  })

  test('a trigger does not name e-mail as a channel where no provider sends it', () => {
    const { watch, price, services, messages } = openAlertInstance({
      flags: { 'mail.provider': 'none' },
    })
    const alert = watch(code, above(90))
    price(code, 91)
    expect(services.alerts.history(alert, 1)[0]!.channels).toEqual(['in_app'])
    // The outbox shows the operator what was not sent.
    expect(messages()).toMatchObject([{ kind: 'email' }])
  })

  test('an alert sends no e-mail to an account that has turned alert e-mails off', () => {
    const { watch, price, services, account, messages } = openAlertInstance()
    services.preferences.put(account.account.id, {
      ...firstPreferences,
      email: { ...firstPreferences.email, priceAlerts: false },
    })
    const alert = watch(code, above(90))
    price(code, 91)
    expect(messages()).toEqual([])
    expect(services.alerts.history(alert, 1)[0]!.channels).toEqual(['in_app'])
  })
})

test('the newest ten thousand triggers of an alert are retained', () => {
  const { watch, price, services, clock } = openAlertInstance()
  const alert = watch(code, above(0))
  const { db } = services
  db.run(
    `INSERT INTO alert_triggers SELECT ${alert.number}, ${startAt - 10 * dayMs} + value, ${alert.seriesId}, 'x', '${alert.accountId}', 0, 1, 1, 1, 'c', '', NULL
     FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 10000) SELECT value FROM n)`,
  )
  db.run('UPDATE alert_counters SET trigger_count = 10098')
  for (const value of [1, 2]) {
    clock.advance(1000)
    price(code, value)
  }
  const kept = db.query('SELECT count(*) AS n, min(observed_at) AS first FROM alert_triggers').get()
  expect(kept).toEqual({ n: 10_000, first: startAt - 10 * dayMs + 3 })
})

test('the remaining data of a removed alert is deleted in slices', async () => {
  const { watch, price, services, clock } = openAlertInstance()
  const alert = watch(code, above(0))
  for (let i = 0; i < 5; i += 1) {
    clock.advance(1000)
    price(code, 10 + i)
  }
  services.alerts.remove(alert)
  expect(services.alerts.byId(alert.id)).toBeUndefined()
  expect(services.alerts.triggers(alert.accountId, undefined, 10, 0)).toEqual({
    rows: [],
    total: 0,
  })
  await services.alerts.evaluation.pass()
  const rowsIn = (table: string) => services.db.query(`SELECT count(*) AS n FROM ${table}`).get()
  expect([rowsIn('alerts'), rowsIn('alert_triggers')]).toEqual([{ n: 0 }, { n: 0 }])
})
