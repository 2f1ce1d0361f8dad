import { changePercent } from '../../prices/math/change.ts'
import { decimalDifference } from '../../prices/math/format.ts'

/** One contract month of a futures curve, nearest first; price in the unit of the series. */
export interface CurvePoint {
  /** `YYYY-MM`. */
  month: string
  price: number
}

export type CurveShape = 'contango' | 'backwardation' | 'flat' | 'mixed'
export type Steepness = 'flat' | 'moderate' | 'steep'
export type Severity = 'none' | 'mild' | 'moderate' | 'steep'

const flatPercent = 0.5
const mildPercent = 2
const moderatePercent = 5

/** 100 x (to - from) / |from|, percent; undefined when `from` is 0. */
export function slopePercent(from: number, to: number): number | undefined {
  return changePercent(from, to)
}

/** Months from `YYYY-MM` to `YYYY-MM`; negative backwards. */
export function monthsBetween(from: string, to: string): number {
  const months = (month: string) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7))
  return months(to) - months(from)
}

const inFlatBand = (percent: number | undefined): boolean =>
  percent !== undefined && Math.abs(percent) < flatPercent

/**
 * Flat within 0.5 percent; mixed when most steps go the other way than front to back; rising is
 * contango, falling backwardation.
 */
function shapeOf(prices: readonly number[], slope: number | undefined): CurveShape {
  const rise = prices.at(-1)! - prices[0]!
  if (rise === 0 || inFlatBand(slope)) return 'flat'
  const balance = prices.slice(1).reduce((sum, price, i) => sum + Math.sign(price - prices[i]!), 0)
  if (balance * rise < 0) return 'mixed'
  return rise > 0 ? 'contango' : 'backwardation'
}

/** Front against back, in the unit of the series and in percent of the front. */
export interface CurveAnalysis {
  shape: CurveShape
  front: CurvePoint
  back: CurvePoint
  /** Back minus front. */
  totalSlope: number
  slopePercent: number | undefined
  averagePrice: number
  /** Highest minus lowest. */
  priceRange: number
  steepness: Steepness
}

/** Analyses a curve with at least one point, nearest month first; undefined without any. */
export function analyseCurve(points: readonly CurvePoint[]): CurveAnalysis | undefined {
  const [front, back] = [points[0], points.at(-1)]
  if (!front || !back) return undefined
  const prices = points.map(point => point.price)
  const percent = slopePercent(front.price, back.price)
  const size = Math.abs(percent ?? 0)
  return {
    shape: shapeOf(prices, percent),
    front,
    back,
    totalSlope: back.price - front.price,
    slopePercent: percent,
    averagePrice: prices.reduce((sum, price) => sum + price, 0) / prices.length,
    priceRange: Math.max(...prices) - Math.min(...prices),
    steepness: size < flatPercent ? 'flat' : size < moderatePercent ? 'moderate' : 'steep',
  }
}

/** The term structure of a curve. Positive spreads are backwardation. */
export interface CurveStructure {
  structure: CurveShape
  severity: Severity
  /** 100 x (m12 - m1) / |m1|, percent; with fewer months, the last one replaces m12. */
  termSlopePercent: number | undefined
  front: CurvePoint
  points: number
}

export function severityOf(termSlopePercent: number | undefined): Severity {
  const size = Math.abs(termSlopePercent ?? 0)
  if (size < flatPercent) return 'none'
  if (size < mildPercent) return 'mild'
  return size < moderatePercent ? 'moderate' : 'steep'
}

/** The structure of the first twelve listed months; undefined without any. */
export function structureOf(points: readonly CurvePoint[]): CurveStructure | undefined {
  const months = points.slice(0, 12)
  const [front, back] = [months[0], months.at(-1)]
  if (!front || !back) return undefined
  const percent = slopePercent(front.price, back.price)
  return {
    structure: shapeOf(
      months.map(point => point.price),
      percent,
    ),
    severity: severityOf(percent),
    termSlopePercent: percent,
    front,
    points: months.length,
  }
}

/**
 * Positions (1 = front) of the calendar spreads of a curve: neighbours in order, then the first
 * against the 3rd, 6th and 12th.
 */
export function calendarPairs(count: number): [number, number][] {
  const neighbours = Array.from({ length: Math.max(0, count - 1) }, (_, i): [number, number] => [
    i + 1,
    i + 2,
  ])
  const legs = [3, 6, 12].filter(n => n <= count).map((n): [number, number] => [1, n])
  return [...neighbours, ...legs]
}

/**
 * First minus second, unit of the series, and that in percent of the second's size (undefined when
 * it is 0).
 */
export function calendarSpread(
  first: number,
  second: number,
): { spread: number; percent: number | undefined } {
  return {
    spread: decimalDifference(first, second),
    percent: second === 0 ? undefined : (100 * (first - second)) / Math.abs(second),
  }
}
