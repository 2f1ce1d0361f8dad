import type { Close } from '../../prices/math/window.ts'
import { forecast } from './forecast.ts'

/** Where a price may be in a month, in the unit of the series. */
export interface MonthForecast {
  point: number
  low: number
  high: number
  /** 0..1: the lower bound as a share of the point, so that a calm price comes near 1. */
  confidence: number
  level: 'low' | 'medium' | 'high'
  method: string
}

const lookbackDays = 90
const monthDays = 30

/**
 * At least 0.9 of the point at the lower bound is high, at least 0.8 medium: about 30 and 65
 * percent of annual volatility.
 */
export function confidenceLevel(confidence: number): MonthForecast['level'] {
  if (confidence >= 0.9) return 'high'
  return confidence >= 0.8 ? 'medium' : 'low'
}

/**
 * The combined forecast 30 days ahead over a lookback of 90, with its one-sigma bounds (probability
 * 0.6827) and confidence exp(-sigma sqrt(n)), n the closes in 30 days; undefined with too few closes
 * or a price in the lookback that is not positive.
 */
export function monthForecast(closes: readonly Close[]): MonthForecast | undefined {
  const monthly = forecast(closes, 'combined', lookbackDays, [monthDays])
  if (!monthly.enough) return undefined
  const { value: point, sigma1 } = monthly.value.projections[0]!
  const confidence = sigma1.low / point
  return {
    point,
    low: sigma1.low,
    high: sigma1.high,
    confidence,
    level: confidenceLevel(confidence),
    method: 'combined',
  }
}

/** The facts about one commodity in the narrative; numbers in the unit of the series. */
export interface BriefItem {
  name: string
  price: number
  currency: string | null
  unit: string
  decimals: number
  /** Percent over 24 hours. */
  changePercent: number | undefined
  forecast: MonthForecast | undefined
  stale: boolean
}

function movement(changePercent: number | undefined): string {
  if (changePercent === undefined) return 'without a price a day earlier to compare with'
  const size = Math.abs(changePercent).toFixed(2)
  if (Number(size) === 0) return 'unchanged over 24 hours'
  return `${changePercent > 0 ? 'up' : 'down'} ${size}% over 24 hours`
}

/**
 * `71.23 USD per barrel`, `79.40 pence per therm`, `108.20 index points`; an exchange rate is a
 * bare number.
 */
function amount({ price, currency, unit, decimals }: BriefItem): string {
  const [shownPrice, words] = [price.toFixed(decimals), unit.replaceAll('_', ' ')]
  if (unit === 'rate') return shownPrice
  return `${shownPrice} ${currency === null || unit.startsWith('pence_per_') ? words : `${currency} per ${words}`}`
}

function sentence(item: BriefItem): string {
  const text = (value: number) => value.toFixed(item.decimals)
  const summary = `${item.name} ${item.stale ? 'last stood' : 'stands'} at ${amount(item)}, ${movement(item.changePercent)}`
  if (!item.forecast) return `${summary}.`
  const { point, low, high, level } = item.forecast
  return `${summary}; the one-month projection is ${text(point)}, between ${text(low)} and ${text(high)} (${level} confidence).`
}

/**
 * Plain sentences from the numbers of the items, the largest mover of the day first; empty without
 * items.
 */
export function narrative(items: readonly BriefItem[]): string {
  const moved = items.filter(item => item.changePercent !== undefined)
  const most = moved.reduce<BriefItem | undefined>(
    (a, b) => (a && Math.abs(a.changePercent!) >= Math.abs(b.changePercent!) ? a : b),
    undefined,
  )
  const lead =
    most && moved.length > 1 ? [`${most.name} moved most, ${movement(most.changePercent)}.`] : []
  return [...lead, ...items.map(sentence)].join(' ')
}
