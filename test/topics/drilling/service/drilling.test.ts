import { describe, expect, test } from 'bun:test'
import { isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import {
  type DucWells,
  ducWells,
  fracSpreads,
  type RigCount,
  rigCounts,
} from '../../../../src/topics/drilling/dataset/counts.ts'
import { createDrilling, type Drilling } from '../../../../src/topics/drilling/service/drilling.ts'
import type { ServiceEvent } from '../../../../src/topics/webhooks/service/events.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'

const at = (text: string) => parseInstant(text)!
const friday = at('2026-11-20T17:00:00Z')

const rigs = (region: string, countedOn: string, oil: number, gas = 0, misc = 0): RigCount => ({
  region,
  countedOn,
  total: oil + gas + misc,
  oil,
  gas,
  misc,
  span: 'week',
  source: 'Rig survey',
})

function recorder(): { instance: TestInstance; drilling: Drilling; events: ServiceEvent[] } {
  const own = openTestInstance()
  const events: ServiceEvent[] = []
  const { db, catalogue, ingest } = own.services
  const emit = (event: ServiceEvent) => events.push(event)
  return {
    instance: own,
    events,
    drilling: createDrilling({ db, catalogue, ingest, events: { emit } }),
  }
}

const seriesOf = ({ services }: TestInstance, code: string) => {
  const series = services.catalogue.named(code)!
  return services.observations
    .between(series.id, 0, at('2030-01-01T00:00:00Z'), 100)
    .map(observation => [isoInstant(observation.observedAt), observation.value])
}

describe('recording a count', () => {
  test('records the series of the same number with it, by region and by type', () => {
    const { instance: own, drilling: records } = recorder()
    records.record(
      rigCounts,
      [
        rigs('US', '2026-11-20', 413, 127, 6),
        rigs('permian', '2026-11-20', 248, 3),
        rigs('TX', '2026-11-20', 200),
      ],
      friday,
    )
    const expected = {
      US_RIG_COUNT: 546,
      US_OIL_RIG_COUNT: 413,
      US_GAS_RIG_COUNT: 127,
      US_MISC_RIG_COUNT: 6,
      PERMIAN_RIG_COUNT: 251,
      TX_RIG_COUNT: 200,
    }
    for (const [code, value] of Object.entries(expected))
      expect(seriesOf(own, code), code).toEqual([['2026-11-20T12:00:00Z', value]])
  })
  test('a corrected drilling count corrects its series and retains the earlier value', () => {
    const { instance: own, drilling: records } = recorder()
    records.record(rigCounts, [rigs('US', '2026-11-20', 546)], friday)
    expect(records.record(rigCounts, [rigs('US', '2026-11-20', 544)], friday + 1000)).toEqual({
      inserted: 0,
      revised: 1,
      unchanged: 0,
    })
    expect(seriesOf(own, 'US_RIG_COUNT')).toEqual([['2026-11-20T12:00:00Z', 544]])
    const id = own.services.catalogue.named('US_RIG_COUNT')!.id
    expect(own.services.observations.asOf(id, 0, friday, friday, 1)[0]?.value).toBe(546)
  })
  test('leaves the series alone for means of months and for regions without a code', () => {
    const { instance: own, drilling: records } = recorder()
    records.record(
      rigCounts,
      [
        { ...rigs('US', '2020-05-15', 348), span: 'month' },
        rigs('other', '2026-11-20', 94),
        rigs('OTHER', '2026-11-20', 5),
      ],
      friday,
    )
    expect(seriesOf(own, 'US_RIG_COUNT')).toEqual([])
    expect(records.rigs.on('2026-11-20').length).toBe(2)
  })
  test('is one transaction with its series and its events', () => {
    const own = openTestInstance()
    const { db, catalogue, ingest } = own.services
    const emit = () => {
      throw new Error('the outbox is full')
    }
    const records = createDrilling({ db, catalogue, ingest, events: { emit } })
    expect(() => records.record(rigCounts, [rigs('US', '2026-11-20', 546)], friday)).toThrow(
      'the outbox is full',
    )
    expect(records.rigs.on('2026-11-20')).toEqual([])
    expect(seriesOf(own, 'US_RIG_COUNT')).toEqual([])
    expect(catalogue.hasData(catalogue.named('US_RIG_COUNT')!)).toBe(false)
  })
})

describe('an event', () => {
  test('a drilling event reports a new week with the counts that it is compared with', () => {
    const { drilling: records, events } = recorder()
    records.record(
      rigCounts,
      [rigs('US', '2025-11-21', 560), rigs('US', '2026-11-13', 415, 127, 6)],
      at('2026-11-13T17:00:00Z'),
    )
    events.length = 0
    records.record(rigCounts, [rigs('US', '2026-11-20', 413, 127, 6)], friday)
    expect(events).toEqual([
      {
        type: 'drilling.rig_count.updated',
        at: friday,
        dedupe: 'rig_count US 2026-11-20',
        commodity: 'US_RIG_COUNT',
        data: {
          commodity: 'US_RIG_COUNT',
          region: 'US',
          value: 546,
          previous_value: 548,
          change: -2,
          change_percent: -0.36,
          unit: 'rigs',
          source: 'Rig survey',
          breakdown: { oil_rigs: 413, gas_rigs: 127, misc_rigs: 6 },
          rig_count: 546,
          oil_rigs: 413,
          gas_rigs: 127,
          change_from_prior_week: -2,
          change_from_prior_year: -14,
          report_date: '2026-11-20',
          timestamp: '2026-11-20T17:00:00Z',
        },
      },
    ])
    expect(Object.keys(events[0]!.data)).toEqual([
      'commodity',
      'region',
      'value',
      'previous_value',
      'change',
      'change_percent',
      'unit',
      'source',
      'breakdown',
      'rig_count',
      'oil_rigs',
      'gas_rigs',
      'change_from_prior_week',
      'change_from_prior_year',
      'report_date',
      'timestamp',
    ])
  })
  test('a drilling event is sent once and not for a repeated count, a correction or an older week', () => {
    const { drilling: records, events } = recorder()
    records.record(rigCounts, [rigs('US', '2026-11-20', 546)], friday)
    events.length = 0
    for (const row of [
      rigs('US', '2026-11-20', 546),
      rigs('US', '2026-11-20', 540),
      rigs('US', '2026-11-13', 548),
    ])
      records.record(rigCounts, [row], friday + 60_000)
    expect(events).toEqual([])
  })
  test('is of the newest week only, and not of a history that comes in late', () => {
    const { drilling: records, events } = recorder()
    records.record(
      rigCounts,
      ['2026-11-06', '2026-11-20', '2026-11-13'].map(day => rigs('US', day, 546)),
      friday,
    )
    expect(events.map(event => event.data.report_date)).toEqual(['2026-11-20'])
    events.length = 0
    records.record(rigCounts, [rigs('permian', '2014-11-21', 500)], friday)
    expect(events).toEqual([])
  })
  test('drilling events report frac crews and waiting wells, each in their own fields and order', () => {
    const { drilling: records, events } = recorder()
    const spreads = (countedOn: string, active: number) => ({
      region: 'permian',
      countedOn,
      active,
      source: 'Crew survey',
    })
    records.record(fracSpreads, [spreads('2026-11-13', 90), spreads('2026-11-19', 91)], friday)
    records.record(fracSpreads, [spreads('2026-11-20', 92)], friday)
    expect(events.at(-1)?.data).toEqual({
      commodity: 'PERMIAN_FRAC_SPREADS',
      region: 'permian',
      value: 92,
      previous_value: 91,
      change: 1,
      change_percent: 1.1,
      unit: 'frac_spreads',
      source: 'Crew survey',
      frac_spreads_count: 92,
      change_from_prior_week: 2,
      report_date: '2026-11-20',
      timestamp: '2026-11-20T17:00:00Z',
    })
    const wells = (countedOn: string, duc: number): DucWells => ({
      region: 'US',
      countedOn,
      duc,
      drilled: 868,
      completed: 812,
      source: 'EIA',
    })
    records.record(ducWells, [wells('2026-10-15', 5174)], friday)
    records.record(ducWells, [wells('2026-11-15', 5230)], friday)
    const data = events.at(-1)?.data
    expect(data).toEqual({
      commodity: 'US_DUC_WELLS',
      region: 'US',
      value: 5230,
      duc_count: 5230,
      previous_value: 5174,
      change: 56,
      change_percent: 1.08,
      change_from_prior_month: 56,
      completions_this_month: 812,
      unit: 'wells',
      report_date: '2026-11-15',
      source: 'EIA',
      timestamp: '2026-11-20T17:00:00Z',
    })
    expect(Object.keys(data!).slice(-4)).toEqual(['unit', 'report_date', 'source', 'timestamp'])
  })
  test('a drilling event omits the comparison with a previous month that is missing', () => {
    const { drilling: records, events } = recorder()
    const wells = (countedOn: string, duc: number): DucWells => ({
      region: 'US',
      countedOn,
      duc,
      drilled: null,
      completed: null,
      source: 'EIA',
    })
    records.record(ducWells, [wells('2026-08-15', 5000)], at('2026-08-15T14:00:00Z'))
    records.record(ducWells, [wells('2026-11-15', 5230)], friday)
    expect(events.at(-1)?.data).toMatchObject({
      previous_value: 5000,
      change: 230,
      change_from_prior_month: null,
      completions_this_month: null,
    })
  })
  test('a drilling event is not sent for a region without a code to filter by', () => {
    const { drilling: records, events } = recorder()
    records.record(
      rigCounts,
      [
        rigs('other', '2026-11-20', 94),
        rigs('OTHER', '2026-11-20', 5),
        rigs('MT', '2026-11-20', 2),
      ],
      friday,
    )
    expect(events).toEqual([])
  })
})
