import { momentOf, periodMoment } from '../../../http/input/query.ts'
import { momentParameter, textParameter } from '../../../http/input/typed.ts'
import { invalidParameter, Problem, refusedParameter } from '../../../http/problem/problem.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { longestPeriodYears, periodStart, yearsBefore } from '../math/period.ts'

const defaultPeriod = '1y'

export const historyQuery = {
  period: textParameter(
    '`90d`, `26w`, `6m`, `5y` and the like, or `week`, `month`, `quarter`, `year`: calendar periods up to today, at most 15 years. Default `1y`.',
    '5y',
    { default: defaultPeriod },
  ),
  'by_period[from]': momentParameter(
    'First day, `YYYY-MM-DD` or Unix seconds, inclusive.',
    '2026-01-01',
  ),
  'by_period[to]': momentParameter('Last day, inclusive.', '2026-11-20'),
  start_date: momentParameter('The same as `by_period[from]`.', '2026-01-01'),
  end_date: momentParameter('The same as `by_period[to]`.', '2026-11-20'),
}

type Query = { [name in keyof typeof historyQuery]?: string }

/** First and last day of the query, both inclusive. Throws a Problem for an invalid range. */
export function requestedRange(query: Query, now: number): { fromOn: string; toOn: string } {
  const [fromName, fromText] = parameterOf(query, 'by_period[from]', 'start_date')
  const [toName, toText] = parameterOf(query, 'by_period[to]', 'end_date')
  const from = momentOf(fromName, periodMoment(fromName, fromText), 'start')
  const to = momentOf(toName, periodMoment(toName, toText), 'end')
  const toOn = to === undefined ? isoDay(now) : isoDay(to - 1)
  const token = query.period || defaultPeriod
  const fromOn = from === undefined ? periodStart(token, toOn) : isoDay(from)
  if (fromOn === undefined) {
    throw invalidParameter(
      'period',
      token,
      'a period such as 90d, 26w, 6m, 5y, week, month, quarter or year',
    )
  }
  if (fromOn > toOn) {
    throw new Problem(
      'INVALID_DATE_RANGE',
      `${fromName} (${fromOn}) is after ${toName} (${toOn}).`,
      { start_date: fromOn, end_date: toOn },
    )
  }
  if (fromOn < yearsBefore(toOn, longestPeriodYears)) {
    const [name, value] = from === undefined ? ['period', token] : [fromName, fromText]
    throw refusedParameter(
      name,
      value,
      `The range from ${fromOn} to ${toOn} is longer than ${longestPeriodYears} years.`,
    )
  }
  return { fromOn, toOn }
}

/** The first of two names that the query has a value under. */
const parameterOf = (
  query: Query,
  name: keyof Query,
  alias: keyof Query,
): [string, string | undefined] =>
  query[name] || !query[alias] ? [name, query[name]] : [alias, query[alias]]
