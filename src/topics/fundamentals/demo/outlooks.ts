import type { Filler } from '../../../demo/filler.ts'
import { type Clock, createSystemClock } from '../../../lib/time/clock.ts'
import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import { monthAfter, monthOf, parsePeriod } from '../../calendars/math/period.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { createPath, type Path } from '../../prices/demo/path.ts'
import type { World } from '../../prices/demo/world.ts'
import { dailyCloses } from '../../prices/demo/world-closes.ts'
import { roundTo } from '../../prices/math/format.ts'
import { type Close, dayAfter } from '../../prices/math/window.ts'
import { firstAt } from '../math/forecast-accuracy.ts'
import { forecastCodes, forecastPublishedAt, lastPublication } from '../math/monthly-forecast.ts'
import { outlookPublishedAt } from '../math/outlook.ts'
import type { Outlook, OutlookStore } from '../store/outlooks.ts'

/** Who publishes forecasts of what. */
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
 * Months that documentation names: an evaluation copy forecasts them however early its clock
 * stands.
 */
const namedMonths = ['2026-10', '2026-11', '2026-12']

/**
 * Who makes this service's own forecasts: those of a series that were due by `now`, from its
 * closes; answers how many publications.
 */
export interface ForecastMaker {
  publish(
    series: Series,
    now: number,
    closes: readonly Close[],
    options: { further: readonly string[]; inTime: boolean },
  ): number
}

interface OutlookFillerDeps {
  seed: number
  world: World
  outlooks: OutlookStore
  monthly: ForecastMaker
  seriesOf(code: string): Series | undefined
  /** Publications of the agencies that there are, one a month. */
  publicationsKept?: number | undefined
  clock: Pick<Clock, 'now'>
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Pick<Clock, 'monotonic'>
}

/**
 * The forecasts of an evaluation copy: outlooks as two agencies would have published them, and this
 * service's own of each month.
 */
export function createOutlookFiller(deps: OutlookFillerDeps): Filler {
  const { clock, stopwatch = createSystemClock() } = deps
  const duties = [agencyOutlooks(deps), ownForecasts(deps)]
  return {
    step(budgetMs) {
      const until = stopwatch.monotonic() + budgetMs
      const now = clock.now()
      while (duties.some(duty => duty(now))) if (stopwatch.monotonic() >= until) return true
      return false
    },
    advance(now) {
      while (duties.some(duty => duty(now)));
    },
  }
}

/** One transaction of what is due by `now`; false when there is nothing. */
type Duty = (now: number) => boolean

/** The daily closes of a code that the fixture world has published by `now`. */
function worldCloses(world: World, code: string, now: number): Close[] {
  const from = now - closesFromDays * dayMs
  const depth = { from, hourlyFrom: now + dayMs, rawFrom: now + dayMs }
  return dailyCloses(world.observations(code, from, now, depth))
}

function agencyOutlooks({
  seed,
  world,
  outlooks,
  seriesOf,
  publicationsKept = fullPublications,
}: OutlookFillerDeps): Duty {
  const views = new Map<string, Path>()
  const viewOn = (name: string, day: string): number => {
    const path = views.get(name) ?? createPath(seed, `outlook/${name}`, viewHalfLifeDays, false)
    views.set(name, path)
    const out = new Float64Array(1)
    path.addTo(out, parseDay(day)! / dayMs, 1, true)
    return out[0]!
  }
  let nextAt = Number.NEGATIVE_INFINITY
  let waiting: string[] = []
  let closes = new Map<string, Close[]>()

  const outlookOf = (source: string, code: string, publishedOn: string): Outlook[] => {
    const series = seriesOf(code)
    const codeCloses = closes.get(code) ?? []
    const before = codeCloses.slice(0, firstAt(codeCloses, publishedOn))
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

  return now => {
    if (now < nextAt) return false
    if (waiting.length === 0) {
      const month = monthOf(isoDay(now))
      const publishedMonths = new Set(
        sources.flatMap(([source]) => outlooks.publications(source).map(monthOf)),
      )
      const months = Array.from({ length: publicationsKept }, (_, n) =>
        monthAfter(month, n + 1 - publicationsKept),
      )
      waiting = months.filter(
        candidate => !publishedMonths.has(candidate) && outlookPublishedAt(candidate) <= now,
      )
      closes = new Map(
        waiting.length === 0
          ? []
          : [...new Set(sources.flatMap(([, codes]) => codes))].map(code => [
              code,
              worldCloses(world, code, now),
            ]),
      )
    }
    const month = waiting.shift()
    if (month === undefined) {
      nextAt = [0, 1]
        .map(n => outlookPublishedAt(monthAfter(monthOf(isoDay(now)), n)))
        .find(at => at > now)!
      return false
    }
    const publishedAt = outlookPublishedAt(month)
    const publishedOn = isoDay(publishedAt)
    outlooks.write(
      sources.flatMap(([source, codes]) =>
        codes.flatMap(code => outlookOf(source, code, publishedOn)),
      ),
      publishedAt,
    )
    return true
  }
}

function ownForecasts({ world, monthly, seriesOf }: OutlookFillerDeps): Duty {
  let nextAt = Number.NEGATIVE_INFINITY
  let waiting: string[] | undefined
  return now => {
    if (now < nextAt) return false
    waiting ??= [...forecastCodes]
    for (let code = waiting.shift(); code !== undefined; code = waiting.shift()) {
      const series = seriesOf(code)
      if (
        series &&
        monthly.publish(series, now, worldCloses(world, code, now), {
          further: namedMonths,
          inTime: true,
        }) > 0
      )
        return true
    }
    waiting = undefined
    nextAt = forecastPublishedAt(monthAfter(lastPublication(isoDay(now), now), 1))
    return false
  }
}
