import { expect, test } from 'bun:test'
import { isoInstant } from '../../../../src/lib/time/instant.ts'
import { dayOfDate, periodsOf } from '../../../../src/topics/delivery/math/days.ts'
import { deliveryTerms, sinceEver } from '../../../../src/topics/delivery/math/terms.ts'
import { germanPower, withDelivery } from '../../../support/topics/delivery.ts'

const code = germanPower.code

test('tomorrow is recorded by instants, local times and numbers of periods', async () => {
  const { admin } = withDelivery()
  await admin('POST', '/series', germanPower)
  const { status, body } = await admin('POST', '/observations', {
    observations: [
      { code, observed_at: '2026-10-25T00:15:00Z', price: 41 },
      { code, observed_at: '2026-10-25T02:30:00+01:00', price: -2 },
      { code, observed_at: '2026-10-25T03:00', price: 0 },
      { code, date: '2026-10-25', period: 100, price: 4 },
      { code, observed_at: '2026-11-21T23:45:00+01:00', price: 5 },
    ],
  })
  expect({ status, inserted: body.data.inserted, held: body.data.held }).toEqual({
    status: 200,
    inserted: 5,
    held: 0,
  })
})

test('a time that is not the start of a period is refused with the nearest ones', async () => {
  const { admin } = withDelivery()
  await admin('POST', '/series', germanPower)
  const refusalsOf = async (observations: object[]) => {
    const { status, body } = await admin('POST', '/observations', { observations })
    expect(status).toBe(422)
    return body.errors.map(({ field, reason, nearest = [] }) => [field, reason, ...nearest])
  }
  const sent = (time: object) => ({ code, price: 1, ...time })
  expect(
    await refusalsOf([
      sent({ observed_at: '2026-03-29T02:15' }),
      sent({ observed_at: '2026-10-25T02:15' }),
      sent({ observed_at: '2026-10-25T00:10:00Z' }),
      sent({ date: '2026-03-29', period: 93 }),
      sent({ observed_at: '2026-11-29T12:00:00Z' }),
      sent({ observed_at: '2026-11-20' }),
      sent({ date: '2026-11-20', period: 'first' }),
    ]),
  ).toEqual([
    [
      'observations.0.observed_at',
      'no_such_period',
      '2026-03-29T00:45:00Z',
      '2026-03-29T01:00:00Z',
    ],
    ['observations.1.observed_at', 'ambiguous', '2026-10-25T00:15:00Z', '2026-10-25T01:15:00Z'],
    [
      'observations.2.observed_at',
      'no_such_period',
      '2026-10-25T00:00:00Z',
      '2026-10-25T00:15:00Z',
    ],
    [
      'observations.3.observed_at',
      'no_such_period',
      '2026-03-29T21:45:00Z',
      '2026-03-29T22:00:00Z',
    ],
    ['observations.4.observed_at', 'beyond_horizon'],
    ['observations.5.observed_at', undefined],
    ['observations.6.observed_at', undefined],
  ])
  const { body } = await admin('POST', '/observations', {
    observations: [{ code: 'WTI_USD', date: '2026-11-20', period: 3, price: 70 }],
  })
  expect(body.message).toContain('WTI_USD has no delivery periods')
})

test('gas is recorded by its gas day', async () => {
  const { admin, ask } = withDelivery()
  await admin('POST', '/series', {
    ...germanPower,
    code: 'DESK_GAS_EUR',
    resolutions: undefined,
    resolution: 'P1D',
    day_starts: '06:00',
  })
  const { body } = await admin('POST', '/observations', {
    observations: [{ code: 'DESK_GAS_EUR', observed_at: '2026-11-21', price: 30 }],
  })
  expect(body.data.inserted).toBe(1)
  const exported = await ask('/v1/prices/historical?by_code=DESK_GAS_EUR&start_date=2026-11-20')
  expect(exported.status).toBe(200)
})

test('the days of a clock change go in whole, in eight zones and every resolution', async () => {
  const { admin } = withDelivery()
  const zones = [
    'Europe/Berlin',
    'Europe/London',
    'Europe/Athens',
    'Europe/Lisbon',
    'America/New_York',
    'America/Los_Angeles',
    'Australia/Sydney',
    'Australia/Lord_Howe',
  ]
  let number = 0
  for (const zone of zones)
    for (const resolution of ['PT5M', 'PT15M', 'PT30M', 'PT1H', 'P1D'] as const) {
      number += 1
      const own = `DESK_ZONE_${number}`
      const added = await admin('POST', '/series', {
        ...germanPower,
        code: own,
        zone,
        resolutions: undefined,
        resolution,
      })
      expect(added.status).toBe(201)
      const terms = deliveryTerms({ time: 'delivery', zone, resolutions: sinceEver(resolution) })!
      const starts = ['2026-03-29', '2026-10-25', '2026-04-05', '2026-10-04', '2026-11-01']
        .flatMap(date => periodsOf(terms, dayOfDate(terms, date)))
        .map(({ start }) => start)
      const { status, body } = await admin('POST', '/observations', {
        observations: starts.map((at, i) => ({
          code: own,
          observed_at: isoInstant(at),
          price: 50 + (i % 7),
        })),
      })
      expect({ zone, resolution, status, inserted: body.data.inserted }).toEqual({
        zone,
        resolution,
        status: 200,
        inserted: starts.length,
      })
    }
}, 30_000)
