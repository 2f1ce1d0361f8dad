import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoInstant, minuteMs } from '../../../src/lib/instant.ts'
import type { Condition } from '../../../src/market/alerts/threshold.ts'
import { transact } from '../../../src/store/database.ts'
import type { Endpoint } from '../../../src/store/webhooks/webhooks.ts'
import { startAt } from '../../support/instance.ts'
import { type WebhookDesk, webhookDesk } from '../../support/webhooks.ts'

interface Told {
  type: string
  data: Record<string, unknown>
}

const told = (desk: WebhookDesk, endpoint: Pick<Endpoint, 'id'>): Told[] =>
  desk
    .entries(endpoint)
    .flatMap(entry => (entry.state === 'skipped' ? [] : [JSON.parse(entry.body) as Told]))
const types = (desk: WebhookDesk, endpoint: Pick<Endpoint, 'id'>) =>
  told(desk, endpoint).map(one => one.type)
const values = (desk: WebhookDesk, endpoint: Pick<Endpoint, 'id'>) =>
  told(desk, endpoint).map(one => one.data.value)

const opened = (
  settings: Parameters<WebhookDesk['endpoint']>[1] = { events: ['price.updated'] },
) => {
  const desk = webhookDesk()
  return { desk, endpoint: desk.endpoint(desk.account(), settings) }
}

describe('a new price', () => {
  test('is told with what it was before, in the order of the interface', () => {
    const { desk, endpoint } = opened()
    desk.price('WTI_USD', 70, startAt - 5 * minuteMs)
    desk.price('WTI_USD', 71.234)
    expect(told(desk, endpoint).at(-1)!.data).toEqual({
      commodity: 'WTI_USD',
      commodity_code: 'WTI_USD',
      name: 'WTI Crude Oil',
      value: 71.23,
      price: 71.23,
      currency: 'USD',
      unit: 'barrel',
      change_percent: 1.76,
      previous_value: 70,
      source: desk.services.catalogue.named('WTI_USD')!.source,
      timestamp: isoInstant(startAt),
    })
    expect(Object.keys(told(desk, endpoint).at(-1)!.data)).toEqual([
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
    const { desk, endpoint } = opened()
    desk.price('WTI_USD', 70)
    expect(told(desk, endpoint)[0]!.data).toMatchObject({
      change_percent: null,
      previous_value: null,
    })
  })
  test('and its event stand together or not at all', () => {
    const { desk, endpoint } = opened()
    expect(() =>
      transact(desk.services.db, () => {
        desk.price('WTI_USD', 70)
        throw new Error('undone')
      }),
    ).toThrow('undone')
    expect(told(desk, endpoint)).toEqual([])
    expect(
      desk.services.observations.newest(
        desk.services.catalogue.named('WTI_USD')!.id,
        Number.MAX_SAFE_INTEGER,
      ),
    ).toBeUndefined()
  })
})

describe('no news', () => {
  test('a price that is older than the newest', () => {
    const { desk, endpoint } = opened()
    desk.price('WTI_USD', 70)
    desk.price('WTI_USD', 69, startAt - 1)
    expect(values(desk, endpoint)).toEqual([70])
  })
  test('a correction', () => {
    const { desk, endpoint } = opened()
    desk.price('WTI_USD', 70)
    desk.price('WTI_USD', 75)
    expect(values(desk, endpoint)).toEqual([70])
  })
  test('the same again', () => {
    const { desk, endpoint } = opened()
    for (let i = 0; i < 3; i += 1) desk.price('WTI_USD', 70)
    expect(values(desk, endpoint)).toEqual([70])
  })
  test('history, however it comes in', () => {
    const { desk, endpoint } = opened()
    for (let days = 400; days > 30; days -= 10) desk.price('WTI_USD', days, startAt - days * dayMs)
    expect(values(desk, endpoint)).toEqual([])
  })
  test('all but the newest of one write', () => {
    const { desk, endpoint } = opened()
    desk.record(
      'WTI_USD',
      Array.from({ length: 5000 }, (_, i) => 60 + i / 1000),
      startAt,
      5 * minuteMs,
    )
    expect(told(desk, endpoint).map(one => one.data)).toMatchObject([
      { value: 65, previous_value: 65 },
    ])
  })
  test('a price of a quarantined day; the next one is compared past it', () => {
    const { desk, endpoint } = opened()
    const { id } = desk.services.catalogue.named('WTI_USD')!
    desk.price('WTI_USD', 70, startAt - 2 * dayMs)
    desk.services.quarantine.add({
      seriesId: id,
      fromOn: '2026-11-19',
      toOn: '2026-11-19',
      reason: 'a bad feed',
      createdAt: startAt,
    })
    desk.price('WTI_USD', 700, startAt - dayMs)
    desk.price('WTI_USD', 70.7)
    expect(told(desk, endpoint).map(one => [one.data.value, one.data.previous_value])).toEqual([
      [70, null],
      [70.7, 70],
    ])
  })
  test('a rig count, which has events of its own', () => {
    const { desk, endpoint } = opened()
    desk.price('US_RIG_COUNT', 540)
    expect(types(desk, endpoint)).toEqual([])
  })
  test('a futures contract that is not the front one', () => {
    const { desk, endpoint } = opened()
    const { front, later } = desk.futures()
    desk.price(later.code, 70)
    desk.price(front.code, 71)
    desk.price(later.code, 72, startAt + minuteMs)
    expect(told(desk, endpoint).map(one => [one.data.commodity, one.data.value])).toEqual([
      [front.code, 71],
    ])
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
      const { desk, endpoint } = opened({ events: ['price.significant_change'] })
      desk.price('WTI_USD', from, startAt - minuteMs)
      desk.price('WTI_USD', to)
      expect(told(desk, endpoint).map(one => one.data)).toMatchObject(expected as never)
      expect(told(desk, endpoint).length).toBe(expected.length)
    })
  }
})

describe('conditions', () => {
  const wtiAbove: Condition = { commodity: 'WTI_USD', operator: 'greater_than', value: 80 }
  const threshold = (conditions: Condition[], conditionLogic: 'any' | 'all' = 'any') =>
    opened({ events: ['price.threshold'], conditions, conditionLogic })

  test('that hold make an event of their endpoint, which says what held', () => {
    const { desk, endpoint } = threshold([wtiAbove])
    const other = desk.endpoint(desk.account(), {
      events: ['price.threshold'],
      conditions: [{ ...wtiAbove, value: 90 }],
    })
    desk.price('WTI_USD', 79, startAt - minuteMs)
    desk.price('WTI_USD', 81)
    expect(told(desk, endpoint)).toMatchObject([
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
    expect(Object.keys(told(desk, endpoint)[0]!.data)).toEqual([
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
    expect(told(desk, other)).toEqual([])
  })
  test('without any, nobody is told of them', () => {
    const { desk, endpoint } = threshold([])
    desk.price('WTI_USD', 81)
    expect(types(desk, endpoint)).toEqual([])
  })
  test('are judged over their timeframe', () => {
    const { desk, endpoint } = threshold([
      { commodity: 'WTI_USD', operator: 'percent_increase', value: 5, timeframe: '1h' },
    ])
    desk.price('WTI_USD', 70, startAt - 2 * hourMs)
    desk.price('WTI_USD', 73, startAt - 30 * minuteMs)
    desk.price('WTI_USD', 73.5)
    desk.clock.advance(40 * minuteMs)
    desk.price('WTI_USD', 74)
    expect(values(desk, endpoint)).toEqual([73.5])
  })
  test('on entering a range are met once', () => {
    const { desk, endpoint } = threshold([
      { commodity: 'WTI_USD', operator: 'between', minValue: 70, maxValue: 75, triggerOn: 'enter' },
    ])
    for (const [i, value] of [69, 71, 72, 76, 74].entries())
      desk.price('WTI_USD', value, startAt - (10 - i) * minuteMs)
    expect(values(desk, endpoint)).toEqual([71, 74])
  })
  test('that must all hold read other commodities at their newest price', () => {
    const { desk, endpoint } = threshold(
      [wtiAbove, { commodity: 'BRENT_CRUDE_USD', operator: 'greater_than', value: 85 }],
      'all',
    )
    desk.price('WTI_USD', 81, startAt - 3 * minuteMs)
    desk.price('BRENT_CRUDE_USD', 84, startAt - 2 * minuteMs)
    desk.price('BRENT_CRUDE_USD', 86, startAt - minuteMs)
    desk.price('WTI_USD', 82)
    expect(told(desk, endpoint).map(one => [one.data.commodity, one.data.value])).toEqual([
      ['BRENT_CRUDE_USD', 86],
      ['WTI_USD', 82],
    ])
  })
  test('on a futures family are judged by its front contract', () => {
    const desk = webhookDesk()
    const { family, front } = desk.futures()
    const endpoint = desk.endpoint(desk.account(), {
      events: ['price.threshold'],
      conditions: [{ commodity: family, operator: 'greater_than', value: 80 }],
    })
    desk.price(front.code, 81)
    expect(values(desk, endpoint)).toEqual([81])
  })
  test('keep other price events of commodities that none is on from their endpoint, and only those', () => {
    const { desk, endpoint } = opened({ events: ['price.*'], conditions: [wtiAbove] })
    desk.price('BRENT_CRUDE_USD', 90)
    desk.price('WTI_USD', 70)
    expect(
      desk.entries(endpoint).map(entry => [entry.eventType, entry.error ?? entry.state]),
    ).toEqual([
      ['price.updated', 'conditions'],
      ['price.updated', 'pending'],
    ])
  })
})
