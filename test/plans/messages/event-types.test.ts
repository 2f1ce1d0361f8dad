import { describe, expect, test } from 'bun:test'
import {
  coveredEvents,
  coversEvent,
  eventTypeOf,
  eventTypes,
  hasCommodityFilter,
  isPermitEvent,
} from '../../../src/plans/messages/event-types.ts'

describe('a name that an endpoint subscribes to', () => {
  const table: [subscribed: string, covered: string[]][] = [
    ['price.updated', ['price.updated']],
    [
      'price.*',
      ['price.updated', 'price.significant_change', 'price.threshold', 'price.day_ahead.published'],
    ],
    ['drilling.well_permit.*', ['drilling.well_permit.new', 'drilling.well_permit.updated']],
    ['alert.triggered', ['price_alert.triggered']],
    ['price.alert', ['price_alert.triggered']],
    ['api.limit.warning', ['usage.limit_warning']],
    ['api.limit.exceeded', ['usage.limit_exceeded']],
    ['price.corrected', ['price.corrected']],
    ['*', eventTypes.filter(type => type !== 'price.corrected')],
    ['price', []],
    ['price.*.*', []],
    ['price*', []],
    ['.*', []],
    ['constructor', []],
    ['order.created', []],
  ]
  for (const [subscribed, covered] of table) {
    test(`${subscribed} covers ${covered.length} types`, () => {
      expect(coveredEvents([subscribed])).toEqual(covered as never)
      for (const type of eventTypes)
        expect(coversEvent(subscribed, type)).toBe(covered.includes(type))
    })
  }
  test('several names cover a type once', () => {
    expect(coveredEvents(['price.updated', 'price.*', 'price.updated'])).toEqual([
      'price.updated',
      'price.significant_change',
      'price.threshold',
      'price.day_ahead.published',
    ])
  })
})

test('an alias has the canonical name, a type its own, and no other text has one', () => {
  expect(eventTypeOf('alert.triggered')).toBe('price_alert.triggered')
  for (const type of eventTypes) expect(eventTypeOf(type)).toBe(type)
  for (const text of ['', '*', 'price.*', 'toString', 'PRICE.UPDATED'])
    expect(eventTypeOf(text)).toBeUndefined()
})

test('permit events are those of well permits, single and batch, and patterns over them', () => {
  for (const name of [
    'drilling.well_permit.new',
    'drilling.well_permits.batch',
    'drilling.well_permit.updated',
    'drilling.well_permit.*',
  ])
    expect(isPermitEvent(name)).toBe(true)
  for (const name of [
    'drilling.*',
    '*',
    'drilling.rig_count.updated',
    'drilling.well_permitted.new',
  ])
    expect(isPermitEvent(name)).toBe(false)
})

test('commodity filters apply to events of prices, alerts and drilling, and to no others', () => {
  const families = new Set(eventTypes.filter(hasCommodityFilter).map(type => type.split('.')[0]!))
  expect([...families]).toEqual(['price', 'price_alert', 'analytics_alert', 'drilling'])
})
