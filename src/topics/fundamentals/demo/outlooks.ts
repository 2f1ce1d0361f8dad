import type { DemoData } from '../../../demo/demo-data.ts'
import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import { monthAfter, monthOf, parsePeriod } from '../../calendars/math/period.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { createPath, type Path } from '../../prices/demo/path.ts'
import type { World } from '../../prices/demo/world.ts'
import { dailyCloses } from '../../prices/demo/world-closes.ts'
import { roundTo } from '../../prices/math/format.ts'
import { type Close, dayAfter } from '../../prices/math/window.ts'
import type { Outlook } from '../dataset/outlooks.ts'
import { firstAt } from '../math/forecast-accuracy.ts'
import { forecastCodes, forecastPublishedAt } from '../math/monthly-forecast.ts'
import { outlookPublishedAt } from '../math/outlook.ts'
import type { OutlookStore } from '../store/outlooks.ts'

/** The publishers of forecasts, with their codes. */
const sources: readonly (readonly [source: string, codes: readonly string[]])[] = [
  [
    'EIA',
    [
      'BRENT_CRUDE_USD',
      'WTI_USD',
      'NATURAL_GAS_USD',
      'GASOLINE_USD',
      'HEATING_OIL_USD',
      'DIESEL_USD',
      'US_CRUDE_PRODUCTION',
      'OPEC_PRODUCTION',
      'US_NATGAS_PRODUCTION',
    ],
  ],
  [
    'IEA',
    ['BRENT_CRUDE_USD', 'WTI_USD', 'NATURAL_GAS_USD', 'US_CRUDE_PRODUCTION', 'OPEC_PRODUCTION'],
  ],
]

const fullPublications = 36
const horizonMonths = 12
const monthDays = 30
/** Prices are expected to come back to their usual level by half in so many months. */
const returnMonths = 24
const viewHalfLifeDays = 200
const viewWeight = 0.1
const viewMonths = 6
/** Before the oldest publication there must be a month of closes. */
const closesFromDays = 5 * 366

/**
 * Months that documentation names: a demo instance forecasts them however early its clock is set.
 */
const namedMonths = ['2026-10', '2026-11', '2026-12']

/**
 * Makes this service's own forecasts: those of a series that were due by `now`, from its closes;
 * returns how many publications.
 */
export interface ForecastMaker {
  publish(
    series: Series,
    now: number,
    closes: readonly Close[],
    options: { further: readonly string[]; inTime: boolean },
  ): number
}

interface OutlookDataDeps {
  seed: number
  world: World
  outlooks: OutlookStore
  monthly: ForecastMaker
  seriesOf(code: string): Series | undefined
  /** Publications of the agencies that there are, one a month. */
  publicationsKept?: number | undefined
}

/** Outlooks as two agencies would have published them, and this service's own of each month. */
export function createOutlookData(deps: OutlookDataDeps): DemoData {
  const { publicationsKept = fullPublications } = deps
  const agencies = agencyOutlooks(deps)
  const forecasts = ownForecasts(deps)
  return {
    percent: 4,
    *generate(now) {
      const month = monthOf(isoDay(now))
      const months = Array.from({ length: publicationsKept }, (_, n) =>
        monthAfter(month, n + 1 - publicationsKept),
      )
      agencies(
        months.filter(candidate => outlookPublishedAt(candidate) < now),
        now,
      )
      yield 0.5
      forecasts(now)
      yield 1
    },
    publish(from, to) {
      const months = monthsBetween(monthOf(isoDay(from)), monthOf(isoDay(to)))
      const isDue = (at: number) => at >= from && at < to
      const due = months.filter(month => isDue(outlookPublishedAt(month)))
      const count = due.length > 0 ? agencies(due, to) : 0
      return months.some(month => isDue(forecastPublishedAt(month))) ? count + forecasts(to) : count
    },
  }
}

/** Both inclusive. */
function monthsBetween(first: string, last: string): string[] {
  const months: string[] = []
  for (let month = first; month <= last; month = monthAfter(month, 1)) months.push(month)
  return months
}

/** The daily closes of a code that the generated market has published by `now`. */
function worldCloses(world: World, code: string, now: number): Close[] {
  const from = now - closesFromDays * dayMs
  const depth = { from, hourlyFrom: now + dayMs, rawFrom: now + dayMs }
  return dailyCloses(world.observations(code, from, now, depth))
}

/** Writes the publications of some months; returns how many were new. */
function agencyOutlooks({ seed, world, outlooks, seriesOf }: OutlookDataDeps) {
  const views = new Map<string, Path>()
  const viewOn = (name: string, day: string): number => {
    const path = views.getOrInsertComputed(name, () =>
      createPath(seed, `outlook/${name}`, viewHalfLifeDays, false),
    )
    const out = new Float64Array(1)
    path.addTo(out, parseDay(day)! / dayMs, 1, true)
    return out[0]!
  }

  const outlookOf = (
    source: string,
    code: string,
    publishedOn: string,
    closes: readonly Close[],
  ): Outlook[] => {
    const series = seriesOf(code)
    const before = closes.slice(0, firstAt(closes, publishedOn))
    const recent = before.slice(firstAt(before, dayAfter(publishedOn, -monthDays)))
    const recentOrLast = recent.length > 0 ? recent : before.slice(-1)
    if (!series || recentOrLast.length === 0) return []
    const present = recentOrLast.reduce((sum, close) => sum + close.value, 0) / recentOrLast.length
    const view = viewOn(`${source}/${code}`, publishedOn)
    return Array.from({ length: horizonMonths + 1 }, (_, ahead) => {
      const period = parsePeriod(monthAfter(monthOf(publishedOn), ahead))!
      const back = 1 - 2 ** (-ahead / returnMonths)
      const opinion = viewWeight * series.volatility * view * Math.sqrt((ahead + 0.5) / viewMonths)
      const value = roundTo(
        present * (series.level / present) ** back * Math.exp(opinion),
        series.decimals,
      )
      return {
        source,
        seriesId: series.id,
        period: period.text,
        value,
        publishedOn,
        targetOn: period.lastOn,
        fixture: true,
      }
    })
  }

  return (months: readonly string[], now: number): number => {
    const known = new Set(sources.flatMap(([source]) => outlooks.publications(source).map(monthOf)))
    const missing = months.filter(month => !known.has(month))
    if (missing.length === 0) return 0
    const codes = new Set(sources.flatMap(([, codesOfSource]) => codesOfSource))
    const closes = new Map([...codes].map(code => [code, worldCloses(world, code, now)]))
    for (const month of missing) {
      const publishedAt = outlookPublishedAt(month)
      const publishedOn = isoDay(publishedAt)
      outlooks.write(
        sources.flatMap(([source, codesOfSource]) =>
          codesOfSource.flatMap(code => outlookOf(source, code, publishedOn, closes.get(code)!)),
        ),
        publishedAt,
      )
    }
    return missing.length
  }
}

/** Makes the forecasts of this service that are due; returns how many publications. */
const ownForecasts =
  ({ world, monthly, seriesOf }: OutlookDataDeps) =>
  (now: number): number =>
    forecastCodes.reduce((count, code) => {
      const series = seriesOf(code)
      if (!series) return count
      const closes = worldCloses(world, code, now)
      return count + monthly.publish(series, now, closes, { further: namedMonths, inTime: true })
    }, 0)
