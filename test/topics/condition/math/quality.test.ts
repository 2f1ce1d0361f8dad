import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, isoDay, parseDay, parseInstant } from '../../../../src/lib/time/instant.ts'
import { isTradingDay } from '../../../../src/topics/calendars/math/calendar.ts'
import type { Cadence } from '../../../../src/topics/catalogue/math/catalogue.ts'
import {
  type DayFacts,
  isolated,
  qualityOf,
  qualityWeights,
  weighted,
} from '../../../../src/topics/condition/math/quality.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses } from '../../../support/real-data.ts'

const now = parseInstant('2026-11-20T22:00:00Z')!

/** A day with one observation at 19:30 UTC, recorded ten minutes later. */
const dayOf = (day: string, value = 70, more: Partial<DayFacts> = {}): DayFacts => {
  const startsAt = parseDay(day)!
  const closedAt = startsAt + 19.5 * hourMs
  return {
    startsAt,
    open: value,
    high: value,
    low: value,
    close: value,
    sum: value,
    count: 1,
    closedAt,
    bornAt: closedAt + 600_000,
    observed: { count: 1, low: value, high: value },
    ...more,
  }
}

/** Days of `[from, to]` that pass. */
const daysBetween = (from: string, to: string, passes: (at: number) => boolean): string[] => {
  const days: string[] = []
  for (let at = parseDay(from)!; at <= parseDay(to)!; at += dayMs)
    if (passes(at)) days.push(isoDay(at))
  return days
}
const tradingDays = daysBetween('2026-08-24', '2026-11-20', at => isTradingDay('us_energy', at))
const fridays = daysBetween('2025-11-28', '2026-11-20', at => new Date(at).getUTCDay() === 5)

const judge = (
  days: readonly DayFacts[],
  cadence: Cadence = 'daily',
  more: Partial<Parameters<typeof qualityOf>[0]> = {},
) =>
  qualityOf({
    listing: { code: 'WTI_USD', category: 'crude_oil', cadence },
    decimals: 2,
    days,
    quarantined: [],
    firstAt: days[0]!.startsAt,
    lastAt: days.at(-1)!.closedAt,
    now,
    ...more,
  })

describe('qualityOf: a daily series', () => {
  test('with every trading day in time and in order scores 100 in everything', () => {
    const report = judge(tradingDays.map((day, i) => dayOf(day, 70 + Math.sin(i))))
    expect(report).toMatchObject({
      completeness: 100,
      timeliness: 100,
      accuracy: 100,
      consistency: 100,
      score: 100,
      status: 'healthy',
    })
    expect(report).toMatchObject({
      expectedPoints: tradingDays.length,
      missingPoints: 0,
      issues: [],
    })
  })

  test('the quality report of a daily series covers ninety days, or as far as the series reaches back', () => {
    const long = judge(
      tradingDays.map(day => dayOf(day)),
      'daily',
      { firstAt: parseDay('2020-01-01')! },
    )
    expect({ fromOn: long.fromOn, toOn: long.toOn }).toEqual({
      fromOn: '2026-08-22',
      toOn: '2026-11-20',
    })
    expect(judge(tradingDays.slice(10).map(day => dayOf(day))).fromOn).toBe(tradingDays[10]!)
  })

  test('a daily series with missing days loses completeness for each and reports how many and the last', () => {
    const gone = [tradingDays[20]!, tradingDays[40]!, tradingDays[41]!]
    const report = judge(tradingDays.filter(day => !gone.includes(day)).map(day => dayOf(day)))
    expect(report.missingPoints).toBe(3)
    expect(report.completeness).toBeCloseTo(
      (100 * (tradingDays.length - 3)) / tradingDays.length,
      10,
    )
    expect(report.score).toBeCloseTo(
      100 - qualityWeights.completeness * (300 / tradingDays.length),
      10,
    )
    expect(report.issues).toEqual([
      {
        kind: 'missing',
        severity: 'warning',
        affectedPoints: 3,
        description: `No observation in 3 of ${tradingDays.length} trading days, the last from ${gone[2]}.`,
        detectedAt: parseDay(gone[2]!)! + dayMs,
      },
    ])
  })

  test('a daily series that lacks a tenth of its days is reported as critical', () => {
    const report = judge(tradingDays.filter((_, i) => i % 8 !== 3).map(day => dayOf(day)))
    expect(report.issues.map(issue => [issue.kind, issue.severity])).toEqual([
      ['missing', 'critical'],
    ])
  })

  test('does not lack weekends, holidays and quarantined days', () => {
    const quarantined = [tradingDays[20]!]
    const report = judge(
      tradingDays.filter(day => day !== quarantined[0]).map(day => dayOf(day)),
      'daily',
      { quarantined },
    )
    expect(report).toMatchObject({
      missingPoints: 0,
      expectedPoints: tradingDays.length - 1,
      score: 100,
    })
    expect(report.issues).toMatchObject([
      { kind: 'quarantined', severity: 'info', affectedPoints: 1 },
    ])
  })

  test('that stopped is late first, and lacks its days only when it is stale', () => {
    const until = (day: string) =>
      tradingDays.filter(tradingDay => tradingDay <= day).map(tradingDay => dayOf(tradingDay))
    const delayed = judge(until('2026-11-18'))
    expect(delayed).toMatchObject({
      missingPoints: 0,
      completeness: 100,
      timeliness: 60,
      status: 'warning',
    })
    const stale = judge(until('2026-11-06'))
    // 9 to 13 and 16 to 19 November; the 20th is not over.
    expect(stale).toMatchObject({
      missingPoints: 9,
      timeliness: 0,
      status: 'critical',
    })
    expect(stale.issues.map(issue => issue.kind)).toEqual(['stale', 'missing'])
  })

  test('whose observations come late loses timeliness, but not for history that came in at once', () => {
    const days = tradingDays.map((day, i) => {
      const facts = dayOf(day)
      return i === 30 ? { ...facts, bornAt: facts.closedAt + 9 * dayMs } : facts
    })
    const report = judge(days)
    expect(report).toMatchObject({
      lateUpdates: 1,
      issues: [{ kind: 'late', affectedPoints: 1, detectedAt: days[30]!.bornAt }],
    })
    // The first day was made before it was recorded: it began the record and is not judged.
    expect(report.timeliness).toBeCloseTo(
      (100 * (tradingDays.length - 2)) / (tradingDays.length - 1),
      10,
    )
    const importedAt = parseInstant('2026-11-20T21:00:00Z')!
    expect(judge(days.map(day => ({ ...day, bornAt: importedAt })))).toMatchObject({
      lateUpdates: 0,
      timeliness: 100,
    })
  })

  test('a daily series with an outlier day loses accuracy for it', () => {
    const days = tradingDays.map((day, i) => dayOf(day, i === 33 ? 700 : 70 + (i % 3)))
    const report = judge(days)
    expect(report).toMatchObject({ anomalies: 1, issues: [{ kind: 'anomaly', affectedPoints: 1 }] })
    expect(report.accuracy).toBeCloseTo(100 - 100 / days.length, 10)
    expect(report.issues[0]!.description).toContain(tradingDays[33]!)
  })

  test('with one wrong value inside a day is found by the low of the day', () => {
    const days = tradingDays.map((day, i) => {
      const low = i === 33 ? 7 : 69
      return dayOf(day, 70, {
        low,
        count: 3,
        sum: 209,
        open: 70,
        observed: { count: 3, low, high: 70 },
      })
    })
    expect(judge(days)).toMatchObject({ anomalies: 1, consistency: 100 })
  })

  for (const [name, more] of [
    ['whose low is above its close', { low: 71, observed: { count: 1, low: 71, high: 70 } }],
    ['whose high is under its open', { open: 72 }],
    ['whose mean lies outside', { sum: 75 }],
    ['that counts another number of observations', { observed: { count: 2, low: 70, high: 70 } }],
    ['whose observations have another low', { observed: { count: 1, low: 69, high: 70 } }],
    ['without observations', { observed: undefined }],
  ] as const) {
    test(`with a bar ${name} loses consistency`, () => {
      const days = tradingDays.map((day, i) => dayOf(day, 70, i === 12 ? more : {}))
      const report = judge(days)
      expect(report.consistency).toBeCloseTo(100 - 100 / days.length, 10)
      expect(report.issues).toMatchObject([{ kind: 'inconsistent', severity: 'critical' }])
    })
  }
})

describe('qualityOf: other cadences', () => {
  test('a weekly series has one observation a week, on whatever day', () => {
    const shifted = fridays.map((day, i) =>
      i % 5 === 0 ? isoDay(parseDay(day)! - 2 * dayMs) : day,
    )
    const weekly = {
      listing: { code: 'CUSHING_STORAGE', category: 'storage', cadence: 'weekly' as const },
    }
    expect(
      judge(
        shifted.map(day => dayOf(day)),
        'weekly',
        weekly,
      ),
    ).toMatchObject({ missingPoints: 0, score: 100 })
    const report = judge(
      shifted.filter((_, i) => i !== 7 && i !== 20).map(day => dayOf(day)),
      'weekly',
      weekly,
    )
    expect(report).toMatchObject({ missingPoints: 2, expectedPoints: fridays.length })
    expect(report.issues[0]!.description).toStartWith(
      `No observation in 2 of ${fridays.length} weeks`,
    )
  })

  test('a monthly series has one a month', () => {
    const months = daysBetween('2023-12-01', '2026-11-01', at => new Date(at).getUTCDate() === 1)
    const monthly = {
      listing: { code: 'OPEC_PRODUCTION', category: 'supply_demand', cadence: 'monthly' as const },
    }
    expect(
      judge(
        months.map(day => dayOf(day)),
        'monthly',
        monthly,
      ),
    ).toMatchObject({ missingPoints: 0, expectedPoints: 36 })
    expect(
      judge(
        months.filter(day => day !== '2025-03-01').map(day => dayOf(day)),
        'monthly',
        monthly,
      ),
    ).toMatchObject({ missingPoints: 1 })
  })
})

describe('isolated: values that stand alone', () => {
  test('are not the steps of a price that rarely moves, nor a jump that lasts', () => {
    expect(isolated([10, 10, 10, 10.2, 10.2, 10.2, 10.2, 10.2, 10.4, 10.4, 10.4], 2)).toEqual([])
    expect(isolated([10, 11, 10, 11, 10, 30, 31, 30, 31, 30, 31], 2)).toEqual([])
  })

  test('have neighbours on both sides to be judged by', () => {
    expect(isolated([10, 11, 10, 11, 10, 11, 90], 2)).toEqual([])
    expect(isolated([10, 11, 10, 11, 10, 90, 11, 10], 2)).toEqual([5])
    expect(isolated([10, 11, 900, 11], 2)).toEqual([])
  })

  test('are those far from the median of five around them, in any series', () => {
    const middle = (values: readonly number[]) => {
      const sorted = values.toSorted((a, b) => a - b)
      const half = sorted.length >> 1
      return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
    }
    const byDefinition = (values: readonly number[], decimals: number) => {
      const changes = values.slice(1).map((value, i) => Math.abs(value - values[i]!))
      const level = middle(values.map(Math.abs))
      const deviation = Math.max(1.4826 * middle(changes), 0.004 * level, 10 ** -decimals)
      return values.flatMap((value, i) =>
        i >= 2 &&
        i < values.length - 2 &&
        Math.abs(value - middle(values.slice(i - 2, i + 3))) > 8 * deviation
          ? [i]
          : [],
      )
    }
    const step = fc.record({
      by: fc.integer({ min: -50, max: 50 }),
      // One in six is far from the others.
      aside: fc.oneof(
        { weight: 5, arbitrary: fc.constant(0) },
        fc.integer({ min: -2000, max: 2000 }),
      ),
    })
    let found = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 3, maxLength: 70 }), steps => {
        let level = 7000
        const values = steps.map(({ by, aside }) => {
          level += by
          return (level + aside) / 100
        })
        const positions = isolated(values, 2)
        expect(positions).toEqual(byDefinition(values, 2))
        found += positions.length
      }),
      { seed: 20_261_127, numRuns: 500 },
    )
    expect(found).toBeGreaterThan(100)
  })

  needs('../shared/data').test(
    'of WTI since 1986 are 2020-04-20 alone, in windows of ninety days',
    () => {
      const closes = realCloses('oil-prices/wti-daily.csv')
      const anomalies = new Set<string>()
      for (let i = 0; i + 64 <= closes.length; i += 32) {
        const part = closes.slice(i, i + 64)
        for (const at of isolated(
          part.map(close => close.value),
          2,
        ))
          anomalies.add(part[at]!.day)
      }
      expect([...anomalies]).toEqual(['2020-04-20'])
    },
  )
})

test('the weights of the four scores add up to one', () => {
  expect(
    weighted({ completeness: 100, timeliness: 100, accuracy: 100, consistency: 100 }),
  ).toBeCloseTo(100, 10)
})
