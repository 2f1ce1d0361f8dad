import { t } from '../../../http/answer/schema.ts'
import { dayOf } from '../../../http/input/query.ts'
import { dayParameter, textParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { invalidParameter } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { zoneName } from '../../../lib/time/zone.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import {
  calendarDays,
  type DayTerms,
  dayAt,
  dayOfDate,
  type MarketDay,
  periodsBetween,
} from '../math/days.ts'
import { type PricedPeriod, priced } from '../math/figures.ts'
import type { DeliveryTerms } from '../math/terms.ts'
import { type DeliverySeries, isDelivery } from '../service/market-days.ts'

/** The errors of requests about a code of delivery periods. */
export const refusals = { 400: CodeProblem, 404: NestedProblem }

export const codeParams = {
  code: t.string(
    'Code or alias of a series of delivery periods, or of a series by formula over one.',
    'POWER_DA_DE_LU_EUR',
  ),
}

export const zoneQuery = textParameter(
  'Whose days are used: `market` (default) for those of the market, `UTC` or an IANA time zone for days from its 00:00.',
  'market',
)

export const dateQuery = dayParameter(
  'Day of delivery in `zone`. Default: the day that contains now.',
  '2026-11-14',
)

/** The series of a code and the days of a request. */
export interface DeliveryCall {
  commodity: Resolved
  series: DeliverySeries
  terms: DeliveryTerms
  /** The boundaries of the days in the response, with the name of their zone. */
  days: DayTerms
}

/** The series that a request names, which must have delivery periods. */
export function deliveryCall(
  at: Pick<Context, 'codes'>,
  code: string,
  zone: string | undefined,
  request: Request,
): DeliveryCall {
  const [commodity] = at.codes.read([code], request, 1)
  const { series } = commodity!
  if (!isDelivery(series))
    throw invalidParameter(
      'code',
      code,
      'the code of a series of delivery periods, or of a formula over one',
    )
  return {
    commodity: commodity!,
    series,
    terms: series.delivery,
    days: daysOf(zone, series.delivery),
  }
}

function daysOf(zone: string | undefined, terms: DeliveryTerms): DayTerms {
  if (zone === undefined || zone === '' || zone === 'market') return terms
  const name = zoneName(zone)
  if (name === undefined)
    throw invalidParameter('zone', zone, 'market, UTC or an IANA time zone, such as Europe/Berlin')
  return calendarDays(name)
}

/** The requested day; by default that of a moment. */
export const requestedDay = (days: DayTerms, date: string | undefined, now: number): MarketDay =>
  date === undefined || date === ''
    ? dayAt(days, now)
    : dayOfDate(days, isoDay(dayOf('date', date)))

/** The periods of a series that begin within `[from, to)`, each with its price. */
export function pricedPeriods(
  { periodValues }: Pick<Context, 'periodValues'>,
  { series, terms }: DeliveryCall,
  from: number,
  to: number,
): { periods: PricedPeriod[]; recordedAt: number | undefined } {
  const values = periodValues(series.id, from, to)
  return {
    periods: priced(periodsBetween(terms, from, to), values),
    recordedAt:
      values.length === 0 ? undefined : Math.max(...values.map(({ recordedAt }) => recordedAt)),
  }
}
