import { expect, test } from 'bun:test'
import { germanPower, withDelivery } from '../../../support/topics/delivery.ts'

test('a delivery series is added with its terms, and the catalogue answers them', async () => {
  const { admin, ask } = withDelivery()
  const added = await admin('POST', '/series', germanPower)
  const terms = {
    time: 'delivery',
    resolution: 'PT15M',
    resolutions: germanPower.resolutions,
    zone: 'Europe/Berlin',
    day_starts: '00:00',
    horizon: 'P2D',
    gate_closes: '12:00',
    publishes_at: '12:45',
    peak_hours: '08:00-20:00',
    peak_days: ['mon', 'tue', 'wed', 'thu', 'fri'],
    peak_holidays: false,
  }
  expect({ status: added.status, first: added.body.data.series[0] }).toEqual({
    status: 201,
    first: expect.objectContaining(terms),
  })
  const commodity = await ask('/v1/commodities/DESK_POWER_EUR')
  expect(commodity.body.data).toMatchObject(terms)
  const other = await ask('/v1/commodities/WTI_USD')
  expect(Object.keys(other.body.data)).not.toContain('time')
})

test('terms of delivery are changed and reset like any other', async () => {
  const { admin } = withDelivery()
  await admin('POST', '/series', germanPower)
  const changed = await admin('PATCH', '/series/DESK_POWER_EUR', {
    resolution: 'P1D',
    day_starts: '06:00',
    peak_hours: '00:00-24:00',
    peak_days: ['SAT', 'sun'],
    publishes_at: null,
  })
  expect(changed.body.data.series).toMatchObject({
    resolution: 'P1D',
    day_starts: '06:00',
    peak_hours: '00:00-24:00',
    peak_days: ['sat', 'sun'],
  })
  expect(changed.body.data.series.publishes_at).toBeUndefined()
})

test('every wrong term is refused by its name', async () => {
  const { admin } = withDelivery()
  const fieldsOf = async (change: object) => {
    const { status, body } = await admin('POST', '/series', { ...germanPower, ...change })
    return [status, ...body.errors.map(({ field }) => field).sort()]
  }
  expect(
    await fieldsOf({
      zone: '+01:00',
      day_starts: '6',
      horizon: 'P401D',
      gate_closes: '24:01',
      publishes_at: 'noon',
      peak_hours: '20:00-08:00',
      peak_days: ['someday'],
      peak_holidays: 'yes',
    }),
  ).toEqual([
    422,
    'day_starts',
    'gate_closes',
    'horizon',
    'peak_days.0',
    'peak_holidays',
    'peak_hours',
    'publishes_at',
    'zone',
    'zone',
  ])
  expect(await fieldsOf({ resolution: 'PT15M' })).toEqual([422, 'resolutions'])
  expect(await fieldsOf({ resolutions: [{ from: '2025-10-01', resolution: 'PT2H' }] })).toEqual([
    422,
    'resolution',
    'resolutions.0.resolution',
  ])
  expect(await fieldsOf({ zone: undefined, resolutions: undefined })).toEqual([
    422,
    'resolution',
    'zone',
  ])
  expect(await fieldsOf({ time_zone: 'Europe/Berlin', value_time: '12:00' })).toEqual([
    422,
    'time_zone',
    'value_time',
  ])
  expect(await fieldsOf({ time: undefined, resolutions: undefined })).toEqual([
    422,
    'gate_closes',
    'publishes_at',
    'zone',
  ])
})

test('a series that has values keeps its kind of time', async () => {
  const { admin } = withDelivery()
  const plain = {
    code: 'DESK_MARK_EUR',
    name: 'Mark',
    category: 'power',
    unit: 'mwh',
    currency: 'EUR',
  }
  await admin('POST', '/series', plain)
  await admin('POST', '/observations', {
    observations: [{ code: 'DESK_MARK_EUR', observed_at: '2026-11-19', price: 40 }],
  })
  const changed = await admin('PATCH', '/series/DESK_MARK_EUR', {
    time: 'delivery',
    resolution: 'PT1H',
    zone: 'Europe/Berlin',
  })
  expect([changed.status, ...changed.body.errors.map(({ field }) => field)]).toEqual([422, 'time'])
})
