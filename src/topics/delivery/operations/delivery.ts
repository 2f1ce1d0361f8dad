import { t } from '../../../http/answer/schema.ts'
import { dayOf } from '../../../http/input/query.ts'
import { dayParameter, wordParameter } from '../../../http/input/typed.ts'
import { envelope, markFixtures, success } from '../../../http/operations/answer.ts'
import { type Operation, operation } from '../../../http/operations/operation.ts'
import { asOfQuery } from '../../../http/operations/point-in-time.ts'
import {
  invalidParameter,
  missingParameter,
  Problem,
  refusedParameter,
} from '../../../http/problem/problem.ts'
import { dayMs, hourMs, isoDay, isoInstant, isoOrNull } from '../../../lib/time/instant.ts'
import { dayOfDate, daysBetween, type MarketDay } from '../math/days.ts'
import { coarserPeriods, dayFigures, type PricedPeriod } from '../math/figures.ts'
import { expectedAt } from '../math/freshness.ts'
import {
  isCoarser,
  isResolution,
  type Resolution,
  resolutionOn,
  resolutions,
  timeText,
} from '../math/terms.ts'
import { peakOf } from '../service/market-days.ts'
import {
  codeParams,
  type DeliveryCall,
  dateQuery,
  deliveryCall,
  pricedPeriods,
  refusals,
  requestedDay,
  zoneQuery,
} from './query.ts'
import {
  dayFields,
  extremeFields,
  figureFields,
  figureRow,
  knownRow,
  PeriodShape,
  periodRow,
  pricedRow,
  seriesFields,
  zoneField,
} from './shapes.ts'

/** Days of one request for averages. */
const daysMax = 400

const Day = envelope(
  t.object('DeliveryDay', {
    ...seriesFields,
    name: t.String({ examples: ['German power, day ahead'] }),
    ...dayFields,
    zone: zoneField,
    day_starts: t.string('Local time at which the day begins.', '00:00'),
    resolution: t.oneOf(resolutions, 'Length of the periods.'),
    ...figureFields,
    published_at: t.instantOrNull(
      'When the last of the prices was recorded; null unless complete.',
    ),
    ...extremeFields,
    periods: t.Array(PeriodShape, { description: 'Every period of the day, in order.' }),
    as_of: t.Optional(t.String({ format: 'date-time' })),
  }),
)
export type DeliveryDay = (typeof Day)['static']['data']

const Days = envelope(
  t.object('DeliveryDays', {
    ...seriesFields,
    zone: zoneField,
    days: t.objects('In order; days without a price are left out.', {
      ...dayFields,
      hours: t.number('Length of the day.', 24),
      ...figureFields,
      min: t.orNull(t.Number()),
      max: t.orNull(t.Number()),
    }),
  }),
)
export type DeliveryDays = (typeof Days)['static']['data']

/** There is no price of a day, or too few. */
export function nothingDelivered(
  { commodity, terms }: DeliveryCall,
  date: string,
  more: Record<string, unknown> = {},
): Problem {
  const at = expectedAt(terms, date)
  return new Problem(
    'DATA_NOT_AVAILABLE',
    `${commodity.code} has too few prices of ${date}; they are expected at ${isoInstant(at)}.`,
    { commodity_code: commodity.code, expected_at: isoOrNull(at), ...more },
  )
}

/** The resolution of a day, or a coarser one where the request names it. */
function resolutionOf({ terms }: DeliveryCall, date: string, text: string | undefined): Resolution {
  const finest = resolutionOn(terms, date)
  if (text === undefined || text === '') return finest
  const allowed = resolutions.filter(
    resolution => resolution === finest || isCoarser(resolution, finest),
  )
  if (!isResolution(text) || !allowed.includes(text))
    throw invalidParameter('resolution', text, allowed)
  return text
}

/** Prices of market days by their delivery periods. */
export const deliveryOperations: readonly Operation[] = [
  operation('GET /v1/delivery/:code', {
    operationId: 'getDeliveryDay',
    summary: 'Get a day of delivery',
    description:
      'Returns every delivery period of one day with its price, and the base, peak and off-peak means. Days on which the clocks change have more or fewer periods. With `as_of`, only prices recorded by then: before the auction publishes, the prices of tomorrow are not known.',
    access: { meter: true },
    view: 'as_of',
    params: codeParams,
    query: {
      as_of: asOfQuery,
      date: dateQuery,
      zone: zoneQuery,
      resolution: wordParameter(
        resolutions,
        'Longer periods than those of the series, as means weighted by time.',
        'PT1H',
      ),
    },
    answers: { 200: Day, ...refusals },
    handle: ({ at, params, query, request, reply, caller }) => {
      const call = deliveryCall(at, params.code, query.zone, request)
      const { commodity, series, days } = call
      const day = requestedDay(days, query.date, at.now())
      const resolution = resolutionOf(call, day.date, query.resolution)
      const { periods: own, recordedAt } = pricedPeriods(at, call, day.from, day.to)
      if (recordedAt === undefined) throw nothingDelivered(call, day.date)
      markFixtures(reply, at.marks, [commodity])
      at.meter.noteRequested(caller.key, [series.id])
      const periods =
        resolution === resolutionOn(call.terms, day.date)
          ? own
          : coarserPeriods(own, resolution, day.from)
      const figures = dayFigures(own, peakOf(series), periods)
      return success({
        code: commodity.code,
        name: series.name,
        currency: series.currency,
        unit: series.unit,
        date: day.date,
        zone: days.zone,
        day_starts: timeText(days.dayStarts),
        resolution,
        ...boundsRow(day),
        ...figureRow(figures, periods.length),
        published_at: figures.complete ? isoInstant(recordedAt) : null,
        min: figures.min && knownRow(figures.min),
        max: figures.max && knownRow(figures.max),
        periods: periods.map(pricedRow),
        ...(query.as_of && { as_of: isoInstant(at.now()) }),
      })
    },
  }),
  operation('GET /v1/delivery/:code/days', {
    operationId: 'listDeliveryDays',
    summary: 'List averages of days of delivery',
    description: `Returns the base, peak and off-peak means of each day of a range, at most ${daysMax} days.`,
    access: { meter: true, queryWorker: true as const },
    view: 'as_of',
    params: codeParams,
    query: {
      start: dayParameter('First day, in `zone`.', '2026-11-01', { required: true }),
      end: dayParameter('Last day, in `zone`.', '2026-11-14', { required: true }),
      zone: zoneQuery,
    },
    answers: { 200: Days, ...refusals },
    handle: ({ at, params, query, request, reply, caller }) => {
      const [first, last] = daysIn(query)
      const call = deliveryCall(at, params.code, query.zone, request)
      const { commodity, series, days } = call
      const range = { from: dayOfDate(days, first).from, to: dayOfDate(days, last).to }
      markFixtures(reply, at.marks, [commodity])
      at.meter.noteRequested(caller.key, [series.id])
      const isPeak = peakOf(series)
      const { periods } = pricedPeriods(at, call, range.from, range.to)
      const byDay = splitByDays(periods, daysBetween(days, range.from, range.to))
      return success({
        code: commodity.code,
        currency: series.currency,
        unit: series.unit,
        zone: days.zone,
        days: byDay.flatMap(({ day, own }) => {
          const figures = dayFigures(own, isPeak)
          if (figures.count === 0) return []
          return [
            {
              date: day.date,
              ...boundsRow(day),
              hours: (day.to - day.from) / hourMs,
              ...figureRow(figures, own.length),
              min: figures.min?.price ?? null,
              max: figures.max?.price ?? null,
            },
          ]
        }),
      })
    },
  }),
]

const boundsRow = ({ from, to }: MarketDay) => periodRow({ start: from, end: to })

/** The first and the last day of a range. */
function daysIn(query: { start?: string; end?: string }): [first: string, last: string] {
  if (!query.start || !query.end)
    throw missingParameter(query.start ? 'end' : 'start', 'a day, such as 2026-11-01.')
  const [first, last] = [dayOf('start', query.start), dayOf('end', query.end)]
  if (first > last) throw refusedParameter('start', query.start, 'start must be on or before end.')
  if ((last - first) / dayMs + 1 > daysMax)
    throw refusedParameter('end', query.end, `end must be at most ${daysMax} days after start.`)
  return [isoDay(first), isoDay(last)]
}

/** Periods and days are both in order. */
function splitByDays(periods: readonly PricedPeriod[], days: readonly MarketDay[]) {
  let i = 0
  return days.map(day => {
    const own: PricedPeriod[] = []
    for (; i < periods.length && periods[i]!.start < day.to; i += 1) own.push(periods[i]!)
    return { day, own }
  })
}
