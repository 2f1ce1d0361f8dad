import { expect, test } from 'bun:test'
import { parseInstant } from '../../../../src/lib/time/instant.ts'
import { dayOfDate, periodsOf } from '../../../../src/topics/delivery/math/days.ts'
import type { DeliverySettings } from '../../../../src/topics/delivery/math/terms.ts'
import { openWebhookInstance } from '../../../support/topics/webhooks.ts'

const code = 'DESK_POWER_EUR'
const settings: DeliverySettings = {
  time: 'delivery',
  zone: 'Europe/Berlin',
  resolutions: [{ from: '2025-10-01', resolution: 'PT15M' }],
  publishesAt: '12:45',
}

/** An instance with day-ahead power and an endpoint for every event of prices. */
function opened() {
  const instance = openWebhookInstance()
  const endpoint = instance.endpoint(instance.account(), { events: ['price.*'] })
  const { clock, services } = instance
  const terms = {
    name: 'German power, day ahead',
    category: 'power',
    unit: 'mwh',
    currency: 'EUR',
    ...settings,
  }
  const [series] = services.seriesChanges.add([{ code, terms }])
  const periods = (date: string) => periodsOf(series!.delivery!, dayOfDate(series!.delivery!, date))
  return {
    at: (time: string) => clock.set(parseInstant(time)!),
    /** Records the quarters of a day from one number to another, each priced by its number. */
    record: (date: string, from = 0, to = 100, price = (i: number) => i - 2) =>
      services.ingest.write(
        periods(date)
          .map(({ start }, i) => ({ seriesId: series!.id, observedAt: start, value: price(i) }))
          .slice(from, to),
      ),
    events: () =>
      instance
        .entries(endpoint)
        .filter(({ state }) => state !== 'skipped')
        .map(entry => JSON.parse(entry.body) as { type: string; data: Record<string, unknown> }),
  }
}

test('a market day is announced once, when the last of its prices is recorded', () => {
  const { at, record, events } = opened()
  at('2026-11-20T11:50:00Z')
  record('2026-11-21', 0, 95)
  expect(events()).toEqual([])
  at('2026-11-20T11:51:00Z')
  record('2026-11-21', 95)
  expect(events()).toEqual([
    expect.objectContaining({
      type: 'price.day_ahead.published',
      data: {
        commodity: code,
        commodity_code: code,
        name: 'German power, day ahead',
        date: '2026-11-21',
        zone: 'Europe/Berlin',
        resolution: 'PT15M',
        periods: 96,
        base: 45.5,
        peak: null,
        off_peak: 45.5,
        min: { price: -2, start: '2026-11-20T23:00:00Z', end: '2026-11-20T23:15:00Z' },
        max: { price: 93, start: '2026-11-21T22:45:00Z', end: '2026-11-21T23:00:00Z' },
        negative_periods: 2,
        currency: 'EUR',
        unit: 'mwh',
        published_at: '2026-11-20T11:51:00Z',
        timestamp: '2026-11-20T23:00:00Z',
      },
    }),
  ])
  at('2026-11-20T12:10:00Z')
  record('2026-11-21', 0, 100, i => i)
  expect(events()).toHaveLength(1)
})

test('history is not announced, and a price of tomorrow is not a new price of now', () => {
  const { at, record, events } = opened()
  at('2026-11-20T11:50:00Z')
  record('2026-10-25')
  record('2026-11-01')
  record('2026-11-21', 0, 50)
  expect(events()).toEqual([])
})
