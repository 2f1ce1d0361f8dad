import { t } from '../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { momentOf } from '../../../http/input/query.ts'
import { momentParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { reversedRange } from '../../../http/problem/problem.ts'
import { oneOf as listed } from '../../../lib/text/wrong-value.ts'
import { dayMs, isoDay, parseDay, startOfDay } from '../../../lib/time/instant.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import { bucketStart, longIntervals } from '../../prices/math/bars.ts'
import { parseInterval } from '../../prices/math/interval.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { intervalParameter, invalidInterval } from '../../prices/operations/window-query.ts'
import type { SpreadIdentity } from '../../units/math/identities.ts'
import { codesOf, coverage, type SpreadDay, spreadHistory } from '../math/spread.ts'
import type { MissingLeg } from './spread-row.ts'
import { tidy, unitField, valueField } from './spread-row.ts'

const daysDefault = 90
const intervals = ['day', ...longIntervals] as const
type Bucket = (typeof intervals)[number]

export const historyQuery = {
  start_date: momentParameter(
    `First day, inclusive; absent: ${daysDefault} days up to \`end_date\`.`,
    '2026-09-01',
  ),
  end_date: momentParameter('Last day, inclusive; absent: today.', '2026-11-20'),
  interval: intervalParameter(
    '`day` (default), or the last value of each `week` (from Monday) or `month`, UTC.',
  ),
}

const dayOrNull = t.orNull(t.String({ format: 'date', examples: ['2026-09-01'] }))

export const SpreadHistory = t.object('SpreadHistory', {
  status: t.Literal('success'),
  data: t.objects('One value for each date with a close of every leg, newest first.', {
    date: t.String({ format: 'date', examples: ['2026-11-20'] }),
    value: valueField,
    unit: unitField,
    legs: t.Record(t.String(), t.Number(), {
      examples: [{ WTI_USD: 71.23, BRENT_CRUDE_USD: 75.1 }],
    }),
  }),
  id: t.String({ examples: ['wti_brent'] }),
  type: t.String({ examples: ['basis'] }),
  name: t.String({ examples: ['WTI - Brent'] }),
  formula: t.String({ examples: ['WTI_USD - BRENT_CRUDE_USD'] }),
  interval: t.oneOf(intervals),
  coverage: t.object('SpreadCoverage', {
    from: dayOrNull,
    to: dayOrNull,
    observations: t.integer('Dates in the requested range that have a value.', 62),
    complete: t.boolean('Whether every weekday of the requested range has a value.'),
  }),
  data_revised_at: t.instantOrNull(
    'When the newest correction of a leg inside the requested range was recorded; null without corrections.',
  ),
  meta: PageMetaShape,
})

export type HistoryRange = ReturnType<typeof historyRange>

export function historyRange(query: { start_date?: string; end_date?: string }, now: number) {
  const start = momentOf('start_date', query.start_date, 'start')
  const end = momentOf('end_date', query.end_date, 'end')
  const to = isoDay((end ?? now + 1) - 1)
  /** First and last day, both inclusive. */
  const from = start === undefined ? dayAfter(to, 1 - daysDefault) : isoDay(startOfDay(start))
  if (from > to) throw reversedRange(query, to)
  return { from, to }
}

export function bucketOf(text: string | undefined): Bucket {
  if (text === undefined || text === '') return 'day'
  const interval = parseInterval(text)
  const bucket = intervals.find(candidate => candidate === interval)
  if (bucket === undefined) throw invalidInterval(text, listed(intervals), intervals)
  return bucket
}

/** The past of a spread over a range of days. */
export interface Past {
  /** Newest first. */
  days: SpreadDay[]
  coverage: ReturnType<typeof coverage>
  /** When the newest correction inside the range was recorded, Unix ms. */
  revisedAt: number | undefined
  matches: Resolved[]
}

/** The values of a spread on the days of a range, or the leg that has no closes at all. */
export function pastOf(
  identity: SpreadIdentity,
  range: HistoryRange,
  bucket: Bucket,
  deps: Context,
  now: number,
): Past | MissingLeg {
  const matchesByCode = new Map<string, Resolved>()
  for (const code of codesOf(identity)) {
    const match = deps.catalogue.resolve(code, now)
    if (!match || deps.closes.of(match.series.id).length === 0)
      return { leg: code, reason: 'no_price' }
    matchesByCode.set(code, match)
  }
  const { from, to } = range
  const inside = (code: string) =>
    deps.closes.of(matchesByCode.get(code)!.series.id).filter(({ day }) => day >= from && day <= to)
  const days = spreadHistory(identity, inside)
  const [fromAt, toAt] = [parseDay(from)!, parseDay(to)! + dayMs]
  const revised = [...matchesByCode.values()].flatMap(
    match => deps.closes.revisedAt(match.series.id, fromAt, toAt) ?? [],
  )
  return {
    days: lastOf(days, bucket).toReversed(),
    coverage: coverage(
      days.map(spreadDay => spreadDay.day),
      from,
      to,
    ),
    revisedAt: revised.length > 0 ? Math.max(...revised) : undefined,
    matches: [...matchesByCode.values()],
  }
}

/** The last value of each bucket of days given oldest first. */
function lastOf(days: SpreadDay[], bucket: Bucket): SpreadDay[] {
  if (bucket === 'day') return days
  const start = (spreadDay: SpreadDay | undefined) =>
    spreadDay && bucketStart(bucket, parseDay(spreadDay.day)!)
  return days.filter((spreadDay, i) => start(spreadDay) !== start(days[i + 1]))
}

export const historyRow = (spreadDay: SpreadDay, unit: string) => ({
  date: spreadDay.day,
  value: tidy(spreadDay.value),
  unit,
  legs: spreadDay.prices,
})
