import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, isoDay, minuteMs } from '../../../../src/lib/time/instant.ts'
import {
  type ContractDay,
  mergeDays,
  monthsBefore,
  onGrid,
  stretchesOf,
} from '../../../../src/topics/futures/math/contract-days.ts'
import {
  lastTradingDay,
  listedMonths,
  monthAfter,
  sessionOn,
  tradingDate,
  tradingSpan,
} from '../../../../src/topics/futures/math/contracts.ts'
import { families } from '../../../../src/topics/futures/math/families.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { runs } from '../../../support/full.ts'

const anyDay = fc
  .integer({ min: Date.UTC(2010, 0, 1) / dayMs, max: Date.UTC(2035, 0, 1) / dayMs })
  .map(day => isoDay(day * dayMs))
const anyFamily = fc.constantFrom(...families)

describe('trading dates', () => {
  test('every instant belongs to exactly one trading date, on every day and across every clock change', () => {
    fc.assert(
      fc.property(
        anyFamily,
        fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2035, 0, 1) }),
        (family, instant) => {
          const date = tradingDate(family, instant)
          const { from, to } = tradingSpan(family, date)
          expect(instant >= from && instant < to).toBe(true)
          expect(tradingSpan(family, dayAfter(date, 1)).from).toBe(to)
          expect(to - from).toBeGreaterThanOrEqual(23 * hourMs)
        },
      ),
      { numRuns: runs(300) },
    )
  })

  test('a session belongs to its trading date and to the calendar day of its close', () => {
    fc.assert(
      fc.property(anyFamily, anyDay, (family, date) => {
        const { opensAt, closesAt } = sessionOn(family, date)
        const span = tradingSpan(family, date)
        expect(opensAt >= span.from && opensAt < closesAt && closesAt <= span.to).toBe(true)
        expect(isoDay(closesAt)).toBe(date)
        expect((closesAt - opensAt) % (5 * minuteMs)).toBe(0)
      }),
      { numRuns: runs(300) },
    )
  })
})

describe('stretchesOf', () => {
  test('cover a range once, each under the front month of its dates, and change after the last trading day', () => {
    fc.assert(
      fc.property(anyFamily, anyDay, fc.integer({ min: 0, max: 400 }), ({ code }, from, length) => {
        const to = dayAfter(from, length)
        const stretches = stretchesOf(code, from, to)
        expect({ from: stretches.at(-1)?.from, to: stretches[0]?.to }).toEqual({ from, to })
        for (const [i, stretch] of stretches.entries()) {
          expect(listedMonths(code, stretch.from, 1)[0]).toBe(stretch.front)
          expect(listedMonths(code, stretch.to, 1)[0]).toBe(stretch.front)
          const older = stretches[i + 1]
          if (!older) continue
          expect(stretch.from).toBe(dayAfter(older.to, 1))
          expect({ front: stretch.front, to: older.to }).toEqual({
            front: monthAfter(older.front, 1),
            to: lastTradingDay(code, older.front),
          })
        }
      }),
      { numRuns: 100 },
    )
  })
})

const day = (
  tradedOn: string,
  open: number,
  high: number,
  low: number,
  close: number,
  settlement: number | null = null,
): ContractDay => ({
  month: '2027-01',
  code: 'WTI_FUTURES_2027_01',
  tradedOn,
  open,
  high,
  low,
  close,
  settlement,
  volume: 100,
  openInterest: null,
  quotedAt: Date.parse(`${tradedOn}T22:00:00Z`),
  recordedAt: 0,
  source: 'import',
})

test('weeks begin on Monday; the last day gives close, settlement and date, the first the open', () => {
  const days = [
    day('2026-11-17', 74, 79, 73, 78, 77.5),
    day('2026-11-16', 72, 75, 71, 74, 73.9),
    day('2026-11-13', 70, 72, 69, 71, 70.8),
    day('2026-11-12', 68, 71, 66, 70),
  ]
  expect(mergeDays('week', days)).toEqual([
    { ...days[0]!, open: 72, high: 79, low: 71, volume: 200 },
    { ...days[2]!, open: 68, high: 72, low: 66, volume: 200 },
  ])
  expect(mergeDays('month', days)).toEqual([
    { ...days[0]!, open: 68, high: 79, low: 66, volume: 400 },
  ])
  expect(days[0]!.volume).toBe(100)
})

test('ticks finer than the grid give the last price of each step and the sum of their volumes', () => {
  const minute = Date.parse('2026-11-20T14:00:00Z')
  const tick = (minutes: number, price: number) => ({
    tradedAt: minute + minutes * minuteMs,
    price,
    volume: 10,
  })
  expect(onGrid([tick(1, 70), tick(4.9, 71), tick(5, 72), tick(14, 73)], 5 * minuteMs)).toEqual([
    { tradedAt: minute, price: 71, volume: 20 },
    { tradedAt: minute + 5 * minuteMs, price: 72, volume: 10 },
    { tradedAt: minute + 10 * minuteMs, price: 73, volume: 10 },
  ])
})

test('months before a day end on the last day where a month is shorter', () => {
  const cases: [string, number, string][] = [
    ['2026-11-20', 1, '2026-10-20'],
    ['2026-03-31', 1, '2026-02-28'],
    ['2024-03-31', 1, '2024-02-29'],
    ['2026-01-15', 1, '2025-12-15'],
    ['2026-11-30', 60, '2021-11-30'],
  ]
  for (const [from, months, expected] of cases) expect(monthsBefore(from, months)).toBe(expected)
})

test('days of two contracts are never merged into one bar, and an unknown volume stays unknown', () => {
  const front = { ...day('2026-11-19', 70, 71, 69, 70.5), month: '2026-12', code: 'WTI_2026_12' }
  const next = { ...day('2026-11-20', 72, 74, 71, 73), volume: null }
  const bars = mergeDays('week', [next, front])
  expect(bars.map(bar => [bar.code, bar.open, bar.close, bar.volume])).toEqual([
    ['WTI_FUTURES_2027_01', 72, 73, null],
    ['WTI_2026_12', 70, 70.5, 100],
  ])
  expect(mergeDays('week', [next, day('2026-11-18', 70, 71, 69, 70.5)])[0]!.volume).toBeNull()
})
