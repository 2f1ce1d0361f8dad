import { freeCodes } from '../../../config/keys.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import { type Cadence, isIntraday } from '../../catalogue/math/catalogue.ts'
import type { WorldSeries } from './series.ts'

/** How much of a code is generated, by the instant of observation. */
export interface Depth {
  /** Nothing before; from here one close for every day it was observed. */
  from: number
  /** From here also one close for every hour. */
  hourlyFrom: number
  /** From here every observation. */
  rawFrom: number
}

/** The codes that answers name first. */
export const leadingCodes: readonly string[] = freeCodes

export const isMainCode = ({ code, cadence }: Pick<WorldSeries, 'code' | 'cadence'>): boolean =>
  isIntraday(cadence) || leadingCodes.includes(code)

export const everyCodeFrom = Date.UTC(2020, 0, 1)
const listPricesFrom = Date.UTC(2002, 7, 23)
/** Where the public history of the spot price begins. */
const henryHubFrom = Date.UTC(1997, 0, 7)
const rigCountsFrom = Date.UTC(2013, 0, 4)
const hourlyDays = 40
const rawDays = 4
const twiceDailyDays = 400
/** A span of years that starts on a holiday must not lack its first day. */
const marginDays = 7

function yearsBefore(now: number, years: number): number {
  const d = new Date(now)
  return Date.UTC(d.getUTCFullYear() - years, d.getUTCMonth(), d.getUTCDate() - marginDays)
}

export function depthOf(series: WorldSeries, now: number): Depth {
  const from = Math.min(firstDayOf(series), yearsBefore(now, isMainCode(series) ? 10 : 5))
  if (isIntraday(series.cadence))
    return { from, hourlyFrom: now - hourlyDays * dayMs, rawFrom: now - rawDays * dayMs }
  if (series.cadence === 'twice_daily')
    return { from, hourlyFrom: now - twiceDailyDays * dayMs, rawFrom: now - twiceDailyDays * dayMs }
  return { from, hourlyFrom: from, rawFrom: from }
}

/** How far answers about all codes look back: at changes of 90 days and at the quality of the data. */
const lookBackDays: Readonly<Record<Cadence, number>> = {
  intraday_2_5m: 100,
  intraday_5m: 100,
  twice_daily: 100,
  daily: 100,
  weekly: 380,
  monthly: 1140,
}

/** A history that begins here is long enough for answers about all codes. */
export const lookBackFrom = (series: WorldSeries, now: number): number =>
  now - lookBackDays[series.cadence] * dayMs

function firstDayOf({ code, category, unit }: WorldSeries): number {
  if (code === 'NATURAL_GAS_USD') return henryHubFrom
  if (category === 'list_prices') return listPricesFrom
  return category === 'drilling' && unit === 'rigs' ? rigCountsFrom : everyCodeFrom
}
