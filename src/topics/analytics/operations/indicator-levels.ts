import { t } from '../../../http/answer/schema.ts'
import { listOf } from '../../../http/input/query.ts'
import { codeOf, oneCode } from '../../../http/input/typed.ts'
import { markFixtures, type Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, Problem } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { weekName, yearOfWeeksDays } from '../../calendars/math/weeks.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import { sourcesRow } from '../../fundamentals/operations/storage-row.ts'
import type { StorageLevel } from '../../fundamentals/service/storage.ts'
import { daysOfCover, useOfStorage } from '../../prices/math/cover.ts'
import { roundTo } from '../../prices/math/format.ts'
import { priceContext } from '../math/context.ts'
import { seasonOf } from '../math/season.ts'
import { calculated, indicator, instantField } from './indicator-shape.ts'
import { notes, refusals, requireEnough } from './shape.ts'
import { tidy } from './spread-row.ts'

const defaultPrice = 'BRENT_CRUDE_USD'
const defaultStorage = 'CUSHING_STORAGE'

const price = t.Number({ examples: [74.25] })

const PriceContextShape = t.object('PriceContext', {
  commodity: t.string('Code of the series used.', defaultPrice),
  price: t.number('The newest close.', 74.25),
  percentile: t.number('100 x count(close <= price) / n.', 61.2, { minimum: 0, maximum: 100 }),
  high_52w: price,
  low_52w: price,
  average_52w: price,
  currency: t.orNull(t.String({ examples: ['USD'] })),
  unit: t.String({ examples: ['barrel'] }),
  data_points: t.integer('Closes in the 364 days.', 257),
  timestamp: t.instant('When the price was observed.'),
})

const StorageAnalytics = t.object('StorageAnalytics', {
  code: t.String({ examples: [defaultStorage] }),
  level: t.number('The newest level, in `unit`.', 24.604),
  capacity_percent: t.numberOrNull(
    '100 x level / working capacity on its day, or the level itself if published in percent; null if no capacity is known.',
    31.38,
  ),
  days_of_cover: t.numberOrNull(
    `Level divided by daily use; for ${Object.keys(useOfStorage).join(', ')}, otherwise null.`,
    26.5,
  ),
  zscore: t.number('(level - seasonal_average) / seasonal_std_dev.', -1.21),
  seasonal_average: t.Number({ examples: [27.9] }),
  seasonal_std_dev: t.Number({ examples: [2.72] }),
  seasonal_years: t.integer('Number of earlier years in the average.', 5, {
    minimum: 2,
    maximum: 5,
  }),
  week: t.string('ISO 8601 week of the level.', '2026-W47'),
  unit: t.String({ examples: ['million_barrels'] }),
  timestamp: instantField,
})

const noData = (code: string, missing: string) =>
  new Problem('DATA_NOT_AVAILABLE', `${code} has no ${missing}.`, { leg: code, reason: 'no_price' })

/** The one series that a parameter names, its default when it is absent. */
function matchOf(
  { codes }: Context,
  text: string | undefined,
  fallback: string,
  request: Request,
): Resolved {
  const requestedCodes = listOf(text)
  return codes.read(requestedCodes.length === 0 ? [fallback] : requestedCodes, request, 1)[0]!
}

function contextAnswer(deps: Context, text: string | undefined, request: Request, reply: Reply) {
  const match = matchOf(deps, text, defaultPrice, request)
  const { series, code } = match
  const quote = deps.latestPrices.quote(series)
  if (!quote) throw noData(code, 'price')
  const context = requireEnough(
    deps.closes.derived('price context', [series.id], ([closes]) => priceContext(closes!)),
    `${code}, 52 weeks`,
  )
  const rounded = (value: number) => roundTo(value, series.decimals)
  const timestamp = isoInstant(quote.observation.observedAt)
  markFixtures(reply, deps.marks, [match])
  return {
    data: {
      commodity: code,
      price: rounded(context.price),
      percentile: context.percentile,
      high_52w: rounded(context.high),
      low_52w: rounded(context.low),
      average_52w: tidy(context.average),
      currency: series.currency,
      unit: series.unit,
      data_points: context.dataPoints,
      timestamp,
    },
    meta: { as_of: timestamp, ...sourcesRow([series]) },
  }
}

function coverOf(
  { catalogue, closes, now }: Context,
  level: StorageLevel,
): { matches: Resolved[]; days: number | undefined } {
  const code = useOfStorage[level.series.code]
  const match = code === undefined ? undefined : catalogue.resolve(code, now())
  const days = match && daysOfCover(level.value, level.on, closes.of(match.series.id))
  return { matches: match && days !== undefined ? [match] : [], days }
}

function capacityPercent({ value, series, utilizationPercent }: StorageLevel): number | null {
  if (series.unit === 'percent') return value
  return utilizationPercent === undefined ? null : tidy(utilizationPercent)
}

function storageAnswer(deps: Context, text: string | undefined, request: Request, reply: Reply) {
  const match = matchOf(deps, text, defaultStorage, request)
  const { series, code } = match
  if (series.category !== 'storage') {
    throw invalidParameter('code', text, 'a storage code of GET /v1/commodities?category=storage')
  }
  const [level, quote] = [deps.storage.of(series), deps.latestPrices.quote(series)]
  if (!level || !quote) throw noData(code, 'level')
  const season = deps.closes.derived('season', [series.id], ([closes]) => seasonOf(closes!))
  if (!season.enough) {
    const { have, need } = season
    throw new Problem(
      'DATA_NOT_AVAILABLE',
      `${code} has levels in this week of ${have} earlier years, ${need} are needed.`,
      { have, need },
    )
  }
  const { average, stdDev, zScore, years, week } = season.value
  if (zScore === undefined) {
    throw new Problem(
      'DATA_NOT_AVAILABLE',
      `${code} had the same level in this week of ${years} years: there is no z-score of it.`,
    )
  }
  const cover = coverOf(deps, level)
  const all = [match, ...cover.matches]
  const timestamp = isoInstant(quote.observation.observedAt)
  markFixtures(reply, deps.marks, all)
  return {
    data: {
      code,
      level: level.value,
      capacity_percent: capacityPercent(level),
      days_of_cover: cover.days === undefined ? null : tidy(cover.days),
      zscore: zScore,
      seasonal_average: tidy(average),
      seasonal_std_dev: tidy(stdDev),
      seasonal_years: years,
      week: weekName(week),
      unit: series.unit,
      timestamp,
    },
    meta: { as_of: timestamp, ...sourcesRow(all.map(match => match.series)) },
  }
}

const uses = Object.entries(useOfStorage)
  .map(([level, use]) => `\`${level}\` by \`${use}\``)
  .join(', ')

/** Compares a price with its last 52 weeks, and a stock with its season. */
export const levelIndicatorOperations = [
  operation('GET /v1/indicators/price-context', {
    operationId: 'getPriceContext',
    summary: 'Get a price in its 52-week context',
    description: `Returns the position of the newest daily close among those of the ${yearOfWeeksDays} calendar days that end with it. ${notes.closes}\`percentile\` = 100 x count(close <= price) / n; \`high_52w\` and \`low_52w\` are the highest and lowest close, so they may lie inside the range of single observations that \`/v1/prices/metrics\` returns; \`average_52w\` is the arithmetic mean, not rounded. Under 5 closes: 404 \`DATA_NOT_AVAILABLE\` with \`have\` and \`need\`.`,
    tags: ['Analytics'],
    access: { ...calculated, heavy: true },
    view: 'as_of',
    query: {
      ...oneCode(
        'by_code',
        `One code or alias, in any letter case; default: ${defaultPrice}.`,
        defaultPrice,
        { default: defaultPrice },
      ),
    },
    answers: { 200: indicator(PriceContextShape, 'PriceContextIndicator'), ...refusals },
    handle: ({ at: known, query, request, reply }) =>
      contextAnswer(known, codeOf(query), request, reply),
  }),
  operation('GET /v1/indicators/storage-analytics', {
    operationId: 'getStorageAnalytics',
    summary: 'Compare a stock level with its season',
    description: `Returns the newest stock level compared with the same ISO 8601 week of up to five earlier years.

Each year contributes the arithmetic mean of its daily closes in that week (one for a weekly survey). Week 53 is compared with the last week of years without one. ${notes.closes}Under two earlier years: 404 \`DATA_NOT_AVAILABLE\` with \`have\` and \`need\`.

| Field | Value |
|---|---|
| \`seasonal_average\` | arithmetic mean of the years |
| \`seasonal_std_dev\` | sample standard deviation (n - 1) of the years |
| \`zscore\` | (level - seasonal_average) / seasonal_std_dev |
| \`days_of_cover\` | level / mean use a day over the 28 days that end with the day of the level, as EIA computes days of supply |

Use: ${uses}.`,
    tags: ['Analytics'],
    access: { ...calculated, heavy: true },
    view: 'as_of',
    query: {
      ...oneCode(
        'code',
        `A code of category \`storage\`, or an alias of one; default: ${defaultStorage}.`,
        defaultStorage,
        { default: defaultStorage },
      ),
    },
    answers: { 200: indicator(StorageAnalytics, 'StorageAnalyticsIndicator'), ...refusals },
    handle: ({ at: known, query, request, reply }) =>
      storageAnswer(known, codeOf(query), request, reply),
  }),
]
