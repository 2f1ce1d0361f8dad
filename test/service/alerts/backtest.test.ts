import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs } from '../../../src/lib/instant.ts'
import { above, openAlertInstance, startAt } from '../../support/topics/alerts.ts'

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
  test('counts what the cooldown kept back, and lists the first five hundred triggers of all', async () => {
    const { run, firstAt } = hourly(Array.from({ length: 1500 }, (_, i) => (i % 2 === 0 ? 91 : 89)))
    const without = await run(0)
    expect([
      without.observations,
      without.triggerCount,
      without.triggers.length,
      without.cooldownSuppressed,
    ]).toEqual([1500, 750, 500, 0])
    expect(without.triggers.slice(0, 2)).toEqual([
      { triggeredAt: firstAt, value: 91 },
      { triggeredAt: firstAt + 2 * hourMs, value: 91 },
    ])
    const cooled = await run(240)
    expect([cooled.triggerCount, cooled.cooldownSuppressed]).toEqual([375, 375])
  })

  test('judges the half-open range and nothing outside it, page after page', async () => {
    const { run, firstAt } = hourly(Array(4500).fill(91))
    const inside = await run(0, firstAt + hourMs, firstAt + 4100 * hourMs)
    expect([inside.observations, inside.triggers[0]!.triggeredAt]).toEqual([4099, firstAt + hourMs])
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
