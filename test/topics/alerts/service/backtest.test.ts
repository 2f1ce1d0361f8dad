import { describe, expect, test } from 'bun:test'
import { createApp } from '../../../../src/instance/app/app.ts'
import { dayMs, hourMs, isoMillis } from '../../../../src/lib/time/instant.ts'
import type { AlertCondition } from '../../../../src/topics/alerts/math/condition.ts'
import { above, openAlertInstance, startAt } from '../../../support/topics/alerts.ts'

const code = 'WTI_USD'

/** Prices an hour apart, the last of them now. */
const hourly = (values: readonly number[]) => {
  const instance = openAlertInstance()
  const series = instance.services.catalogue.named(code)!
  const firstAt = startAt - (values.length - 1) * hourMs
  instance.services.ingest.write(
    values.map((value, i) => ({ seriesId: series.id, observedAt: firstAt + i * hourMs, value })),
  )
  const run = (cooldownMinutes: number, from = firstAt, to = startAt + 1) =>
    instance.services.backtests.run({ condition: above(90), cooldownMinutes, series, from, to })
  return { instance, series, firstAt, run }
}

describe('backtests.run: a backtest', () => {
  test('a backtest counts triggers suppressed by the cooldown and lists the first five hundred of all triggers', async () => {
    const { run, firstAt } = hourly(Array.from({ length: 1500 }, (_, i) => (i % 2 === 0 ? 91 : 89)))
    const without = await run(0)
    expect({
      observations: without.observations,
      triggerCount: without.triggerCount,
      length: without.triggers.length,
      cooldownSuppressed: without.cooldownSuppressed,
    }).toEqual({ observations: 1500, triggerCount: 750, length: 500, cooldownSuppressed: 0 })
    expect(without.triggers.slice(0, 2)).toEqual([
      { triggeredAt: firstAt, value: 91 },
      { triggeredAt: firstAt + 2 * hourMs, value: 91 },
    ])
    const cooled = await run(240)
    expect({
      triggerCount: cooled.triggerCount,
      cooldownSuppressed: cooled.cooldownSuppressed,
    }).toEqual({ triggerCount: 375, cooldownSuppressed: 375 })
  })

  test('judges the half-open range and nothing outside it, page after page', async () => {
    const { run, firstAt } = hourly(Array(4500).fill(91))
    const inside = await run(0, firstAt + hourMs, firstAt + 4100 * hourMs)
    expect({
      observations: inside.observations,
      triggeredAt: inside.triggers[0]!.triggeredAt,
    }).toEqual({ observations: 4099, triggeredAt: firstAt + hourMs })
  })

  test('leaves out quarantined days', async () => {
    const { instance, series, run, firstAt } = hourly(Array(96).fill(91))
    instance.services.quarantine.add({
      seriesId: series.id,
      fromOn: '2026-11-18',
      toOn: '2026-11-18',
      reason: 'a wrong feed',
      createdAt: startAt,
    })
    const result = await run(0)
    expect(result.observations).toBe(72)
    const leftOutFrom = Date.parse('2026-11-18')
    expect(
      result.triggers.some(
        trigger => trigger.triggeredAt >= leftOutFrom && trigger.triggeredAt < leftOutFrom + dayMs,
      ),
    ).toBe(false)
    expect(result.triggers[0]!.triggeredAt).toBe(firstAt)
  })

  test('of nothing finds nothing', async () => {
    const { instance, run } = hourly([])
    expect(await run(0, startAt - dayMs, startAt)).toEqual({
      observations: 0,
      triggerCount: 0,
      triggers: [],
      cooldownSuppressed: 0,
    })
    instance.close()
  })
})

interface Replayed {
  kind: string
  observed_at: string
  value: number | null
  recorded_at: string
}

describe('backtests.run: a backtest of what was known', () => {
  const at = (days: number) => startAt - days * dayMs
  type Write = readonly [madeDaysAgo: number, value: number, knownDaysAgo: number]
  const knownThen = (writes: readonly Write[]) => {
    const instance = openAlertInstance()
    const series = instance.services.catalogue.named(code)!
    for (const [made, value, recorded] of writes)
      instance.services.ingest.write(
        [{ seriesId: series.id, observedAt: at(made), value }],
        at(recorded),
      )
    const run = (condition = above(90), isVintage = true) =>
      instance.services.backtests.run({
        condition,
        cooldownMinutes: 0,
        series,
        from: at(30),
        to: startAt + 1,
        isVintage,
      })
    return { instance, series, run }
  }

  test('fires by the value that came in, not by the one that took its place', async () => {
    const { run } = knownThen([
      [5, 95, 4.9],
      [4, 80, 3.9],
      [5, 85, 3],
    ])
    expect((await run()).triggers).toEqual([{ triggeredAt: at(4.9), value: 95 }])
    expect((await run(above(90), false)).triggers).toEqual([])
  })

  test('judges a correction of the newest price, and none of an older one', async () => {
    const { run } = knownThen([
      [5, 80, 4.9],
      [5, 91, 4.5],
      [4, 80, 3.9],
      [5, 99, 3],
    ])
    const result = await run()
    expect(result.triggers).toEqual([{ triggeredAt: at(4.5), value: 91 }])
    expect(result.observations).toBe(3)
  })

  test('a point-in-time backtest does not treat values that were already history on import as new', async () => {
    const { run } = knownThen([
      [29, 95, 2],
      [28, 96, 2],
      [1, 97, 0.9],
    ])
    expect((await run()).triggers).toEqual([{ triggeredAt: at(0.9), value: 97 }])
  })

  test('judges a price that is stamped ahead when its time comes, as a live alert does', async () => {
    const writes: Write[] = [
      [28, 99, 31],
      [20, 95, 22],
      [19, 97, 22],
      [20, 94, 21],
      [18, 98, 21.5],
      [18.5, 93, 18.5],
      [-2, 99, 3],
      [2, 96, 2],
    ]
    const { instance, series, run } = knownThen(writes)
    instance.services.ingest.withdraw(series.id, [at(18)], at(18.2))
    expect((await run()).triggers).toEqual([
      { triggeredAt: at(28), value: 99 },
      { triggeredAt: at(20), value: 94 },
      { triggeredAt: at(19), value: 97 },
      { triggeredAt: at(18.5), value: 93 },
      { triggeredAt: at(2), value: 96 },
    ])
    instance.close()
  })

  test('knows of a withdrawn price only while it was there', async () => {
    const { instance, series, run } = knownThen([
      [5, 80, 4.9],
      [4, 99, 3.9],
    ])
    instance.services.ingest.withdraw(series.id, [at(4)], at(3.5))
    instance.services.ingest.write([{ seriesId: series.id, observedAt: at(5), value: 92 }], at(3))
    expect((await run()).triggers).toEqual([
      { triggeredAt: at(3.9), value: 99 },
      { triggeredAt: at(3), value: 92 },
    ])
  })

  test('fires once on an observation that is the newest again after a withdrawal', async () => {
    const { instance, series, run } = knownThen([
      [5, 95, 4.9],
      [4, 99, 3.9],
    ])
    instance.services.ingest.withdraw(series.id, [at(4)], at(3.5))
    instance.services.ingest.write([{ seriesId: series.id, observedAt: at(5), value: 92 }], at(3))
    expect((await run()).triggers).toEqual([
      { triggeredAt: at(4.9), value: 95 },
      { triggeredAt: at(3.9), value: 99 },
    ])
  })

  test('a point-in-time backtest matches the triggers of an alert that existed then, despite later corrections', async () => {
    const writes: Write[] = Array.from({ length: 40 }, (_, i): Write => {
      const value = 86 + ((i * 7) % 11)
      return i % 4 === 3
        ? [25 - (i - 1) / 2, value, 25 - i / 2 - 0.1]
        : [25 - i / 2, value, 25 - i / 2 - 0.1]
    })
    const live = openAlertInstance({ now: at(29) })
    const alert = live.watch(code, above(90), { cooldownMinutes: 0 })
    const seriesId = live.services.catalogue.named(code)!.id
    for (const [made, value, recorded] of writes) {
      live.clock.advance(at(recorded) - live.clock.now())
      live.services.ingest.write([{ seriesId, observedAt: at(made), value }])
    }
    const { triggers } = await knownThen(writes).run()
    expect(triggers.length).toBeGreaterThan(5)
    expect(triggers.map(trigger => trigger.value)).toEqual(live.fired(alert))
    live.close()
  })

  test('a replay of the month into another instance fires its alert as the backtest says', async () => {
    const writes: Write[] = Array.from({ length: 60 }, (_, i): Write => {
      const [made, known] = [28 - i * 0.45, 28 - i * 0.45 - 0.1]
      // Every fourth is a correction of the newest, every seventh is of an older one.
      if (i % 4 === 3) return [made + 0.45, 84 + ((i * 5) % 13), known]
      return i % 7 === 6 ? [made + 3 * 0.45, 99, known] : [made, 84 + ((i * 7) % 11), known]
    })
    const { instance, series, run } = knownThen(writes)
    instance.services.ingest.withdraw(series.id, [at(writes[40]![0])], at(writes[50]![2] + 0.01))
    const { triggers } = await run()
    expect(triggers.length).toBeGreaterThan(5)
    const query = `codes=${code}&from=${isoMillis(at(30))}&to=${isoMillis(startAt + 1)}`
    const { token } = instance.services.keys.addKey(instance.open('enterprise'))
    const answer = await createApp(instance.services).handle(
      new Request(`http://localhost/v1/changes/replay?${query}&speed=max&format=ndjson`, {
        headers: { authorization: `Token ${token}` },
      }),
    )
    const records = (await answer.text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Replayed)
    expect(records.map(({ kind }) => kind)).toContain('deleted')
    const other = openAlertInstance({ now: at(29) })
    const alert = other.watch(code, above(90), { cooldownMinutes: 0 })
    const { id } = other.services.catalogue.named(code)!
    for (const { observed_at, value, recorded_at } of records) {
      other.clock.advance(Date.parse(recorded_at) - other.clock.now())
      const observedAt = Date.parse(observed_at)
      if (value === null) other.services.ingest.withdraw(id, [observedAt])
      else other.services.ingest.write([{ seriesId: id, observedAt, value }])
    }
    expect(other.fired(alert)).toEqual(triggers.map(trigger => trigger.value))
    other.close()
    instance.close()
  })

  test('a replay fires alerts on a formula as the backtest of what was known says', async () => {
    const legs = ['DESK_A', 'DESK_B']
    const formulas = { DESK_SPREAD: 'DESK_B - DESK_A', DESK_MOVE: 'DESK_A - avg(DESK_A, 3 days)' }
    const openDesk = () => {
      const instance = openAlertInstance({ now: at(29) })
      const terms = {
        category: 'own',
        unit: 'barrel',
        currency: 'USD',
        decimals: 2,
        source: 'desk',
      }
      instance.services.seriesChanges.add([
        ...legs.map(leg => ({ code: leg, terms: { ...terms, name: leg } })),
        ...Object.entries(formulas).map(([name, formula]) => ({
          code: name,
          terms: { ...terms, name, formula },
        })),
      ])
      const { ingest, catalogue } = instance.services
      const conditions: readonly AlertCondition[] = [
        above(1),
        { kind: 'price', operator: 'between', value: 0, min: -2, max: 0.5 },
        { kind: 'z_score', period: 10, threshold: 1, direction: 'both' },
        { kind: 'rsi', period: 4, overbought: 60, oversold: 40 },
      ]
      const watched = Object.keys(formulas).flatMap(name =>
        conditions.map(condition => ({ name, condition })),
      )
      const alerts = watched.map(({ name, condition }) =>
        instance.watch(name, condition, { cooldownMinutes: 0 }),
      )
      return {
        ...instance,
        watched,
        fired: () => alerts.map(alert => instance.fired(alert)),
        record(leg: string, observedAt: number, value: number | null) {
          const { id } = catalogue.named(leg)!
          if (value === null) ingest.withdraw(id, [observedAt])
          else ingest.write([{ seriesId: id, observedAt, value }])
        },
        moveTo: (time: number) => instance.clock.advance(time - instance.clock.now()),
      }
    }
    const desk = openDesk()
    for (let i = 0; i < 100; i += 1) {
      const leg = legs[i % 3 === 0 ? 1 : 0]!
      desk.moveTo(at(28 - i * 0.25))
      const value = 60 + ((i * 7) % 5) + (i % 3 === 0 ? 1 : 0)
      // Corrections of the newest value and of an older one, and deletions, among new values.
      if (i % 11 === 10) desk.record(leg, at(28 - (i - 3) * 0.25), null)
      else if (i % 7 === 6) desk.record(leg, at(28 - (i - 3) * 0.25), value)
      else desk.record(leg, at(28 - i * 0.25), value)
    }
    const now = desk.clock.now() + 1
    const backtests = await Promise.all(
      desk.watched.map(({ name, condition }) =>
        desk.services.backtests.run({
          condition,
          cooldownMinutes: 0,
          series: desk.services.catalogue.named(name)!,
          from: at(29),
          to: now,
          isVintage: true,
        }),
      ),
    )
    const { token } = desk.services.keys.addKey(desk.open('enterprise'))
    const query = `codes=${legs}&from=${isoMillis(at(29))}&to=${isoMillis(now)}`
    const answer = await createApp(desk.services).handle(
      new Request(`http://localhost/v1/changes/replay?${query}&speed=max&format=ndjson`, {
        headers: { authorization: `Token ${token}` },
      }),
    )
    const other = openDesk()
    for (const line of (await answer.text()).trim().split('\n')) {
      const { code: leg, ...record } = JSON.parse(line) as Replayed & { code: string }
      other.moveTo(Date.parse(record.recorded_at))
      other.record(leg, Date.parse(record.observed_at), record.value)
    }
    expect(other.fired().every(prices => prices.length > 3)).toBe(true)
    expect(backtests.map(({ triggers }) => triggers.map(({ value }) => value))).toEqual(
      other.fired(),
    )
    desk.close()
    other.close()
  })
})
