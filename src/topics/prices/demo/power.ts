import { dayMs, hourMs, minuteMs, secondMs } from '../../../lib/time/instant.ts'
import { zoneClock } from '../../../lib/time/zone-clock.ts'
import { dayAt, type Period, periodsOf, publishedAt } from '../../delivery/math/days.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'
import type { Observation } from '../math/bars.ts'
import type { Depth } from './history-depth.ts'
import { draw, keyOf, normal, uniform } from './noise.ts'
import type { WorldSeries } from './series.ts'
import type { World } from './world.ts'

type DeliverySeries = WorldSeries & { delivery: DeliveryTerms }

const isDelivery = (series: WorldSeries): series is DeliverySeries => series.delivery !== undefined

/** Days of delivery periods that a demo instance holds: more of the main markets. */
const mainDays = 62
const otherDays = 9
const fineDays = 16
const isMain = ({ code }: WorldSeries): boolean =>
  /^(POWER_DA_(DE_LU|FR|NL)_EUR|POWER_HH_GB_GBP|(LOAD|WIND|SOLAR)_DE_LU)/.test(code)
const daysOf = (series: WorldSeries): number => {
  if (series.cadence === 'daily') return 400
  if (isMain(series)) return mainDays
  return series.code.startsWith('POWER_AU_NSW1') ? fineDays : otherDays
}

/** An auction is held at most this long before its day begins. */
const auctionAheadMs = 3 * dayMs
/** Longer than a market day. */
const longestDayMs = 26 * hourMs

/**
 * Adds power, gas, load, wind and solar by delivery period: mornings and evenings are dear, solar
 * noons cheap and sometimes negative, and neighbours share their weather.
 */
export function withPower(
  world: World,
  seed: number,
  series: readonly WorldSeries[],
  daysMax = Number.POSITIVE_INFINITY,
): World {
  const byCode = new Map(
    series
      .filter(series => series.available)
      .filter(isDelivery)
      .map(series => [series.code, series]),
  )
  const values = new Map<string, (period: Period) => number>()
  const valuesOf = (series: DeliverySeries) => {
    return values.getOrInsertComputed(series.code, () => createValues(seed, series))
  }
  const observations = (code: string, from: number, to: number, depth?: Depth): Observation[] => {
    const series = byCode.get(code)
    if (!series) return world.observations(code, from, to, depth)
    const since = Math.max(from, depth ? Math.max(depth.from, depth.rawFrom) : from)
    const priceOf = valuesOf(series)
    const key = keyOf(`${seed}/published/${code}`)
    const until = series.delivery.publishesAt === undefined ? to : to + auctionAheadMs
    const found: Observation[] = []
    for (let at = since - longestDayMs; at < until; ) {
      const day = dayAt(series.delivery, at)
      at = day.to
      const auction = publishedAt(series.delivery, day.date)
      if (auction !== undefined && (auction + hourMs < from || auction >= to)) continue
      for (const period of periodsOf(series.delivery, day)) {
        const recordedAt =
          auction === undefined
            ? period.end + (draw(key, period.start / minuteMs) % (20 * secondMs))
            : auction + (draw(key, day.from / minuteMs) % (4 * minuteMs))
        if (recordedAt < from || recordedAt >= to) continue
        found.push({ observedAt: period.start, value: priceOf(period), recordedAt })
      }
    }
    return found
  }
  return {
    observations,
    history(code, now) {
      const series = byCode.get(code)
      return series
        ? observations(code, now - Math.min(daysMax, daysOf(series)) * dayMs, now)
        : world.history(code, now)
    },
  }
}

/** Where a market's weather is from; south of the equator the seasons are turned. */
const regionOf = (code: string): string =>
  /^(POWER|LOAD)_AU_/.test(code)
    ? 'south'
    : /_HUB_USD$/.test(code) || (code.startsWith('LOAD_') && !/_DE_/.test(code))
      ? 'us'
      : 'eu'

const bell = (hour: number, at: number, width: number): number =>
  Math.exp(-(((hour - at) / width) ** 2))

function createValues(seed: number, { code, level, decimals, delivery }: DeliverySeries) {
  const clock = zoneClock(delivery.zone)
  const region = regionOf(code)
  // A forecast has the weather of what it forecasts.
  const [shared, own, fine] = ['shared', code.replace('_FORECAST', ''), `${code}/fine`].map(name =>
    keyOf(`${seed}/power/${region}/${name}`),
  ) as [number, number, number]
  const scale = 10 ** decimals
  /** The weather of a day, mostly shared with the neighbours: around 0. */
  const weather = (day: number, kind: number): number =>
    0.85 * normal(shared, day * 8 + kind) + 0.45 * normal(own, day * 8 + kind)
  /** The same through the day, without a step at midnight. */
  const through = (day: number, hour: number, kind: number): number => {
    const share = hour / 24
    return (1 - share) * weather(day, kind) + share * weather(day + 1, kind)
  }

  return ({ start, end }: Period): number => {
    const local = clock.localAt((start + end) / 2)
    const day = Math.floor(local / dayMs)
    const hour = (local - day * dayMs) / hourMs
    const isWeekend = (day + 3) % 7 > 4
    const yearly = Math.sin((2 * Math.PI * (day - 80)) / 365.25) * (region === 'south' ? -1 : 1)
    const halfDay = 6 + 2.1 * yearly
    const height = Math.cos((Math.PI / 2) * Math.min(1, Math.abs(hour - 12.6) / halfDay))
    const clearness = Math.min(1, Math.max(0.15, 0.62 + 0.22 * weather(day, 1)))
    const sun = height * (0.58 + 0.42 * yearly) * clearness
    const wind = 1 / (1 + Math.exp(0.9 - 1.1 * through(day, hour, 2) + 0.35 * yearly))
    const demand =
      0.78 +
      0.14 * bell(hour, 8.2, 2.2) +
      0.1 * bell(hour, 13, 3) +
      0.2 * bell(hour, 18.8, 2.1) -
      0.1 * bell(hour, 3.5, 3) -
      (isWeekend ? 0.11 : 0) -
      0.05 * yearly +
      0.03 * through(day, hour, 3)
    const jitter = normal(fine, start / minuteMs)
    const value = () => {
      if (code.startsWith('GAS_')) return level * (1 + 0.06 * weather(day, 4) - 0.08 * yearly)
      if (code.startsWith('LOAD_')) return level * (demand + 0.14) * (1 + 0.006 * jitter)
      if (code.startsWith('WIND_')) return level * 2.6 * wind * (1 + 0.02 * jitter)
      if (code.startsWith('SOLAR_')) return level * 5.2 * sun * (1 + 0.02 * jitter)
      const tight = 1.1 + 3.1 * (demand - 0.85) - 1.45 * sun - 0.8 * (wind - 0.3)
      const spike = region === 'south' && uniform(fine, start / minuteMs) < 0.002 ? 9 : 0
      const price = tight + 0.12 * weather(day, 4) + 0.03 * jitter
      // Producers stop before prices fall far below zero.
      return level * ((price < 0 ? 0.3 * price : price) + spike)
    }
    return Math.round(value() * scale) / scale
  }
}
