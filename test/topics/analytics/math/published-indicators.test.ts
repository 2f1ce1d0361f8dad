import { expect, test } from 'bun:test'
import { ATR, BollingerBands, EMA, MACD, RSI, SMA } from 'technicalindicators'
import {
  atr,
  bollinger,
  type DayRange,
  ema,
  macd,
  rsi,
  sma,
} from '../../../../src/topics/analytics/math/indicators.ts'
import type { Close } from '../../../../src/topics/prices/math/window.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses } from '../../../support/real-data.ts'

const files = ['oil-prices/wti-daily.csv', 'natural-gas/daily.csv']

/** Within 1e-6, one by one. */
function same(ours: readonly (number | undefined)[], theirs: readonly (number | undefined)[]) {
  expect(ours.length).toBe(theirs.length)
  const apart = ours.findIndex(
    (value, i) =>
      Math.abs((value ?? 0) - (theirs[i] ?? 0)) > 1e-6 * Math.max(1, Math.abs(value ?? 0)),
  )
  expect([apart, ours[apart], theirs[apart]]).toEqual([-1, undefined, undefined])
}

/** Bars of five closes each. */
function ranges(closes: readonly Close[]): DayRange[] {
  const bars: DayRange[] = []
  for (let i = 0; i + 5 <= closes.length; i += 5) {
    const values = closes.slice(i, i + 5).map(({ value }) => value)
    const { day } = closes[i]!
    bars.push({ day, high: Math.max(...values), low: Math.min(...values), close: values[4]! })
  }
  return bars
}

needs('../shared/data').describe('indicators of real series', () => {
  test.each(files)('%s: as technicalindicators has them, at every date', file => {
    const closes = realCloses(file)
    expect(closes.length).toBeGreaterThan(1000)
    const values = closes.map(({ value }) => value)
    const numbers = (list: readonly Close[]) => list.map(({ value }) => value)

    same(numbers(sma(closes, 20)), SMA.calculate({ period: 20, values }))
    same(numbers(ema(closes, 20)), EMA.calculate({ period: 20, values }))
    const bands = BollingerBands.calculate({ period: 20, stdDev: 2, values })
    const ours = bollinger(closes, 20)
    same(
      ours.map(({ upper }) => upper),
      bands.map(({ upper }) => upper),
    )
    same(
      ours.map(({ lower }) => lower),
      bands.map(({ lower }) => lower),
    )
    const theirs = MACD.calculate({
      fastPeriod: 12,
      slowPeriod: 26,
      signalPeriod: 9,
      SimpleMAOscillator: false,
      SimpleMASignal: false,
      values,
    })
    const line = macd(closes)
    same(
      line.map(({ value }) => value),
      theirs.map(({ MACD }) => MACD),
    )
    same(
      line.map(({ signal }) => signal),
      theirs.map(({ signal }) => signal),
    )
    const bars = ranges(closes)
    same(
      numbers(atr(bars, 14)),
      ATR.calculate({
        period: 14,
        high: bars.map(({ high }) => high),
        low: bars.map(({ low }) => low),
        close: bars.map(({ close }) => close),
      }),
    )
    // Theirs is rounded to two decimals.
    const strengths = RSI.calculate({ period: 14, values })
    const exact = numbers(rsi(closes, 14))
    expect(exact.length).toBe(strengths.length)
    for (const [i, value] of strengths.entries())
      expect(Math.abs(exact[i]! - value)).toBeLessThanOrEqual(0.00501)
  })
})
