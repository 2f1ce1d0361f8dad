import { jsonType } from '../../../http/answer/complete.ts'
import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { instantOf } from '../../../http/input/query.ts'
import {
  instantParameter,
  integerParameter,
  momentParameter,
  wordParameter,
} from '../../../http/input/typed.ts'
import { envelopeOf, markFixtures } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { vintageHeaders } from '../../../http/operations/point-in-time.ts'
import { CodeProblem } from '../../../http/problem/shape.ts'
import { dayMs, isoDay, isoInstant, isoOrNull, secondMs } from '../../../lib/time/instant.ts'
import { isIntraday } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { type BarInterval, longIntervals } from '../math/bars.ts'
import { storedInterval, validIntervals } from '../math/interval.ts'
import type { HistoryRow } from '../service/reads/history.ts'
import { isFullOf, precisionQuery, rounder } from './precision.ts'
import { priceFields } from './row.ts'
import { intervalOf, type Range, requestedRange } from './window-query.ts'
import { zoneQuery } from './zone-query.ts'

type ChartInterval = 'raw' | BarInterval

/** More than any screen has columns, and what a browser still draws smoothly. */
const pointsMax = 100_000
const defaultDays = 365

const values = (description: string) =>
  t.Array(t.Number({ examples: [71.23] }), { description: `${description} In \`unit\`.` })

export const ChartAnswer = envelopeOf({
  ...priceFields('code', 'name'),
  category: t.String({ examples: ['crude_oil'] }),
  ...priceFields('currency', 'unit'),
  cadence: t.String({ examples: ['daily'] }),
  decimals: t.integer({ examples: [2] }),
  interval: t.oneOf(['raw', 'hour', 'day', ...longIntervals], 'The interval of the points.'),
  timezone: t.Optional(t.string('Time zone of the bars; absent: UTC.', 'Europe/Berlin')),
  from: t.String({ format: 'date-time' }),
  to: t.String({ format: 'date-time' }),
  as_of: t.orNull(t.String({ format: 'date-time' })),
  truncated: t.boolean(
    `There are more than ${pointsMax.toLocaleString('en')} points; the newest are returned.`,
  ),
  times: t.Array(t.integer({ examples: [1_763_078_400] }), {
    description:
      'Unix seconds, ascending: the start of a bar, or when a raw price was observed. One for each element of the lists below.',
  }),
  close: values('The price, or the last price of the bar.'),
  open: t.Optional(values('The first price of each bar; absent with raw prices.')),
  high: t.Optional(values('The highest price of each bar; absent with raw prices.')),
  low: t.Optional(values('The lowest price of each bar; absent with raw prices.')),
  volume: t.Optional(
    t.Array(t.orNull(t.integer({ examples: [310_263] })), {
      description:
        'Contracts traded in each bar, null if unknown; for futures contracts in bars of a day or longer.',
    }),
  ),
  held_days: t.Array(t.String({ format: 'date' }), {
    description: 'Days in the range with a value held for review.',
  }),
  quarantined_days: t.Array(t.String({ format: 'date' }), {
    description: 'Quarantined days in the range.',
  }),
})
export type ChartAnswer = (typeof ChartAnswer)['static']['data']

const intervalFor = (series: Series, { from, to }: Range): ChartInterval => {
  const days = (to - from) / dayMs
  if (!isIntraday(series.cadence)) return days > 12 * 366 ? 'week' : 'raw'
  if (days <= 2) return 'raw'
  if (days <= 45) return 'hour'
  return days <= 12 * 366 ? 'day' : 'week'
}

/** The lists of an answer, rounded as the series is or with every digit. */
function listsOf(series: Series, points: readonly HistoryRow[], isFull: boolean) {
  const shown = rounder(isFull)
  const round = (value: number) => shown(value, series.decimals)
  const bars = points.flatMap(({ bar }) => bar ?? [])
  const isBars = bars.length > 0
  return {
    times: points.map(({ observedAt, bar }) =>
      Math.floor((bar?.startsAt ?? observedAt) / secondMs),
    ),
    close: points.map(({ value }) => round(value)),
    ...(isBars && {
      open: bars.map(bar => round(bar.open)),
      high: bars.map(bar => round(bar.high)),
      low: bars.map(bar => round(bar.low)),
    }),
  }
}

/** The traded volume of each bar: the sum of its days. */
function volumesOf(
  points: readonly HistoryRow[],
  futures: Pick<Context['futures'], 'volumes'>,
  seriesId: number,
): (number | null)[] {
  const starts = points.map(({ bar }) => isoDay(bar!.startsAt))
  const volumes: (number | null)[] = starts.map(() => null)
  let place = 0
  for (const [day, volume] of futures.volumes(seriesId, starts[0]!, afterAll)) {
    while (place + 1 < starts.length && starts[place + 1]! <= day) place += 1
    volumes[place] = (volumes[place] ?? 0) + volume
  }
  return volumes
}

/** After every day there is. */
const afterAll = '9999-12-31'

/** One series over time, as lists that a chart draws without turning them. */
export function chartOperations(deps: Context) {
  const { quarantine, codes, now } = deps
  return [
    operation('GET /v1/prices/chart', {
      operationId: 'getPriceChart',
      summary: 'Get a price series for a chart',
      description: `Returns one series over a range as parallel arrays, oldest first: times, closes and, with bars, opens, highs and lows. At most ${pointsMax.toLocaleString('en')} points, not paged. With \`as_of\`, the values known at that time.`,
      access: { meter: true, queryWorker: true as const },
      query: {
        code: t.string('A code or alias.', 'WTI_USD'),
        start_date: momentParameter('First day (from 00:00 UTC) or time, inclusive.', '2026-01-01'),
        end_date: momentParameter(
          'Last day (to 24:00 UTC) or time, inclusive; absent: now.',
          '2026-11-15',
        ),
        days: integerParameter(
          `Length of the range in days up to now, 1 to 365, default: ${defaultDays}; ignored when dates are given.`,
          90,
          { default: defaultDays, minimum: 1, maximum: 365 },
        ),
        interval: wordParameter(
          validIntervals,
          'raw, hour, day, week or month, in any of the accepted spellings. Default: depends on the range and the cadence of the series.',
          'day',
        ),
        ...precisionQuery,
        ...zoneQuery,
        as_of: instantParameter(
          'Returns the series as known at this time; bars are rebuilt from the values known then.',
          '2026-11-01T12:00:00Z',
        ),
      },
      answers: { 200: serialised(ChartAnswer), 400: CodeProblem },
      handle: ({ query, request, reply }) => {
        const [commodity] = codes.read([query.code], request, 1)
        const { series, code } = commodity!
        const asOf = instantOf('as_of', query.as_of)
        // A window reaches back from the requested moment.
        const at = Math.min(now(), asOf ?? now())
        const { range, days, cut } = requestedRange(query, [series], defaultDays, at)
        const requested = intervalOf(query.interval)
        const interval: ChartInterval =
          requested === undefined ? intervalFor(series, range) : storedInterval(requested)
        const history = asOf === undefined ? deps.history : deps.pricesAt({ asOf }).history
        const { rows: newestFirst } = history.page({
          seriesIds: [series.id],
          interval,
          from: range.from,
          to: range.to,
          // One more than the most, so that a cut is known of.
          limit: pointsMax + 1,
          offset: 0,
          cutOf: cut?.cutOf,
        })
        const points = newestFirst.slice(0, pointsMax).reverse()
        const isTraded =
          series.contractOf !== null &&
          asOf === undefined &&
          points[0]?.bar !== undefined &&
          interval !== 'hour'
        markFixtures(reply, deps.marks, [commodity!])
        if (asOf !== undefined)
          Object.assign(reply.headers, vintageHeaders(asOf, deps.coverage.since(series.id, asOf)))
        reply.headers['content-type'] = jsonType
        const data = {
          code,
          name: series.name,
          category: series.category,
          currency: series.currency,
          unit: series.unit,
          cadence: series.cadence,
          decimals: series.decimals,
          interval,
          ...(days && { timezone: days.name }),
          from: isoInstant(range.from),
          to: isoInstant(range.to - 1),
          as_of: isoOrNull(asOf),
          truncated: newestFirst.length > pointsMax,
          ...listsOf(series, points, isFullOf(query.precision)),
          ...(isTraded && { volume: volumesOf(points, deps.futures, series.id) }),
          held_days: deps.flaggedValues.waitingDays(series.id, range.from, range.to).map(isoDay),
          quarantined_days: quarantine.within(series.id, range.from, range.to).days,
        }
        return JSON.stringify({ status: 'success', data })
      },
    }),
  ]
}
