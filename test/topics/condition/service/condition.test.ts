import { describe, expect, test } from 'bun:test'
import { minuteMs } from '../../../../src/lib/time/instant.ts'
import type { Component } from '../../../../src/topics/condition/service/component.ts'
import {
  conditionOf,
  databaseComponent,
  ingestComponent,
  schedulerComponent,
} from '../../../../src/topics/condition/service/condition.ts'
import type { Feed, FeedStatus } from '../../../../src/topics/condition/service/freshness.ts'
import { settingsStore } from '../../../../src/topics/operator/store/settings.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const feeds = (...statuses: FeedStatus[]): Feed[] =>
  statuses.map((status, i) => ({
    name: `feed ${i}`,
    status,
    lastObservationAt: undefined,
    expectedBy: undefined,
    codes: 1,
    staleCodes: 0,
  }))

describe('ingestComponent: what comes in', () => {
  test.each<[string, FeedStatus[], Component['status'], string | undefined]>([
    ['all current', ['current', 'current'], 'operational', undefined],
    ['some empty', ['current', 'empty'], 'operational', undefined],
    ['one delayed', ['current', 'delayed'], 'operational', 'Delayed: feed 1.'],
    ['one stale', ['current', 'stale', 'delayed'], 'degraded', 'Stale: feed 1.'],
    ['all stale', ['stale', 'stale', 'empty'], 'down', 'Stale: feed 0, feed 1.'],
    ['all empty', ['empty'], 'operational', 'Nothing has been recorded yet.'],
    [
      'many stale',
      Array(7).fill('stale'),
      'down',
      'Stale: feed 0, feed 1, feed 2, feed 3, feed 4 and 2 more.',
    ],
  ])('with %s feeds is as it should be or not', (_, statuses, status, message) => {
    expect(ingestComponent(feeds(...statuses))).toEqual({
      name: 'ingest',
      status,
      ...(message !== undefined && { message }),
    })
  })

  test('stale feeds are named in words, and those without a named publisher by their category', () => {
    const [desk, eia] = feeds('stale', 'stale')
    const named = [
      { ...desk!, name: 'market_reporting/crude_oil' },
      { ...eia!, name: 'EIA/natural_gas' },
    ]
    expect(ingestComponent(named).message).toBe('Stale: crude oil, EIA natural gas.')
  })
})

describe('schedulerComponent: the jobs', () => {
  const now = Date.parse('2026-11-20T15:00:00Z')
  const soon = minuteMs
  const later = minuteMs + 1
  test.each<[string, number | null | undefined, Component['status'], number?]>([
    ['of a process that has none', null, 'disabled'],
    ['that have not run yet', undefined, 'degraded', later],
    ['of a process that has just begun', undefined, 'operational', soon],
    ['that just ran', now, 'operational'],
    ['that ran a minute ago', now - minuteMs, 'operational'],
    ['that ran longer ago', now - minuteMs - 1, 'degraded'],
    ['that ran ten minutes ago', now - 10 * minuteMs, 'degraded'],
    ['that ran still longer ago', now - 10 * minuteMs - 1, 'down'],
  ])(
    'jobs %s have the status that matches their last run',
    (_, lastPassAt, status, upMs = later) => {
      expect(schedulerComponent(lastPassAt, now, upMs).status).toBe(status)
    },
  )
})

test('the database is down once it answers no query', () => {
  const db = databaseInMemory()
  const settings = settingsStore(db)
  expect(databaseComponent(settings).status).toBe('operational')
  db.close()
  expect(databaseComponent(settings).status).toBe('down')
})

describe('conditionOf: the whole', () => {
  const part = (name: string, status: Component['status']): Component => ({ name, status })
  test.each<[Component[], string]>([
    [[part('database', 'operational'), part('sms', 'disabled')], 'operational'],
    [[part('database', 'operational'), part('ingest', 'degraded')], 'degraded'],
    [[part('database', 'operational'), part('ingest', 'down')], 'degraded'],
    [[part('database', 'down'), part('ingest', 'operational')], 'down'],
  ])('of %j is %s', (components, condition) => {
    expect(conditionOf(components)).toBe(condition as 'down')
  })
})
