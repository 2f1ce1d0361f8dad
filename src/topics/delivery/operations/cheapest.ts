import { t } from '../../../http/answer/schema.ts'
import { instantOf } from '../../../http/input/query.ts'
import {
  instantParameter,
  numberParameter,
  parsed,
  textParameter,
} from '../../../http/input/typed.ts'
import { envelope, markFixtures, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operation, operation } from '../../../http/operations/operation.ts'
import { invalidParameter, missingParameter } from '../../../http/problem/problem.ts'
import { dayMs, hourMs, isoInstant, minuteMs } from '../../../lib/time/instant.ts'
import { zonedInstant } from '../../../lib/time/zone-clock.ts'
import { legNames } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import { cheapestTime } from '../math/cheapest.ts'
import { type MarketDay, periodAt } from '../math/days.ts'
import { isKnown } from '../math/figures.ts'
import { horizonMax, lengthOf, resolutionOn } from '../math/terms.ts'
import { nothingDelivered } from './delivery.ts'
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
import { KnownPeriodShape, knownRow, seriesFields, zoneField } from './shapes.ts'

/** Periods that a list for a device has at most. */
const listMax = 400

const Cheapest = envelope(
  t.object('CheapestTime', {
    ...seriesFields,
    date: t.date('Day of delivery in `zone`.', '2026-11-14'),
    zone: zoneField,
    hours: t.number('Length of the time.', 3),
    contiguous: t.boolean('Whether the periods are contiguous.'),
    start: t.String({ format: 'date-time' }),
    end: t.String({ format: 'date-time' }),
    average: t.number('Mean price, weighted by time.', 61.2),
    periods: t.Array(KnownPeriodShape, { description: 'In order of time.' }),
  }),
)
export type CheapestTime = (typeof Cheapest)['static']['data']

const Rates = t.Array(
  t.Object({
    start: t.string('With the offset of the zone.', '2026-11-14T00:00:00+01:00'),
    end: t.String({ examples: ['2026-11-14T00:15:00+01:00'] }),
    value: t.Number({ examples: [0.08431] }),
  }),
  { title: 'PeriodRates' },
)

/** More than any price has: a division leaves no digits behind them that mean nothing. */
const rateDecimals = 9

/** Hours as a duration; a multiple of the day's periods, and at most the day. */
function lengthIn({ terms }: DeliveryCall, day: MarketDay, text: string): number {
  const resolution = resolutionOn(terms, day.date)
  const step = resolution === 'P1D' ? day.to - day.from : lengthOf(resolution)
  const exact = (Number(text) * hourMs) / step
  // Five minutes are 0.0833 hours, and more digits of that.
  const periods = Math.round(exact)
  const lengthMs = periods * step
  if (!(lengthMs > 0 && lengthMs <= day.to - day.from && Math.abs(exact - periods) < 0.01))
    throw invalidParameter(
      'hours',
      text,
      `a multiple of ${roundTo(step / hourMs, 4)}${step < hourMs ? ` (${step / minuteMs} minutes)` : ''} up to ${(day.to - day.from) / hourMs}`,
    )
  return lengthMs
}

function numberIn(parameter: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (!Number.isFinite(value)) throw invalidParameter(parameter, text, 'a number')
  return value
}

/** The series whose rates are listed: that of the code, or a formula over it. */
function ratesCall(
  at: Context,
  code: string,
  { zone, formula }: { zone?: string; formula?: string },
  request: Request,
): DeliveryCall {
  const call = deliveryCall(at, code, zone, request)
  if (!formula) return call
  const priced = deliveryCall(at, formula, zone, request)
  const legs = legNames(priced.series).map(name => at.catalogue.find(name)?.id)
  if (!legs.includes(call.series.id))
    throw invalidParameter('formula', formula, `the code of a series by formula over ${code}`)
  return priced
}

/** When power or gas is cheapest. */
export const cheapestOperations: readonly Operation[] = [
  operation('GET /v1/delivery/:code/cheapest', {
    operationId: 'getCheapestDelivery',
    summary: 'Get the cheapest time of a day',
    description:
      'Returns the cheapest hours of a day, contiguous or as single periods. Periods without a price are never included.',
    access: { meter: true },
    view: 'as_of',
    params: codeParams,
    query: {
      date: dateQuery,
      zone: zoneQuery,
      hours: numberParameter(
        'How many hours: a multiple of the length of a period, at most the day.',
        3,
        { required: true },
      ),
      contiguous: parsed.flag(
        '`false`: the cheapest single periods, which need not be contiguous. Default: true.',
      ),
      dearest: parsed.flag('`true`: the most expensive time instead. Default: false.'),
      from: instantParameter(
        'Only periods that begin at this time or later.',
        '2026-11-14T05:00:00Z',
      ),
      to: instantParameter(
        'Only periods that end at this time or earlier.',
        '2026-11-14T17:00:00Z',
      ),
    },
    answers: { 200: Cheapest, ...refusals },
    handle: ({ at, params, query, request, reply, caller }) => {
      if (!query.hours) throw missingParameter('hours', 'a number of hours, such as 3.')
      const call = deliveryCall(at, params.code, query.zone, request)
      const { commodity, series, days } = call
      const day = requestedDay(days, query.date, at.now())
      const lengthMs = lengthIn(call, day, query.hours)
      const contiguous = query.contiguous ?? true
      const dearest = query.dearest ?? false
      const from = instantOf('from', query.from) ?? day.from
      const to = instantOf('to', query.to) ?? day.to
      const periods = pricedPeriods(at, call, day.from, day.to).periods.filter(
        ({ start, end }) => start >= from && end <= to,
      )
      const found = cheapestTime(periods, { lengthMs, contiguous, dearest })
      if (!found) {
        const known = periods.filter(isKnown)
        const have = known.reduce((sum, { start, end }) => sum + end - start, 0) / hourMs
        throw nothingDelivered(call, day.date, { have, need: lengthMs / hourMs })
      }
      markFixtures(reply, at.marks, [commodity])
      at.meter.noteRequested(caller.key, [series.id])
      return success({
        code: commodity.code,
        currency: series.currency,
        unit: series.unit,
        date: day.date,
        zone: days.zone,
        hours: lengthMs / hourMs,
        contiguous,
        start: isoInstant(found.periods[0]!.start),
        end: isoInstant(found.periods.at(-1)!.end),
        average: found.average,
        periods: found.periods.map(knownRow),
      })
    },
  }),
  operation('GET /v1/delivery/:code/evcc', {
    operationId: 'listDeliveryRates',
    summary: 'List rates for a charger',
    description: `Returns the known periods from now on as a plain list of \`{start, end, value}\`, at most ${listMax}, in the format of chargers and home automation. Times have the offset of \`zone\`.`,
    access: { meter: true },
    view: 'as_of',
    params: codeParams,
    query: {
      from: instantParameter(
        'Start of the list. Default: the current delivery period.',
        '2026-11-20T12:00:00Z',
      ),
      zone: zoneQuery,
      per: parsed.word(
        ['kwh', 'mwh'],
        '`kwh` (default) divides prices per MWh by 1000; `mwh` leaves them.',
        'kwh',
      ),
      formula: textParameter(
        'Code of a series by formula over `code`: its values are returned instead, such as a retail tariff.',
        'DESK_TARIFF_EUR',
      ),
      factor: numberParameter('Multiplies each value, for example by 1.19 for taxes.', 1.19, {
        default: 1,
      }),
      add: numberParameter(
        'Added to each value after `factor`, for example grid fees, in the unit of `per`.',
        0.1543,
        { default: 0 },
      ),
    },
    answers: { 200: Rates, ...refusals },
    handle: ({ at, params, query, request, reply, caller }) => {
      const call = ratesCall(at, params.code, query, request)
      const { commodity, series, days, terms } = call
      const per = query.per ?? 'kwh'
      const start = instantOf('from', query.from) ?? periodAt(terms, at.now()).start
      // A list of quarter hours spans days; one of days, a year.
      const end =
        start + Math.min(horizonMax, listMax * lengthOf(resolutionOn(terms, '9999-12-31')) + dayMs)
      markFixtures(reply, at.marks, [commodity])
      at.meter.noteRequested(caller.key, [series.id])
      const scale = per === 'kwh' && series.unit === 'mwh' ? 1000 : 1
      const factor = numberIn('factor', query.factor, 1)
      const add = numberIn('add', query.add, 0)
      return pricedPeriods(at, call, start, end)
        .periods.filter(isKnown)
        .slice(0, listMax)
        .map(period => ({
          start: zonedInstant(period.start, days.zone),
          end: zonedInstant(period.end, days.zone),
          value: roundTo((period.price / scale) * factor + add, rateDecimals),
        }))
    },
  }),
]
