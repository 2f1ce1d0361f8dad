import { expect, test } from 'bun:test'
import { parseInstant } from '../../../../src/lib/time/instant.ts'
import type { AlertCondition } from '../../../../src/topics/alerts/math/condition.ts'
import { dayOfDate, periodsOf } from '../../../../src/topics/delivery/math/days.ts'
import type { DayWatch } from '../../../../src/topics/delivery/math/watch.ts'
import { openAlertInstance } from '../../../support/topics/alerts.ts'

const code = 'DESK_POWER_EUR'

/** An instance with hourly day-ahead power of Germany. */
function opened() {
  const instance = openAlertInstance({ now: parseInstant('2026-11-20T11:50:00Z')! })
  const { services, clock } = instance
  const [series] = services.seriesChanges.add([
    {
      code,
      terms: {
        name: 'German power, day ahead',
        category: 'power',
        unit: 'mwh',
        currency: 'EUR',
        time: 'delivery',
        zone: 'Europe/Berlin',
        resolutions: [{ from: '2020-01-01', resolution: 'PT1H' }],
        publishesAt: '12:45',
      },
    },
  ])
  const periods = (date: string) => periodsOf(series!.delivery!, dayOfDate(series!.delivery!, date))
  return {
    ...instance,
    at: (time: string) => clock.set(parseInstant(time)!),
    record: (date: string, price: (hour: number) => number, from = 0, to = 24) =>
      services.ingest.write(
        periods(date)
          .map(({ start }, i) => ({ seriesId: series!.id, observedAt: start, value: price(i) }))
          .slice(from, to),
      ),
    watchDay: (watch: DayWatch, operator: 'greater_than' | 'less_than', value: number) =>
      instance.watch(code, { kind: 'price', operator, value, watch } as AlertCondition, {
        webhookUrl: 'https://desk.example.com/hook',
      }),
  }
}

test('an alert on the price fires when delivery of that price begins, not when it is published', async () => {
  const { watch, record, at, fired, services } = opened()
  const alert = watch(code, { kind: 'price', operator: 'less_than', value: 0 })
  record('2026-11-21', hour => (hour === 13 || hour === 14 ? -5 - hour : 40))
  expect(fired(alert)).toEqual([])
  for (const time of ['2026-11-21T11:59:00Z', '2026-11-21T12:00:01Z', '2026-11-21T12:30:00Z']) {
    at(time)
    await services.alerts.evaluation.pass()
  }
  expect(fired(alert)).toEqual([-18])
  at('2026-11-21T13:05:00Z')
  await services.alerts.evaluation.pass()
  expect(fired(alert)).toEqual([-18, -19])
})

test('an alert that is created within a period does not fire on the price of that period', async () => {
  const { watch, record, at, fired, services } = opened()
  record('2026-11-21', () => -1)
  at('2026-11-21T12:20:00Z')
  const alert = watch(code, { kind: 'price', operator: 'less_than', value: 0 })
  await services.alerts.evaluation.pass()
  expect(fired(alert)).toEqual([])
})

test('a price that comes within its period fires at once, and its correction too', () => {
  const { watch, record, at, fired } = opened()
  record('2026-11-20', hour => 100 + hour)
  const alert = watch(code, { kind: 'price', operator: 'less_than', value: 0 })
  at('2026-11-20T15:10:00Z')
  record('2026-11-20', () => -3, 16, 17)
  expect(fired(alert)).toEqual([-3])
})

test('alerts on tomorrow are evaluated once, when the last price of the day is known', () => {
  const { watchDay, record, fired } = opened()
  const any = watchDay('any_tomorrow', 'less_than', 0)
  const base = watchDay('base_tomorrow', 'greater_than', 50)
  const negative = watchDay('negative_tomorrow', 'greater_than', 1)
  const spread = watchDay('spread_tomorrow', 'greater_than', 130)
  const calm = watchDay('spread_tomorrow', 'greater_than', 131)
  const price = (hour: number) => [60, -10, -11, 120][hour] ?? 60
  record('2026-11-21', price, 0, 23)
  expect([any, base, negative, spread].map(fired)).toEqual([[], [], [], []])
  record('2026-11-21', price, 23)
  expect([any, base, negative, spread, calm].map(fired)).toEqual([
    [-10],
    [(60 * 21 - 21 + 120) / 24],
    [2],
    [131],
    [],
  ])
  record('2026-11-21', hour => price(hour) + 10, 2, 3)
  expect(fired(any)).toEqual([-10])
})

test('the event of an alert on tomorrow names the day and the period that met it', () => {
  const { watchDay, record, messages } = opened()
  watchDay('any_tomorrow', 'less_than', 0)
  watchDay('base_tomorrow', 'greater_than', 0)
  record('2026-11-21', hour => (hour === 13 ? -5 : 40))
  const deliveries = messages()
    .filter(({ event_type: type }) => type === 'price_alert.triggered')
    .map(({ body }) => (body.data as Record<string, unknown>).delivery)
  expect(deliveries).toEqual([
    { date: '2026-11-21', start: '2026-11-21T12:00:00Z', end: '2026-11-21T13:00:00Z' },
    { date: '2026-11-21', start: null, end: null },
  ])
})

test('a number of negative periods is sent as a count, not as money', () => {
  const { watchDay, record, messages } = opened()
  watchDay('negative_tomorrow', 'greater_than', 1)
  watchDay('base_tomorrow', 'greater_than', 0)
  record('2026-11-21', hour => (hour === 13 || hour === 14 ? -5 : 40))
  const data = messages()
    .filter(({ event_type: type }) => type === 'price_alert.triggered')
    .map(({ body }) => body.data as Record<string, unknown>)
  expect(data.map(({ price, currency, unit }) => ({ price, currency, unit }))).toEqual([
    { price: 2, currency: null, unit: 'periods' },
    { price: (40 * 22 - 10) / 24, currency: 'EUR', unit: 'mwh' },
  ])
  const mails = messages().filter(({ kind }) => kind === 'email')
  const [count, base] = mails.map(({ body }) => JSON.stringify(body))
  expect(count).toContain('DESK_POWER_EUR is at 2 periods (')
  expect(count).toContain('Negative periods: 2')
  expect(count).not.toContain('mwh')
  expect(base).toContain('per mwh')
})

test('the test of an alert on tomorrow has no result before all prices of the day are known', () => {
  const { watchDay, record, services } = opened()
  const alert = watchDay('negative_tomorrow', 'greater_than', 0)
  record('2026-11-20', () => 40)
  expect(services.alerts.test([alert])).toMatchObject([
    {
      result: 'no_data',
      missing: 'DESK_POWER_EUR does not have all prices of its next market day.',
    },
  ])
  record('2026-11-21', hour => (hour === 13 ? -5 : 40))
  expect(services.alerts.test([alert])).toMatchObject([{ result: 'would_trigger' }])
})

test('alerts on a series by formula are judged by the periods of its leg, as those on the leg are', async () => {
  const { watch, record, at, fired, services } = opened()
  const tariff = 'DESK_TARIFF_EUR'
  services.seriesChanges.add([
    {
      code: tariff,
      terms: {
        name: 'Tariff',
        category: 'power',
        unit: 'mwh',
        currency: 'EUR',
        formula: `${code} * 2 + 100`,
      },
    },
  ])
  const now = watch(tariff, { kind: 'price', operator: 'less_than', value: 80 })
  const spread = watch(tariff, {
    kind: 'price',
    operator: 'greater_than',
    value: 50,
    watch: 'spread_tomorrow',
  } as AlertCondition)
  record('2026-11-21', hour => (hour === 13 ? -18 : 40))
  expect({ now: fired(now), spread: fired(spread) }).toEqual({ now: [], spread: [116] })
  for (const time of ['2026-11-21T11:59:00Z', '2026-11-21T12:00:01Z', '2026-11-21T12:30:00Z']) {
    at(time)
    await services.alerts.evaluation.pass()
  }
  expect({ now: fired(now), spread: fired(spread) }).toEqual({ now: [64], spread: [116] })
})

test('the mean that a deleted or undone value of a daily code leaves is judged as a correction', () => {
  const { services, clock, watch, fired } = openAlertInstance({
    now: parseInstant('2026-11-20T11:50:00Z')!,
  })
  const { catalogue, ingest, batches, batchStore } = services
  const leg = catalogue.named('POWER_DA_DE_LU_EUR')!
  const daily = catalogue.named('POWER_DE_EUR')!
  const periods = periodsOf(leg.delivery!, dayOfDate(leg.delivery!, '2026-11-21'))
  ingest.write(periods.map(({ start }) => ({ seriesId: leg.id, observedAt: start, value: 50 })))
  const below = (value: number) =>
    watch(daily.code, { kind: 'price', operator: 'less_than', value })
  clock.set(parseInstant('2026-11-21T18:00:00Z')!)
  const observedAt = parseInstant('2026-11-21T00:00:00Z')!
  const record = (value: number) =>
    batches.record({ kind: 'push', actor: 'test' }, [{ seriesId: daily.id, observedAt, value }])
  record(60)
  const deleted = below(55)
  batches.remove({ kind: 'correction', actor: 'test' }, daily.id, [observedAt])
  expect(fired(deleted)).toEqual([50])
  const { batch } = record(61)
  const undone = below(55)
  batches.undo(batchStore.find(batch.id)!, { actor: 'test' }, false)
  expect(fired(undone)).toEqual([50])
  // A period of the leg is corrected, and the correction undone.
  const last = { seriesId: leg.id, observedAt: periods.at(-1)!.start }
  const corrected = below(49)
  const correction = batches.correct({ kind: 'correction', actor: 'test' }, { ...last, value: -94 })
  expect(fired(corrected)).toEqual([48.5])
  const back = below(50.5)
  batches.undo(batchStore.find(correction.batch.id)!, { actor: 'test' }, false)
  expect(fired(back)).toEqual([50])
})
