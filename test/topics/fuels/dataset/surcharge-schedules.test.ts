import { describe, expect, test } from 'bun:test'
import { bandsOf } from '../../../../src/topics/fuels/dataset/surcharge-schedules.ts'
import { bandFor } from '../../../../src/topics/fuels/math/surcharge.ts'
import { faultOf, setUp, taken, week } from '../../../support/topics/carriers.ts'

describe('bands', () => {
  test('are lower edges with their percent and the end of the last', () => {
    expect(bandsOf('0=0; 1.2=1 ;1.25=1.5;1.3')).toEqual({
      bands: [
        { min: 0, max: 1.2, percent: 0 },
        { min: 1.2, max: 1.25, percent: 1 },
        { min: 1.25, max: 1.3, percent: 1.5 },
      ],
    })
  })

  test('surcharge bands may continue in regular steps', () => {
    const schedule = { ...bandsOf('3=20;3.05;+0.05=0.5'), effectiveWeekday: 3 }
    expect(bandFor(schedule, 3.718)).toEqual({ min: 3.7, max: 3.75, percent: 27 })
    expect(bandFor(schedule, 2.99)).toBeUndefined()
  })

  test('are refused when they have gaps, no end or no order', () => {
    const { schedules } = setUp()
    const row = { ...week, valid_from: '2025-01-06', effective_weekday: '3', bands: '0=0;1.2' }
    expect(faultOf(schedules, row)).toBeUndefined()
    for (const bands of [
      '0=0',
      '1.2',
      '0=0;1.2=1',
      'x',
      '0=0;1.2=1;1.1=2;1.3',
      '0=0;0',
      '0=0;1.2;+0=1',
      '0=0;1.2;+0.05',
      '-1=0;1',
      '0=0;;1',
      '1=1;2;3',
      '0=1e3;1',
    ]) {
      expect(faultOf(schedules, { ...row, bands })?.field, bands).toBe('bands')
    }
    expect(faultOf(schedules, { ...row, effective_weekday: '2.5' })?.field).toBe(
      'effective_weekday',
    )
    expect(faultOf(schedules, { ...row, effective_weekday: '8' })?.field).toBe('effective_weekday')
    expect(faultOf(schedules, { ...row, match: 'perhaps' })?.field).toBe('match')
  })

  test('surcharge bands match the government diesel price unless they specify another', () => {
    const { schedules, surcharges } = setUp()
    schedules.write(taken(schedules, schedules.example), 1)
    expect(
      surcharges
        .schedules()
        .map(schedule => [
          schedule.carrier,
          schedule.matched,
          schedule.indexCode,
          schedule.effectiveWeekday,
        ]),
    ).toEqual([
      ['alder', true, 'DIESEL_US_NATIONAL_USD', 3],
      ['basin', true, 'DIESEL_US_NATIONAL_USD', 1],
    ])
  })
})
