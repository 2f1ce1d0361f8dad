import { describe, expect, test } from 'bun:test'
import { transact } from '../../../../src/database/database.ts'
import { dayMs, hourMs, isoInstant, minuteMs } from '../../../../src/lib/time/instant.ts'
import type { Condition } from '../../../../src/topics/alerts/math/threshold.ts'
import type { Endpoint } from '../../../../src/topics/webhooks/store/webhooks.ts'
import { startAt } from '../../../support/instance/instance.ts'
import { openWebhookInstance, type WebhookInstance } from '../../../support/topics/webhooks.ts'

interface Told {
  type: string
  data: Record<string, unknown>
}

const eventsOf = (instance: WebhookInstance, endpoint: Pick<Endpoint, 'id'>): Told[] =>
  instance
    .entries(endpoint)
    .flatMap(entry => (entry.state === 'skipped' ? [] : [JSON.parse(entry.body) as Told]))
const types = (instance: WebhookInstance, endpoint: Pick<Endpoint, 'id'>) =>
  eventsOf(instance, endpoint).map(event => event.type)
const values = (instance: WebhookInstance, endpoint: Pick<Endpoint, 'id'>) =>
  eventsOf(instance, endpoint).map(event => event.data.value)

const opened = (
  settings: Parameters<WebhookInstance['endpoint']>[1] = { events: ['price.updated'] },
) => {
  const instance = openWebhookInstance()
  return { instance, endpoint: instance.endpoint(instance.account(), settings) }
}

describe('a new price', () => {
  test('a new price event contains the previous price and follows the field order of the API', () => {
    const { instance, endpoint } = opened()
    instance.price('WTI_USD', 70, startAt - 5 * minuteMs)
    instance.price('WTI_USD', 71.234)
    expect(eventsOf(instance, endpoint).at(-1)!.data).toEqual({
      commodity: 'WTI_USD',
      commodity_code: 'WTI_USD',
      name: 'WTI Crude Oil',
      value: 71.23,
      price: 71.23,
      currency: 'USD',
      unit: 'barrel',
      change_percent: 1.76,
      previous_value: 70,
      source: instance.services.catalogue.named('WTI_USD')!.source,
      timestamp: isoInstant(startAt),
    })
    expect(Object.keys(eventsOf(instance, endpoint).at(-1)!.data)).toEqual([
      'commodity',
      'commodity_code',
      'name',
      'value',
      'price',
      'currency',
      'unit',
      'change_percent',
      'previous_value',
      'source',
      'timestamp',
    ])
  })
  test('that is the first has nothing to compare with', () => {
    const { instance, endpoint } = opened()
    instance.price('WTI_USD', 70)
    expect(eventsOf(instance, endpoint)[0]!.data).toMatchObject({
      change_percent: null,
      previous_value: null,
    })
  })
  test('and its event stand together or not at all', () => {
    const { instance, endpoint } = opened()
    expect(() =>
      transact(instance.services.db, () => {
        instance.price('WTI_USD', 70)
        throw new Error('undone')
      }),
    ).toThrow('undone')
    expect(eventsOf(instance, endpoint)).toEqual([])
    expect(
      instance.services.observations.newest(
        instance.services.catalogue.named('WTI_USD')!.id,
        Number.MAX_SAFE_INTEGER,
      ),
    ).toBeUndefined()
  })
})

describe('a price with a time in the future', () => {
  test('makes its event when that time comes, and a price of the present makes one before', () => {
    const { instance, endpoint } = opened()
    const { arrivals } = instance.services
    instance.price('WTI_USD', 70)
    instance.price('WTI_USD', 72, startAt + hourMs)
    instance.price('WTI_USD', 73, startAt + 2 * hourMs)
    expect(values(instance, endpoint)).toEqual([70])
    instance.clock.advance(minuteMs)
    instance.price('WTI_USD', 71)
    arrivals.pass()
    expect(values(instance, endpoint)).toEqual([70, 71])
    expect(arrivals.nextStop(instance.clock.now())).toBe(startAt + hourMs)
    instance.clock.advance(hourMs)
    arrivals.pass()
    arrivals.pass()
    expect(values(instance, endpoint)).toEqual([70, 71, 72])
    expect(eventsOf(instance, endpoint).at(-1)!.data).toMatchObject({ previous_value: 71 })
    instance.clock.advance(hourMs)
    arrivals.pass()
    expect(values(instance, endpoint)).toEqual([70, 71, 72, 73])
    expect(arrivals.nextStop(instance.clock.now())).toBe(Number.POSITIVE_INFINITY)
  })
  test('makes none if it was removed or replaced by a newer one before', () => {
    const { instance, endpoint } = opened()
    const { arrivals, ingest, catalogue } = instance.services
    instance.price('WTI_USD', 72, startAt + hourMs)
    ingest.withdraw(catalogue.named('WTI_USD')!.id, [startAt + hourMs])
    instance.clock.advance(hourMs)
    arrivals.pass()
    expect(values(instance, endpoint)).toEqual([])
    instance.price('WTI_USD', 74, instance.clock.now() + minuteMs)
    instance.clock.advance(2 * minuteMs)
    instance.price('WTI_USD', 75)
    arrivals.pass()
    expect(values(instance, endpoint)).toEqual([75])
  })
  test('does not meet the condition of an endpoint before that time', () => {
    const { instance, endpoint } = opened({
      events: ['price.threshold'],
      conditions: [{ commodity: 'WTI_USD', operator: 'greater_than', value: 71 }],
    })
    instance.price('WTI_USD', 72, startAt + hourMs)
    expect(types(instance, endpoint)).toEqual([])
    instance.clock.advance(hourMs)
    instance.services.arrivals.pass()
    expect(types(instance, endpoint)).toEqual(['price.threshold'])
  })
})

describe('no news', () => {
  test('a price that is older than the newest sends no price event', () => {
    const { instance, endpoint } = opened()
    instance.price('WTI_USD', 70)
    instance.price('WTI_USD', 69, startAt - 1)
    expect(values(instance, endpoint)).toEqual([70])
  })
  test('a correction of a value sends no price event', () => {
    const { instance, endpoint } = opened()
    instance.price('WTI_USD', 70)
    instance.price('WTI_USD', 75)
    expect(values(instance, endpoint)).toEqual([70])
  })
  test('a value that is sent again sends no price event', () => {
    const { instance, endpoint } = opened()
    for (let i = 0; i < 3; i += 1) instance.price('WTI_USD', 70)
    expect(values(instance, endpoint)).toEqual([70])
  })
  test('history sends no price event, however it comes in', () => {
    const { instance, endpoint } = opened()
    for (let days = 400; days > 30; days -= 10)
      instance.price('WTI_USD', days, startAt - days * dayMs)
    expect(values(instance, endpoint)).toEqual([])
  })
  test('only the newest of the prices of one write sends a price event', () => {
    const { instance, endpoint } = opened()
    instance.record(
      'WTI_USD',
      Array.from({ length: 5000 }, (_, i) => 60 + i / 1000),
      startAt,
      5 * minuteMs,
    )
    expect(eventsOf(instance, endpoint).map(event => event.data)).toMatchObject([
      { value: 65, previous_value: 65 },
    ])
  })
  test('a price of a quarantined day sends no price event, and the next one is compared past it', () => {
    const { instance, endpoint } = opened()
    const { id } = instance.services.catalogue.named('WTI_USD')!
    instance.price('WTI_USD', 70, startAt - 2 * dayMs)
    instance.services.quarantine.add({
      seriesId: id,
      fromOn: '2026-11-19',
      toOn: '2026-11-19',
      reason: 'a bad feed',
      createdAt: startAt,
    })
    instance.price('WTI_USD', 700, startAt - dayMs)
    instance.price('WTI_USD', 70.7)
    expect(
      eventsOf(instance, endpoint).map(event => [event.data.value, event.data.previous_value]),
    ).toEqual([
      [70, null],
      [70.7, 70],
    ])
  })
  test('a rig count triggers no price event because it has its own events', () => {
    const { instance, endpoint } = opened()
    instance.price('US_RIG_COUNT', 540)
    expect(types(instance, endpoint)).toEqual([])
  })
  test('a futures contract that is not the front one sends no price event', () => {
    const { instance, endpoint } = opened()
    const { front, later } = instance.futures()
    instance.price(later.code, 70)
    instance.price(front.code, 71)
    instance.price(later.code, 72, startAt + minuteMs)
    expect(
      eventsOf(instance, endpoint).map(event => [event.data.commodity, event.data.value]),
    ).toEqual([[front.code, 71]])
  })
})

describe('a change between consecutive prices', () => {
  const table: [from: number, to: number, told: object[]][] = [
    [100, 105, []],
    [100, 105.01, [{ alert_type: 'surge', threshold_exceeded: '5%', change_percent: 5.01 }]],
    [100, 95, []],
    [100, 94.99, [{ alert_type: 'drop', threshold_exceeded: '5%', change_percent: -5.01 }]],
    [10, -37, [{ alert_type: 'drop', change_percent: -470 }]],
    [0, 50, []],
  ]
  for (const [from, to, expected] of table) {
    test(`from ${from} to ${to} is significant ${expected.length} times`, () => {
      const { instance, endpoint } = opened({ events: ['price.significant_change'] })
      instance.price('WTI_USD', from, startAt - minuteMs)
      instance.price('WTI_USD', to)
      expect(eventsOf(instance, endpoint).map(event => event.data)).toMatchObject(expected as never)
      expect(eventsOf(instance, endpoint).length).toBe(expected.length)
    })
  }
})

describe('conditions', () => {
  const wtiAbove: Condition = { commodity: 'WTI_USD', operator: 'greater_than', value: 80 }
  const threshold = (conditions: Condition[], conditionLogic: 'any' | 'all' = 'any') =>
    opened({ events: ['price.threshold'], conditions, conditionLogic })

  test('a fulfilled price condition creates an event for its endpoint that states the condition', () => {
    const { instance, endpoint } = threshold([wtiAbove])
    const otherEndpoint = instance.endpoint(instance.account(), {
      events: ['price.threshold'],
      conditions: [{ ...wtiAbove, value: 90 }],
    })
    instance.price('WTI_USD', 79, startAt - minuteMs)
    instance.price('WTI_USD', 81)
    expect(eventsOf(instance, endpoint)).toMatchObject([
      {
        type: 'price.threshold',
        data: {
          commodity: 'WTI_USD',
          value: 81,
          previous_value: 79,
          condition_logic: 'any',
          timestamp: isoInstant(startAt),
          condition_triggered: {
            operator: 'greater_than',
            threshold: '80',
            value: 80,
            min_value: null,
            max_value: null,
            timeframe: null,
            trigger_on: null,
          },
        },
      },
    ])
    expect(Object.keys(eventsOf(instance, endpoint)[0]!.data)).toEqual([
      'commodity',
      'commodity_code',
      'name',
      'value',
      'price',
      'currency',
      'unit',
      'previous_value',
      'condition_triggered',
      'condition_logic',
      'timestamp',
    ])
    expect(eventsOf(instance, otherEndpoint)).toEqual([])
  })
  test('an endpoint without conditions receives no threshold events', () => {
    const { instance, endpoint } = threshold([])
    instance.price('WTI_USD', 81)
    expect(types(instance, endpoint)).toEqual([])
  })
  test('are judged over their timeframe', () => {
    const { instance, endpoint } = threshold([
      { commodity: 'WTI_USD', operator: 'percent_increase', value: 5, timeframe: '1h' },
    ])
    instance.price('WTI_USD', 70, startAt - 2 * hourMs)
    instance.price('WTI_USD', 73, startAt - 30 * minuteMs)
    instance.price('WTI_USD', 73.5)
    instance.clock.advance(40 * minuteMs)
    instance.price('WTI_USD', 74)
    expect(values(instance, endpoint)).toEqual([73.5])
  })
  test('on entering a range are met once', () => {
    const { instance, endpoint } = threshold([
      { commodity: 'WTI_USD', operator: 'between', minValue: 70, maxValue: 75, triggerOn: 'enter' },
    ])
    for (const [i, value] of [69, 71, 72, 76, 74].entries())
      instance.price('WTI_USD', value, startAt - (10 - i) * minuteMs)
    expect(values(instance, endpoint)).toEqual([71, 74])
  })
  test('that must all hold read other commodities at their newest price', () => {
    const { instance, endpoint } = threshold(
      [wtiAbove, { commodity: 'BRENT_CRUDE_USD', operator: 'greater_than', value: 85 }],
      'all',
    )
    instance.price('WTI_USD', 81, startAt - 3 * minuteMs)
    instance.price('BRENT_CRUDE_USD', 84, startAt - 2 * minuteMs)
    instance.price('BRENT_CRUDE_USD', 86, startAt - minuteMs)
    instance.price('WTI_USD', 82)
    expect(
      eventsOf(instance, endpoint).map(event => [event.data.commodity, event.data.value]),
    ).toEqual([
      ['BRENT_CRUDE_USD', 86],
      ['WTI_USD', 82],
    ])
  })
  test('on a futures family are judged by its front contract', () => {
    const instance = openWebhookInstance()
    const { family, front } = instance.futures()
    const endpoint = instance.endpoint(instance.account(), {
      events: ['price.threshold'],
      conditions: [{ commodity: family, operator: 'greater_than', value: 80 }],
    })
    instance.price(front.code, 81)
    expect(values(instance, endpoint)).toEqual([81])
  })
  test('keep the other events of prices from their endpoint where they do not hold', () => {
    const { instance, endpoint } = opened({ events: ['price.*'], conditions: [wtiAbove] })
    instance.price('BRENT_CRUDE_USD', 90)
    instance.price('WTI_USD', 70, startAt - minuteMs)
    instance.price('WTI_USD', 81)
    expect(
      instance.entries(endpoint).map(entry => [entry.eventType, entry.error ?? entry.state]),
    ).toEqual([
      ['price.updated', 'conditions'],
      ['price.updated', 'conditions'],
      ['price.updated', 'pending'],
      ['price.significant_change', 'pending'],
      ['price.threshold', 'pending'],
    ])
  })
  test('that must all hold keep an update back until the last of them holds', () => {
    const { instance, endpoint } = opened({
      events: ['price.updated'],
      conditionLogic: 'all',
      conditions: [wtiAbove, { commodity: 'BRENT_CRUDE_USD', operator: 'greater_than', value: 85 }],
    })
    instance.price('WTI_USD', 81, startAt - 2 * minuteMs)
    instance.price('BRENT_CRUDE_USD', 86, startAt - minuteMs)
    instance.price('WTI_USD', 79)
    expect(instance.entries(endpoint).map(entry => entry.error ?? entry.state)).toEqual([
      'conditions',
      'pending',
      'conditions',
    ])
  })
})
