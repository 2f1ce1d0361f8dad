import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, parseDay } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

const wednesday = parseDay('2026-11-18')! + 12 * hourMs
const friday = parseDay('2026-11-20')! + 12 * hourMs
const week = 7 * dayMs
/** Recordings of one moment rise by a millisecond each. */
const recordedAt = expect.stringMatching(/^2026-11-20T15:00:00(\.\d{3})?Z$/)
/** The date of the weekly levels, which responses carry. */
const ofWednesday = {
  updated_at: '2026-11-18T12:00:00Z',
  as_of: '2026-11-18',
  recorded_at: recordedAt,
}
const ofFriday = {
  updated_at: '2026-11-20T12:00:00Z',
  as_of: '2026-11-20',
  recorded_at: recordedAt,
}
const sites = ['BRYAN_MOUND', 'BIG_HILL', 'WEST_HACKBERRY', 'BAYOU_CHOCTAW']

/**
 * Sixty weekly levels that end so: 52 weeks ago 30, 4 weeks ago 26.1, a week ago 25.425, now
 * 24.604.
 */
const cushing = Array.from(
  { length: 60 },
  (_, i) => ({ 7: 30, 55: 26.1, 58: 25.425, 59: 24.604 })[i] ?? 27,
)

function filled(instance: TestInstance): TestInstance {
  instance.record('CUSHING_STORAGE', cushing, wednesday, week)
  instance.record('SPR_STORAGE', [410, 409.2], friday, week)
  instance.record('US_CRUDE_STORAGE', [420, 424.2], wednesday, week)
  for (let n = 1; n <= 5; n++)
    instance.record(`PADD${n}_CRUDE_STORAGE`, [n * 10, n * 10 + 0.125], wednesday, week)
  for (const [i, site] of sites.entries())
    instance.record(`SPR_${site}_STORAGE`, [100 + i], friday, week)
  return instance
}

function capacity(instance: TestInstance, code: string, effectiveOn: string, value: number): void {
  const seriesId = instance.services.catalogue.resolve(code, instance.clock.now())!.series.id
  instance.services.storageCapacities.write(
    [{ seriesId, effectiveOn, capacity: value, source: 'EIA' }],
    1,
  )
}

interface Answer {
  data: Record<string, unknown>
}
interface History {
  data: { date: string; value: number; level: number; unit: string; change: number | null }[]
  meta: Record<
    'code' | 'name' | 'interval' | 'start_date' | 'end_date' | 'source' | 'source_description',
    string
  > & { count: number }
}
interface Refusal {
  error: { code: string; message: string; parameter?: string; allowed?: string[]; leg?: string }
}

const metadata = { source: 'EIA', source_description: 'Published by EIA' }

describe('/v1/storage/cushing', () => {
  test('is its newest level, against those of 1, 4 and 52 weeks before and the capacity of its day', async () => {
    const instance = filled(openTestInstance())
    capacity(instance, 'CUSHING_STORAGE', '2024-03-01', 78.41)
    capacity(instance, 'CUSHING_STORAGE', '2026-11-19', 99)
    const body = await json<Answer>(instance.get('/v1/storage/cushing', instance.key()))
    expectShape(instance.app, '/v1/storage/cushing', body)
    expect(body.data).toEqual({
      code: 'CUSHING_STORAGE',
      name: 'Cushing Crude Storage',
      value: 24.604,
      unit: 'million_barrels',
      capacity: 78.41,
      // 100 x 24.604 / 78.41
      utilization_percent: 31.3786506823,
      // 24.604 - 25.425, - 26.1 and - 30
      change: { week: -0.821, month: -1.496, year: -5.396 },
      // 100 x -0.821 / 25.425
      change_percent: -3.23,
      ...ofWednesday,
      source: 'EIA',
      level: 24.604,
      timestamp: ofWednesday.updated_at,
      metadata,
    })
  })

  test('is null where there is nothing to compare with', async () => {
    const instance = openTestInstance()
    instance.record('CUSHING_STORAGE', [24.6], wednesday, week)
    expect(
      (await json<Answer>(instance.get('/v1/storage/cushing', instance.key()))).data,
    ).toMatchObject({
      capacity: null,
      utilization_percent: null,
      change_percent: null,
      change: { week: null, month: null, year: null },
    })
  })

  test('leaves a quarantined level out', async () => {
    const instance = filled(openTestInstance())
    const seriesId = instance.services.catalogue.resolve('CUSHING_STORAGE', instance.clock.now())!
      .series.id
    instance.services.quarantine.add({
      seriesId,
      fromOn: '2026-11-18',
      toOn: '2026-11-18',
      reason: 'wrong',
      createdAt: 1,
    })
    expect(
      (await json<Answer>(instance.get('/v1/storage/cushing', instance.key()))).data,
    ).toMatchObject({
      value: 25.425,
      as_of: '2026-11-11',
    })
  })
})

describe('/v1/storage', () => {
  test('has Cushing, the reserve and the country', async () => {
    const instance = filled(openTestInstance())
    capacity(instance, 'SPR_STORAGE', '2020-01-01', 714)
    const body = await json<Answer>(instance.get('/v1/storage', instance.key()))
    expectShape(instance.app, '/v1/storage', body)
    const unit = 'million_barrels'
    expect(body.data).toEqual({
      cushing: {
        value: 24.604,
        change_week: -0.821,
        code: 'CUSHING_STORAGE',
        name: 'Cushing Crude Storage',
        utilization_percent: null,
        unit,
        ...ofWednesday,
      },
      // 100 x 409.2 / 714
      spr: {
        value: 409.2,
        change_week: -0.8,
        code: 'SPR_STORAGE',
        name: 'Strategic Petroleum Reserve',
        utilization_percent: 57.3109243697,
        unit,
        ...ofFriday,
      },
      total_us: {
        value: 424.2,
        change_week: 4.2,
        code: 'US_CRUDE_STORAGE',
        name: 'US Commercial Crude Storage',
        utilization_percent: null,
        unit,
        ...ofWednesday,
      },
      metadata,
    })
  })

  test('names what lacks a level', async () => {
    const instance = openTestInstance()
    instance.record('CUSHING_STORAGE', [24.6], wednesday, week)
    const refusal = await instance.get('/v1/storage', instance.key())
    expect(refusal.status).toBe(404)
    expect((await json<Refusal>(refusal)).error).toMatchObject({
      code: 'DATA_NOT_AVAILABLE',
      leg: 'SPR_STORAGE',
    })
  })
})

describe('/v1/storage/spr', () => {
  test('has its sites with what they hold and can hold', async () => {
    const instance = filled(openTestInstance())
    capacity(instance, 'SPR_BRYAN_MOUND_STORAGE', '2020-01-01', 247.1)
    const body = await json<Answer>(instance.get('/v1/storage/spr', instance.key()))
    expectShape(instance.app, '/v1/storage/spr', body)
    const unit = 'million_barrels'
    expect(body.data).toMatchObject({
      code: 'SPR_STORAGE',
      value: 409.2,
      as_of: '2026-11-20',
      change: { week: -0.8, month: null, year: null },
      sites: [
        { name: 'Bryan Mound', value: 100, unit, capacity: 247.1 },
        { name: 'Big Hill', value: 101, unit, capacity: null },
        { name: 'West Hackberry', value: 102, unit, capacity: null },
        { name: 'Bayou Choctaw', value: 103, unit, capacity: null },
      ],
    })
  })
})

describe('/v1/storage/regional', () => {
  const padd = (n: number) => ({
    name: `PADD ${n} Crude Storage`,
    value: n * 10 + 0.125,
    unit: 'million_barrels',
    level: n * 10 + 0.125,
    change_week: 0.125,
    ...ofWednesday,
  })

  test('are five, and the country as it is published', async () => {
    const instance = filled(openTestInstance())
    const body = await json<Answer>(instance.get('/v1/storage/regional', instance.key()))
    expectShape(instance.app, '/v1/storage/regional', body)
    expect(body.data).toEqual({
      padd1: padd(1),
      padd2: padd(2),
      padd3: padd(3),
      padd4: padd(4),
      padd5: padd(5),
      total_us: 424.2,
      updated_at: ofWednesday.updated_at,
      metadata,
    })
  })

  test('add up to the country while it is not published', async () => {
    const instance = openTestInstance()
    for (let n = 1; n <= 5; n++)
      instance.record(`PADD${n}_CRUDE_STORAGE`, [n * 10 + 0.125], wednesday, week)
    expect(
      (await json<Answer>(instance.get('/v1/storage/regional', instance.key()))).data.total_us,
    ).toBe(150.625)
  })

  test('one of them is answered under its name and at the top', async () => {
    const instance = filled(openTestInstance())
    const body = await json<Answer>(
      instance.get('/v1/storage/regional?region=padd3', instance.key()),
    )
    expectShape(instance.app, '/v1/storage/regional', body)
    expect(body.data).toEqual({
      padd3: padd(3),
      code: 'PADD3',
      name: 'PADD 3 Crude Storage',
      value: 30.125,
      level: 30.125,
      unit: 'million_barrels',
      ...ofWednesday,
      timestamp: ofWednesday.updated_at,
      metadata,
    })
  })

  test('that do not exist are refused with those that do', async () => {
    const instance = filled(openTestInstance())
    const refusal = await instance.get('/v1/storage/regional?region=PADD6', instance.key())
    expect(refusal.status).toBe(400)
    expect((await json<Refusal>(refusal)).error).toMatchObject({
      code: 'INVALID_PARAMETER',
      parameter: 'region',
      allowed: ['PADD1', 'PADD2', 'PADD3', 'PADD4', 'PADD5'],
    })
  })
})

describe('/v1/storage/history/{code}', () => {
  const history = async (instance: TestInstance, path: string) => {
    const body = await json<History>(instance.get(`/v1/storage/${path}`, instance.key()))
    expectShape(instance.app, '/v1/storage/history/:code', body)
    return body
  }

  test('has the levels of the last 90 days, newest first, each against the one before', async () => {
    const { data, meta } = await history(filled(openTestInstance()), 'history/CUSHING_STORAGE')
    expect(data.slice(0, 2)).toEqual([
      { date: '2026-11-18', value: 24.604, level: 24.604, unit: 'million_barrels', change: -0.821 },
      { date: '2026-11-11', value: 25.425, level: 25.425, unit: 'million_barrels', change: -1.575 },
    ])
    expect(data.at(-1)).toMatchObject({ date: '2026-08-26', change: 0 })
    expect(meta).toEqual({
      code: 'CUSHING_STORAGE',
      name: 'Cushing Crude Storage',
      start_date: '2026-08-22',
      end_date: '2026-11-20',
      interval: 'weekly',
      count: 13,
      source: 'EIA',
      source_description: 'Published by EIA',
    })
  })

  test('storage history accepts a code or place name in any letter case, on both of its paths', async () => {
    const instance = filled(openTestInstance())
    const codeOf = async (path: string) => (await history(instance, path)).meta.code
    for (const path of [
      'history/cushing',
      'history/Cushing_Storage',
      'cushing/history',
      'CUSHING_STORAGE/history',
    ]) {
      expect(await codeOf(path), path).toBe('CUSHING_STORAGE')
    }
    expect(await codeOf('history/us')).toBe('US_CRUDE_STORAGE')
    expect(await codeOf('spr/history')).toBe('SPR_STORAGE')
    expect(await codeOf('history/padd3')).toBe('PADD3_CRUDE_STORAGE')
    expect(await codeOf('history/SPR_BIG_HILL_STORAGE')).toBe('SPR_BIG_HILL_STORAGE')
  })

  test('in weeks and months has the last level of each', async () => {
    const instance = filled(openTestInstance())
    const monthly = await history(
      instance,
      'history/CUSHING?interval=monthly&start_date=2026-09-01',
    )
    expect(monthly.data.map(row => [row.date, row.value, row.change])).toEqual([
      ['2026-11-18', 24.604, -2.396],
      ['2026-10-28', 27, 0],
      ['2026-09-30', 27, 0],
    ])
    expect(monthly.meta.interval).toBe('monthly')
    expect((await history(instance, 'history/CUSHING?interval=1w&period=30d')).meta).toMatchObject({
      interval: 'weekly',
      count: 5,
    })
    expect(
      (await history(instance, 'history/CUSHING?interval=DAILY&period=7d')).data.map(
        row => row.date,
      ),
    ).toEqual(['2026-11-18'])
  })

  test('of a daily series has its days as they are published', async () => {
    const instance = openTestInstance()
    instance.record('DE_GAS_STORAGE', [75, 75.5, 74.25], wednesday, dayMs)
    const { data, meta } = await history(instance, 'history/DE_GAS_STORAGE')
    expect(data.map(row => [row.date, row.change])).toEqual([
      ['2026-11-18', -1.25],
      ['2026-11-17', 0.5],
      ['2026-11-16', null],
    ])
    expect({ interval: meta.interval, unit: data[0]!.unit }).toEqual({
      interval: 'daily',
      unit: 'percent',
    })
  })

  test('storage history returns the requested date range including its first and last day', async () => {
    const instance = filled(openTestInstance())
    const daysOf = async (query: string) => {
      const { data, meta } = await history(instance, `history/CUSHING?${query}`)
      return [
        meta.start_date,
        meta.end_date,
        data.length,
        data[0]?.date ?? null,
        data.at(-1)?.date ?? null,
      ]
    }
    expect(await daysOf('start_date=2026-11-04&end_date=2026-11-11')).toEqual([
      '2026-11-04',
      '2026-11-11',
      2,
      '2026-11-11',
      '2026-11-04',
    ])
    expect(await daysOf('start_date=2026-11-05&end_date=2026-11-05')).toEqual([
      '2026-11-05',
      '2026-11-05',
      0,
      null,
      null,
    ])
    expect(await daysOf('start_date=2026-11-01&period=7d')).toEqual([
      '2026-11-01',
      '2026-11-20',
      3,
      '2026-11-18',
      '2026-11-04',
    ])
    expect(await daysOf('end_date=2026-11-11')).toEqual([
      '2026-08-13',
      '2026-11-11',
      13,
      '2026-11-11',
      '2026-08-19',
    ])
    expect(await daysOf('start_date=2026-11-11T00:00:00Z&end_date=2026-11-18T12:00:00Z')).toEqual([
      '2026-11-11',
      '2026-11-18',
      2,
      '2026-11-18',
      '2026-11-11',
    ])
    expect(await daysOf('period=7d')).toEqual([
      '2026-11-13',
      '2026-11-20',
      1,
      '2026-11-18',
      '2026-11-18',
    ])
    expect(await daysOf('period=30D')).toEqual([
      '2026-10-21',
      '2026-11-20',
      5,
      '2026-11-18',
      '2026-10-21',
    ])
    expect(await daysOf('period=1y')).toEqual([
      '2025-11-20',
      '2026-11-20',
      52,
      '2026-11-18',
      '2025-11-26',
    ])
    expect(await daysOf('period=all')).toEqual([
      '2025-10-01',
      '2026-11-20',
      60,
      '2026-11-18',
      '2025-10-01',
    ])
    expect(await daysOf('period=')).toEqual([
      '2026-08-22',
      '2026-11-20',
      13,
      '2026-11-18',
      '2026-08-26',
    ])
  })

  test('storage history omits quarantined days and reports the omission', async () => {
    const instance = filled(openTestInstance())
    const seriesId = instance.services.catalogue.resolve('CUSHING_STORAGE', instance.clock.now())!
      .series.id
    instance.services.quarantine.add({
      seriesId,
      fromOn: '2026-11-11',
      toOn: '2026-11-11',
      reason: 'wrong',
      createdAt: 1,
    })
    const { data, meta } = await history(instance, 'history/CUSHING?period=30d')
    expect(data.map(row => row.date)).toEqual([
      '2026-11-18',
      '2026-11-04',
      '2026-10-28',
      '2026-10-21',
    ])
    expect(meta).toMatchObject({
      count: 4,
      quarantine: { excluded_dates: ['2026-11-11'], excluded_count: 1, reason: 'wrong' },
    })
  })

  test('storage history rejects unknown codes, missing data and invalid parameters with a specific error', async () => {
    const instance = filled(openTestInstance())
    const token = instance.key()
    const table: [string, number, string, string?][] = [
      ['history/WTI_USD', 404, 'NOT_FOUND'],
      ['history/nowhere', 404, 'NOT_FOUND'],
      ['history/US_NATGAS_STORAGE', 404, 'DATA_NOT_AVAILABLE'],
      ['history/CUSHING?interval=hourly', 400, 'invalid_interval'],
      ['history/CUSHING?interval=raw', 400, 'invalid_interval'],
      ['history/CUSHING?period=2y', 400, 'INVALID_PARAMETER', 'period'],
      ['history/CUSHING?start_date=2026-02-30', 400, 'INVALID_PARAMETER', 'start_date'],
      ['history/CUSHING?end_date=yesterday', 400, 'INVALID_PARAMETER', 'end_date'],
      ['history/CUSHING?start_date=2026-11-12&end_date=2026-11-11', 400, 'INVALID_DATE_RANGE'],
      ['history/CUSHING?start_date=2026-11-21', 400, 'INVALID_DATE_RANGE'],
      // Parameters are validated before the place is looked up.
      ['history/nowhere?period=2y', 400, 'INVALID_PARAMETER', 'period'],
    ]
    for (const [path, status, code, parameter] of table) {
      const refusal = await instance.get(`/v1/storage/${path}`, token)
      const body = await json<Refusal & { code?: string; valid_intervals?: string[] }>(refusal)
      expect(
        {
          status: refusal.status,
          code: body.error?.code ?? body.code,
          parameter: body.error?.parameter,
        },
        path,
      ).toEqual({ status, code, parameter })
      if (code === 'invalid_interval')
        expect(body.valid_intervals).toEqual(['daily', 'weekly', 'monthly'])
    }
  })
})

describe('every path of /v1/storage', () => {
  const paths = [
    '',
    '/cushing',
    '/spr',
    '/regional',
    '/history/CUSHING_STORAGE',
    '/cushing/history',
  ].map(path => `/v1/storage${path}`)

  test('of an empty database is 404 and costs nothing', async () => {
    const instance = openTestInstance()
    const token = instance.key()
    for (const path of paths) {
      const refusal = await instance.get(path, token)
      expect(
        { status: refusal.status, code: (await json<Refusal>(refusal)).error.code },
        path,
      ).toEqual({ status: 404, code: 'DATA_NOT_AVAILABLE' })
      expect(refusal.headers.get('x-ratelimit-used')).toBe('0')
    }
  })

  test('takes a key of any plan, and counts', async () => {
    const instance = filled(openTestInstance())
    expect((await instance.get(paths[0]!)).status).toBe(401)
    const token = instance.key('free')
    for (const [i, path] of paths.entries()) {
      const answer = await instance.get(path, token)
      expect(
        { status: answer.status, ratelimitUsed: answer.headers.get('x-ratelimit-used') },
        path,
      ).toEqual({ status: 200, ratelimitUsed: String(i + 1) })
    }
  })

  test('every storage endpoint identifies fixture data in its header and body', async () => {
    const instance = filled(openTestInstance())
    const cushing = instance.services.catalogue.resolve(
      'CUSHING_STORAGE',
      instance.clock.now(),
    )!.series
    instance.services.series.markFixture([cushing.id])
    instance.services.catalogue.reload()
    for (const path of ['/v1/storage', '/v1/storage/cushing', '/v1/storage/cushing/history']) {
      const answer = await instance.get(path, instance.key())
      expect(answer.headers.get('x-service-data'), path).toBe('fixture')
      expect(await answer.text(), path).toContain('Fixture data')
    }
    expect(
      (await instance.get('/v1/storage/regional', instance.key())).headers.get('x-service-data'),
    ).toBeNull()
  })
})
