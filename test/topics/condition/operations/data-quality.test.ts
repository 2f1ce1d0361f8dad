import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoDay, parseDay } from '../../../../src/lib/time/instant.ts'
import { isTradingDay } from '../../../../src/topics/calendars/math/calendar.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

interface Report {
  code: string
  period: { start: string; end: string }
  status: string
  quality_score: number
  completeness: number
  metrics: Record<string, number>
  issues: { severity: string; description: string; affected_points: number; detected_at: string }[]
  recommendations: string[]
}
interface Summary {
  overall_score: number
  overall_quality: string
  sources_monitored: number
  sources_with_issues: number
  total_commodities: number
  total_issues: number
  breakdown: Record<string, number>
  recent_alerts: { severity: string; message: string }[]
}

const days: string[] = []
for (let at = parseDay('2026-07-01')!; at <= parseDay('2026-11-19')!; at += dayMs)
  if (isTradingDay('us_energy', at)) days.push(isoDay(at))

/**
 * Daily closes of a code, each recorded ten minutes after it was made, but for the days left out.
 */
function record(instance: TestInstance, code: string, without: readonly string[] = []): void {
  const seriesId = instance.services.catalogue.named(code)!.id
  const points = days.flatMap((day, i) => {
    const observedAt = parseDay(day)! + 19.5 * hourMs
    return without.includes(day)
      ? []
      : [{ seriesId, observedAt, value: 2 + (i % 4) / 100, recordedAt: observedAt + 600_000 }]
  })
  instance.services.ingest.write(points)
}
const gone = ['2026-09-15', '2026-10-20', '2026-10-21']
const report = async (instance: TestInstance, code: string) =>
  (
    await json<{ data: Report }>(
      instance.get(`/v1/data-quality/reports/${code}`, instance.key('free')),
    )
  ).data
const summary = async (instance: TestInstance) =>
  (await json<{ data: Summary }>(instance.get('/v1/data-quality/summary', instance.key('free'))))
    .data

describe('GET /v1/data-quality/reports/:code', () => {
  test('is 100 where every day is there and came in time', async () => {
    const instance = openTestInstance()
    record(instance, 'GASOLINE_USD')
    const body = await json<{ data: Report }>(
      instance.get('/v1/data-quality/reports/gasoline_usd', instance.key('free')),
    )
    expectShape(instance.app, '/v1/data-quality/reports/:code', body)
    expect(body.data).toMatchObject({
      code: 'GASOLINE_USD',
      status: 'healthy',
      quality_score: 100,
      completeness: 100,
      issues: [],
      recommendations: [],
      metrics: {
        completeness: 100,
        timeliness: 100,
        accuracy: 100,
        consistency: 100,
        missing_points: 0,
        late_updates: 0,
        anomalies: 0,
      },
      period: { start: '2026-08-22', end: '2026-11-20' },
    })
  })

  test('shows a gap with its number of days, and scores less for it', async () => {
    const [whole, torn] = [openTestInstance(), openTestInstance()]
    record(whole, 'GASOLINE_USD')
    record(torn, 'GASOLINE_USD', gone)
    const [good, bad] = [await report(whole, 'GASOLINE_USD'), await report(torn, 'GASOLINE_USD')]
    const expected = days.filter(day => day >= '2026-08-22').length
    expect({
      missing_points: bad.metrics.missing_points,
      expected_points: bad.metrics.expected_points,
    }).toEqual({ missing_points: 3, expected_points: expected })
    expect(bad.completeness).toBeCloseTo(100 - 300 / expected, 2)
    expect(bad.quality_score).toBeLessThan(good.quality_score)
    expect(bad.issues).toMatchObject([
      { severity: 'warning', affected_points: 3, detected_at: '2026-10-22T00:00:00Z' },
    ])
    expect(bad.issues[0]!.description).toBe(
      `No observation in 3 of ${expected} trading days, the last from 2026-10-21.`,
    )
    expect(bad.recommendations.length).toBe(1)
  })

  test('is computed again when the gap is filled or put into quarantine', async () => {
    const instance = openTestInstance()
    record(instance, 'GASOLINE_USD', gone)
    expect((await report(instance, 'GASOLINE_USD')).metrics.missing_points).toBe(3)
    const seriesId = instance.services.catalogue.named('GASOLINE_USD')!.id
    instance.services.quarantine.add({
      seriesId,
      fromOn: gone[0]!,
      toOn: gone[0]!,
      reason: 'none published',
      createdAt: 1,
    })
    expect((await report(instance, 'GASOLINE_USD')).metrics.missing_points).toBe(2)
    record(instance, 'GASOLINE_USD')
    expect((await report(instance, 'GASOLINE_USD')).metrics.missing_points).toBe(0)
  })

  test('falls as time passes without news', async () => {
    const instance = openTestInstance()
    record(instance, 'PROPANE_USD')
    const rows: [string, number | undefined][] = []
    for (const at of ['2026-11-20T15:00:00Z', '2026-11-24T15:00:00Z', '2026-12-10T15:00:00Z']) {
      instance.clock.set(Date.parse(at))
      const { status, metrics } = await report(instance, 'PROPANE_USD')
      rows.push([status, metrics.timeliness])
    }
    expect(rows).toEqual([
      ['healthy', 100],
      ['warning', 60],
      ['critical', 0],
    ])
  })

  test('finds a bar that is not that of its observations', async () => {
    const instance = openTestInstance()
    record(instance, 'GASOLINE_USD')
    const seriesId = instance.services.catalogue.named('GASOLINE_USD')!.id
    instance.services.db.run(
      'UPDATE bars SET high = 9 WHERE series_id = ? AND span = 24 AND starts_at = ?',
      [seriesId, parseDay('2026-11-10')!],
    )
    const gasoline = await report(instance, 'GASOLINE_USD')
    expect(gasoline.metrics.consistency).toBeLessThan(100)
    expect(gasoline.issues.find(issue => issue.severity === 'critical')?.description).toContain(
      '2026-11-10',
    )
  })

  test('a quality report returns different 404 codes for a code without data and for an unknown code', async () => {
    const instance = openTestInstance()
    const refusal = async (code: string) => {
      const response = await instance.get(`/v1/data-quality/reports/${code}`, instance.key('free'))
      return [response.status, (await json<{ error: { code: string } }>(response)).error.code]
    }
    expect(await refusal('GASOLINE_USD')).toEqual([404, 'DATA_NOT_AVAILABLE'])
    expect(await refusal('NO_SUCH_USD')).toEqual([404, 'NOT_FOUND'])
  })
})

describe('GET /v1/data-quality/summary and /v1/data-quality/reports', () => {
  test('is the mean over the codes that have data, with their issues', async () => {
    const instance = openTestInstance()
    record(instance, 'GASOLINE_USD')
    record(instance, 'HEATING_OIL_USD', gone)
    const body = await json<{ data: Summary }>(
      instance.get('/v1/data-quality/summary', instance.key('free')),
    )
    expectShape(instance.app, '/v1/data-quality/summary', body)
    const [good, bad] = [
      await report(instance, 'GASOLINE_USD'),
      await report(instance, 'HEATING_OIL_USD'),
    ]
    expect(body.data).toMatchObject({
      total_commodities: 2,
      total_issues: 1,
      overall_quality: 'excellent',
      sources_with_issues: 0,
    })
    expect(body.data.overall_score).toBeCloseTo((good.quality_score + bad.quality_score) / 2, 1)
    expect(body.data.breakdown.completeness).toBeCloseTo(
      (good.completeness + bad.completeness) / 2,
      1,
    )
    expect(body.data.recent_alerts).toMatchObject([
      {
        severity: 'warning',
        message: expect.stringContaining('HEATING_OIL_USD: No observation in 3 of '),
      },
    ])
  })

  test('the data quality of an empty instance is unknown', async () => {
    expect(await summary(openTestInstance())).toMatchObject({
      overall_score: 0,
      overall_quality: 'unknown',
      total_commodities: 0,
      total_issues: 0,
    })
  })

  test('by code is a row for each, all or those of one status', async () => {
    const instance = openTestInstance()
    record(instance, 'GASOLINE_USD')
    record(
      instance,
      'HEATING_OIL_USD',
      days.filter((_, i) => i % 4 === 1),
    )
    const rows = async (query: string) => {
      const body = await json<{
        data: { reports: { code: string; status: string }[]; count: number }
      }>(instance.get(`/v1/data-quality/reports${query}`, instance.key('free')))
      expectShape(instance.app, '/v1/data-quality/reports', body)
      expect(body.data.count).toBe(body.data.reports.length)
      return body.data.reports.map(row => [row.code, row.status])
    }
    expect(await rows('')).toEqual([
      ['GASOLINE_USD', 'healthy'],
      ['HEATING_OIL_USD', 'warning'],
    ])
    expect(await rows('?status=warning')).toEqual([['HEATING_OIL_USD', 'warning']])
    record(instance, 'HEATING_OIL_USD')
    expect(await rows('')).toEqual([
      ['GASOLINE_USD', 'healthy'],
      ['HEATING_OIL_USD', 'healthy'],
    ])
    expect(
      (await instance.get('/v1/data-quality/reports?status=fine', instance.key())).status,
    ).toBe(400)
  })
})
